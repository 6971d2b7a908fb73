// Memory: the engine's sequences and everything we know about them, changed together. The scheduler
// decides; Memory does it to the engine and to the books (tokens, cells, anchors) in one step, so
// that the books cannot drift from what the engine holds.
//
// Used by the engine thread only. After an engine failure the sequence is repaired here: it ends at
// an anchor or empty, never in an unknown state.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "core/tokens.h"
#include "engine/engine.h"
#include "engine/segments.h"
#include "obs/collected.h"
#include "prefix/anchors.h"
#include "prefix/cells.h"
#include "prefix/planner.h"
#include "sched/evicted_prefixes.h"
#include "sched/resident_picture.h"
#include "store/identity.h"

namespace samovar {

// What is known of one sequence besides its cells and anchors.
struct Resident {
  Tokens tokens;             // exactly what was forwarded through the model
  bool running = false;      // a turn owns it
  Position history_end = 0;  // of the last prompt
  Micros last_used = 0;
  int turns = 0;  // turns it has served

  // For the store.
  SessionId session;
  std::vector<Position> ends;  // of segments, of the last prompt (prefix/segment_ends.h)
  Position canonical_end = 0;  // up to here computed as a cold run computes it, cut for cut
  std::uint64_t epoch = 0;     // counts up whenever tokens are taken away
  int continued = 0;           // follow-ups that extended the reply as it was sampled
  int departed = 0;            // follow-ups that went back before it

  // For re-warms. Two lines of one session, of which the next turn shows which one it goes on from:
  // the one that its reply left, and the guest, which a re-warm made beside it.
  SeqId twin = -1;
  Position shared = 0;          // first tokens whose cells the twin holds too
  bool guest = false;           // no turn has gone on in it yet
  bool spare = false;           // turns have gone on in its twin
  Position rewarmed_begin = 0;  // what a re-warm computed and no turn has reused yet
  Position rewarmed_end = 0;
};

class Memory {
 public:
  Memory(Engine& engine, const Clock& clock, std::size_t anchor_bytes_max);

  [[nodiscard]] const Resident& resident(SeqId sequence) const;
  [[nodiscard]] const CellLedger& cells() const { return cells_; }
  [[nodiscard]] const Anchors& anchors() const { return anchors_; }
  [[nodiscard]] int sequences() const { return static_cast<int>(residents_.size()); }
  [[nodiscard]] int sequences_used() const;  // that hold tokens
  [[nodiscard]] std::vector<ResidentView> view() const;

  // For people; copies every token that is held.
  [[nodiscard]] ResidentPicture picture() const;

  // --- a turn's hold on a sequence ---
  void start_turn(SeqId sequence, Position history_end, std::vector<Position> segment_ends);
  void end_turn(SeqId sequence);

  // Called with an idle, sound sequence that is about to lose tokens worth keeping.
  void before_leaving(std::function<void(SeqId)> save) { save_ = std::move(save); }

  void set_session(SeqId sequence, const SessionId& session) { at(sequence).session = session; }

  // Carries out a plan: evictions, then rewind or fork. On failure the target is empty. The target
  // of a restore is left empty.
  EngineStatus apply(const Plan& plan);

  // The same for a re-warm. It is no turn: nothing counts as used.
  EngineStatus apply_rewarm(const Plan& plan, std::vector<Position> segment_ends);

  // What the plan reuses of tokens that a re-warm computed and no turn has reused before.
  [[nodiscard]] Position rewarmed_in(const Plan& plan) const;

  // A turn resumes at `position`: divergence anchors that have not been of use for long go back to
  // being ordinary ones.
  void note_resume(SeqId sequence, Position position) { anchors_.note_resume(sequence, position); }

  // --- compute; the books follow only if the engine succeeded ---
  // `canonical`: the call ends at a canonical cut.
  EngineStatus prefill(SeqId sequence, TokenSpan tokens, bool want_output, bool canonical);
  EngineStatus prefill_rewarm(SeqId sequence, TokenSpan tokens);
  EngineStatus decode(std::span<const DecodeStep> steps);

  // Takes a snapshot of the sequence's end as an anchor; thins if the budget is exceeded. A failure
  // costs the anchor, nothing else.
  void take_anchor(SeqId sequence, AnchorKind kind);

  // --- restore: segments from token 0, then the snapshot. After a failure, or without a snapshot
  // that the model needs, the sequence must be discarded. ---
  Status import(SegmentPort& port, SeqId sequence, TokenSpan tokens, Bytes segment, bool canonical);
  Status finish_import(SegmentPort& port, SeqId sequence, AnchorKind kind, Buffer snapshot);
  void discard(SeqId sequence);  // running or not, nothing saved

  // After `failed`: back to the best resume point at or before `limit`, or empty.
  void repair(SeqId sequence, Position limit);

  // An idle sequence leaves; nothing is saved.
  void evict(SeqId sequence, EvictionCause cause);

  // Drops everything, running or not.
  void clear();

  // Evicts the least valuable idle sequence, because turns that run need cells. False if there is
  // none.
  bool evict_one();

  // How much of the prompt's beginning was resident at some time and had to make room.
  [[nodiscard]] Position evicted(TokenSpan prompt) const { return evicted_.reach(prompt); }

  [[nodiscard]] std::int64_t evictions() const;  // of all causes
  [[nodiscard]] const EvictionCounts& evictions_by_cause() const { return evictions_; }
  [[nodiscard]] std::int64_t anchors_dropped() const { return anchors_dropped_; }

 private:
  [[nodiscard]] Resident& at(SeqId sequence) {
    return residents_[static_cast<std::size_t>(sequence)];
  }
  // Likelihood that the sequence is asked for again, relative to one used just now.
  [[nodiscard]] double weight(SeqId sequence) const;
  [[nodiscard]] double value(SeqId sequence) const;
  void save(SeqId sequence);
  void let_go(SeqId sequence, EvictionCause cause);
  void evict_all(const Plan& plan, EvictionCause cause);
  void choose_line(const Plan& plan);
  void link(SeqId line, SeqId guest, Position shared);
  void unlink(SeqId sequence);
  void thin();
  void forget(SeqId sequence);  // the books of a sequence that the engine dropped
  void cut_books(SeqId sequence, Position position);
  EngineStatus rewind(SeqId sequence, Position position, const SnapshotPtr& snapshot);
  EngineStatus fork(SeqId source, SeqId target, Position position, const SnapshotPtr& snapshot);

  Engine& engine_;
  const Clock& clock_;
  std::function<void(SeqId)> save_;
  std::vector<Resident> residents_;
  CellLedger cells_;
  Anchors anchors_;
  EvictedPrefixes evicted_;
  EvictionCounts evictions_ = {};
  std::int64_t anchors_dropped_ = 0;
};

}  // namespace samovar
