// WriteBehind: decides what of the sequences goes to the store, and when. Engine thread only; one
// call of step() moves at most one piece (a segment's bytes, or a snapshot by reference) to the
// store's queue, so that nobody waits for it.
//
// When
// - A session that has gone quiet is written: its tips (the end of its history, the end of its
//   reply), the end of system and tools, and the place before a region that is known to change.
//   Quiet is `quiet` after its last turn; for a session that keeps coming back, as a tool loop
//   does, twice its usual pause, at most `window`: a snapshot that the next call outgrows at once
//   is not worth its bytes.
// - A session that has cost `window` of engine time since is written up to where it is: under a
//   long message or in a long reply an anchor is taken for it.
// - K/V is written as soon as two segments' worth is there: every checkpoint above needs it, and it
//   is written once.
// - What leaves memory is written first, with sparse older anchors, as far as buffers allow.
// - At shutdown everything is, the most valuable session first, tips before older anchors.
//
// What: `tokens_min` tokens at least; segments that the store lacks, cut at the ends that the
// prompt gives; a snapshot only where its anchor still lives, so one that was superseded is never
// written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "engine/segments.h"
#include "sched/memory.h"
#include "store/store.h"

namespace samovar {

struct WriteBehindOptions {
  Micros quiet = 2 * kSecond;
  Micros window = 30 * kSecond;
  Position segment_tokens = 1024;
  Position tokens_min = 128;
  Position older_spacing = 4096;  // tokens between older anchors that are written
};

class WriteBehind {
 public:
  WriteBehind(Engine& engine, SegmentPort& port, Store& store, Memory& memory, const Clock& clock,
              WriteBehindOptions options);

  // --- what happens to a sequence ---
  void restore_started(SeqId sequence);  // not to be touched before turn_started()
  void turn_started(SeqId sequence);
  void turn_ended(SeqId sequence);
  void computed(SeqId sequence, Micros took);  // engine time

  // A re-warm computes in `target` beside the line `from` of the same session: it is as quiet as
  // that one, and left alone until the re-warm stops.
  void rewarm_started(SeqId from, SeqId target);
  void rewarm_stopped(SeqId sequence) { line(sequence).restoring = false; }

  // Everything that is kept of the sequence when it goes quiet has been handed over, or it is too
  // short to be kept.
  [[nodiscard]] bool saved(SeqId sequence);

  // The measured cost of a token, for what a checkpoint saves. 0: unknown.
  void set_prefill_rate(double us_per_token) { us_per_token_ = us_per_token; }

  // --- work ---
  // True if something was done. `decoding`: replies run, so rest between pieces.
  bool step(bool decoding);

  // The sequence is about to leave memory: hands over what is missing, at once.
  void save_now(SeqId sequence);

  // Hands over everything that is missing, for `deadline` at most.
  void save_all(Micros deadline);

 private:
  // What is known of a sequence's way to the store.
  struct Line {
    std::uint64_t epoch = 0;   // of the resident it speaks of
    Position size = 0;         // tokens when it was settled
    std::uint64_t losses = 0;  // of the store then
    bool settled = false;
    bool restoring = false;
    Position segments_until = 0;
    Micros activity = 0;  // engine time since its last snapshot was handed over
    Micros idle_since = 0;
    Micros pause = 0;  // its usual one, before the next turn
  };
  struct Step {
    bool snapshot = false;
    Position begin = 0;
    Position end = 0;
  };
  struct Task {
    SeqId sequence = -1;
    std::uint64_t epoch = 0;
    std::vector<Step> steps;
    std::size_t next = 0;
    Identity node;  // of the last segment's end
    std::map<Position, Identity> nodes;
    Micros activity = 0;  // engine time that its checkpoint saves
    bool urgent = false;
    bool checkpoints = false;  // up to a checkpoint, not only segments
    bool settles = false;      // nothing more is wanted afterwards
    Position size = 0;         // of the sequence when it was made
    std::uint64_t losses = 0;  // of the store then
  };
  enum class Reach { segments, newest, tips, everything };
  enum class Outcome { done, blocked, failed };

  [[nodiscard]] Line& line(SeqId sequence);
  [[nodiscard]] bool settled(SeqId sequence);
  [[nodiscard]] Micros quiet_after(const Line& line) const;
  [[nodiscard]] std::optional<Reach> due(SeqId sequence);
  [[nodiscard]] Position last_full_end(SeqId sequence) const;
  void choose_task();
  Task make_task(SeqId sequence, Reach reach, bool urgent);
  [[nodiscard]] std::vector<Position> targets(SeqId sequence, Reach reach);
  void add_older(SeqId sequence, std::vector<Position>& targets) const;
  void plan_segments(Task& task, Position until) const;
  Outcome run(Task& task, const Step& step);
  Outcome hand_over_segment(Task& task, const Step& step);
  Outcome hand_over_snapshot(Task& task, const Step& step);
  void settle_activity(Task& task);
  void finish(Task task);
  [[nodiscard]] StoreOrigin origin(const Task& task, const Step& step) const;
  [[nodiscard]] std::vector<SeqId> by_value() const;

  Engine& engine_;
  SegmentPort& port_;
  Store& store_;
  Memory& memory_;
  const Clock& clock_;
  const WriteBehindOptions options_;
  const bool hybrid_;
  std::vector<Line> lines_;
  std::optional<Task> task_;
  Micros rest_until_ = 0;  // while replies run
  Micros retry_at_ = 0;    // after a failure
  double us_per_token_ = 0.0;
};

}  // namespace samovar
