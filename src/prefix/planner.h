// The planner: what a turn will reuse, where it will run, and what must leave for it. A pure
// function of the prompt and a view of what is resident; it changes nothing, and every plan can be
// printed.
//
// It looks for the resume point that saves the most tokens:
//   live    the prompt extends an idle sequence: nothing to restore
//   anchor  an idle sequence shares a prefix: rewind it in place to its best anchor at or before
//           the end of the shared part (plain transformers: to any position)
//   fork    the same, but what the sequence holds beyond is worth keeping, or it is running: an
//           empty sequence shares its prefix, without copying K/V
//   store   a checkpoint on disk reaches further than anything resident, and bringing it back is
//           faster than computing what it saves: an empty sequence
//   none    nothing worth reusing: an empty sequence
// At least one token is always left to compute.
//
// In place or fork? Rewinding loses the sequence's tail. If the prompt departs inside the last
// reply (a template that drops the reasoning, a regeneration), the tail is only that reply: in
// place. If it departs inside an older prompt (an edit, a branch), the tail took prefill to build:
// fork while a sequence is free or one worth less can go.
//
// What is worth least goes first: tokens it would cost to compute again x likelihood of use. A
// running sequence never goes, and nothing goes while there is room.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "core/prompt.h"
#include "core/turn.h"
#include "prefix/anchors.h"
#include "prefix/cells.h"

namespace samovar {

struct ResidentView {
  SeqId id = 0;
  TokenSpan tokens;  // what it holds; empty: the sequence is free
  bool running = false;
  Position history_end = 0;  // end of its last prompt's history (before the generation primer)
  double weight = 1.0;       // likelihood of use, relative
  Position shared = 0;       // its first tokens that a twin holds too (sched/memory.h)
  SeqId twin = -1;           // of which one holds what the other does, up to `shared`
  bool guest = false;        // made by a re-warm; no turn has gone on in it
  bool spare = false;        // turns have gone on in its twin instead
  bool saved = false;        // the store has what it keeps of it
};

struct PlanInput {
  const Prompt& prompt;
  const std::vector<Position>& cuts;  // canonical_cuts(prompt)
  RewindKind rewind = RewindKind::anywhere;
  const std::vector<ResidentView>& residents;  // one per sequence, by id
  const Anchors& anchors;
  const CellLedger& cells;
  Position cells_reserved = 0;        // promised to running turns but not used yet
  Position reply_reserve = 1;         // cells the reply should find free
  double prefill_us_per_token = 0.0;  // measured; 0: unknown
  Position stored = 0;     // tokens that the longest checkpoint on disk brings back; 0: none
  double stored_us = 0.0;  // what bringing it back is predicted to take
  bool may_reuse = true;   // false: compute everything, after restores that failed
};

struct Plan {
  ReuseSource source = ReuseSource::none;
  SeqId from = -1;    // whose memory is reused; -1 for none
  SeqId target = -1;  // where the turn runs; == from for live and anchor
  Position prompt_tokens = 0;
  Position matched = 0;    // longest prefix shared with anything resident
  Position resume_at = 0;  // tokens reused, or restored from the store
  bool canonical =
      true;              // resumes at a canonical cut or a live end: computes the same bits as cold
  SnapshotPtr snapshot;  // for rewind and fork where the model needs one
  std::vector<SeqId> evict;  // sequences that must go first, least valuable first
  double predicted_us = 0.0;

  [[nodiscard]] Position compute() const { return prompt_tokens - resume_at; }

  // Cells that the prompt takes beyond those it shares with `from`.
  [[nodiscard]] Position new_cells() const {
    return source == ReuseSource::store ? prompt_tokens : compute();
  }
  // One line: "anchor: 5,632 of 6,010 tokens from sequence 2 (shares 5,701), compute 378, ~0.2 s".
  [[nodiscard]] std::string describe() const;
};

// Why a turn must wait. It can run once a running turn has ended.
enum class PlanBlocked { no_sequence, no_cells };

std::expected<Plan, PlanBlocked> make_plan(const PlanInput& input);

}  // namespace samovar
