// Scheduler: decides, one engine call at a time, which turn computes next. The heart of the engine
// thread, but without thread, queue or real time of its own: step() does at most one engine call,
// so that a simulation can drive it through any interleaving.
//
// Rules
// - Turns are admitted in order of arrival, at most `parallel` at once; a turn that must wait for
//   cells holds those behind it, so a large prompt is not starved by small ones.
// - The planner (prefix/planner.h) says what is reused and what must leave; Memory does it.
// - Prefill goes by canonical splits, one engine call each; all running replies decode together in
//   one call. The two are never mixed in one call. Who is next: compute_share.h.
// - Cancellation is seen between engine calls. What was computed stays in the sequence, idle.
// - When cells run out: idle sequences go, least valuable first; then the youngest prefill goes
//   back to the queue; then the youngest reply ends with `length`. A running sequence is never
//   evicted.
// - Where the store holds more of a prompt than memory does, and bringing it back is faster than
//   computing it, the turn restores first: parts come verified from IO threads, and the engine
//   takes in one at a time between other turns' calls. A part that is bad sends the turn back to be
//   planned again, without it. What is computed goes to the store by write_behind.h.
// - Where a prompt shares more with what is known than it can resume from, the place where the two
//   part becomes an anchor, so that the next turn can (what changes once tends to change again).
// - While no turn waits, restores or computes and nothing is left to write, re-warms run
//   (rewarming.h). Any turn stops them within one engine call.
// - After an engine error the sequences involved go back to an anchor and are computed again, once.
//
// Used by the engine thread only, except where a function says "any thread".
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/turn.h"
#include "engine/engine.h"
#include "sched/compute_share.h"
#include "sched/memory.h"
#include "sched/published_figures.h"
#include "sched/rewarming.h"
#include "sched/running_average.h"
#include "sched/turn_state.h"
#include "sched/write_behind.h"
#include "store/store.h"

namespace samovar {

struct SchedulerOptions {
  int parallel = 4;             // turns that run at the same time
  double decode_share = 0.6;    // of engine time, while prompts wait (compute_share.h)
  Position anchor_grid = 4096;  // tokens; 0: no anchors but those with a meaning
  Position cut_spacing = 96;    // tokens (prefix/splits.h); capped at the ubatch
  std::size_t anchor_bytes_max = std::size_t{1} << 30;
  Position reply_reserve = 256;  // cells a turn must find free for its reply to be admitted
  WriteBehindOptions write_behind;
  Micros save_deadline = 10 * kSecond;  // for handing sessions to the store at shutdown
};

// What the scheduler needs to keep sequences beyond memory. Both outlive it.
struct Persistence {
  Store* store = nullptr;  // null: no store
  SegmentPort* port = nullptr;
};

class Scheduler {
 public:
  Scheduler(Engine& engine, const Clock& clock, SchedulerOptions options,
            Persistence persistence = {});
  ~Scheduler();

  // The prompt must fit: request.prompt.size() + 1 <= engine.limits().cells.
  void add(TurnRequest request, std::unique_ptr<Sampler> sampler, std::shared_ptr<TurnSink> sink);

  // The same for TurnKind::rewarm, which needs no sampler and gives way to everything else
  // (rewarming.h).
  void add_rewarm(TurnRequest request, std::shared_ptr<TurnSink> sink);

  // Reaps cancelled turns, admits waiting ones, then does at most one engine call.
  // False if there is nothing to compute.
  bool step();

  // Ends re-warms, running or waiting.
  void cancel_rewarms(const Error& error) { rewarming_->cancel_all(error); }

  // Ends every turn with `error`. What was computed stays.
  void fail_all(const Error& error);

  // The same, and forgets everything resident: the way back from an exception.
  void reset(const Error& error);

  // Hands what is not stored yet to the store, for `deadline` at most. No turn may be left.
  void save_all(Micros deadline);

  [[nodiscard]] int waiting() const { return static_cast<int>(waiting_.size()); }
  [[nodiscard]] int running() const { return static_cast<int>(running_.size()); }
  [[nodiscard]] bool rewarms() const { return !rewarming_->empty(); }  // any is left
  [[nodiscard]] RewarmFigures rewarm_figures() const {
    return rewarming_->figures();
  }  // any thread
  // As of the last step's end, or of the engine call that runs now. Any thread.
  [[nodiscard]] SchedulerFigures figures() const { return published_.get(); }
  [[nodiscard]] const Memory& memory() const { return memory_; }

  // Whether the store has what is kept of the sequence (write_behind.h).
  [[nodiscard]] bool saved(SeqId sequence) const {
    return write_behind_ != nullptr && write_behind_->saved(sequence);
  }

 private:
  using Turn = std::unique_ptr<TurnState>;
  struct Layout {
    std::vector<Position> cuts;
    std::vector<Position> ends;
    AnchorPolicy policy;
  };

  // scheduler.cc: the queue
  [[nodiscard]] Layout layout(const Prompt& prompt) const;
  bool advance();  // step() without its figures
  void publish();
  void reap();
  void admit();
  bool try_start(TurnState& turn, bool passing);
  void announce(TurnState& turn, const Plan& plan);
  void learn(TurnState& turn, const Plan& plan);
  [[nodiscard]] Position reply_reserve(const TurnState& turn) const;
  [[nodiscard]] Position cells_reserved() const;
  void leave(TurnState& turn);  // gives its sequence back
  void requeue(TurnState& turn);
  void finish(TurnState& turn, FinishReason reason);
  void fail(TurnState& turn, Error error);

  // scheduler_restore.cc: from the store
  [[nodiscard]] std::optional<StoredChain> find_stored(const TurnState& turn) const;
  void note_evicted(TurnState& turn, const Plan& plan) const;
  [[nodiscard]] double predicted_restore(const StoredChain& chain) const;  // microseconds
  void begin_restore(TurnState& turn, const Plan& plan, StoredChain chain);
  [[nodiscard]] std::vector<TurnState*> restores_to_serve() const;
  void restore_step(TurnState& turn);
  bool take_part(TurnState& turn);
  void finish_restore(TurnState& turn);
  void restore_failed(TurnState& turn, const std::string& why);
  void plan_again(TurnState& turn);
  void note_restore(TurnState& turn);
  void choose_session(TurnState& turn, const Plan& plan, const SessionId& stored);

  // scheduler_compute.cc: the engine calls
  void prefill_step(TurnState& turn);
  void decode_step(std::vector<TurnState*> turns);
  void accept(TurnState& turn, Sampled sampled);
  void send_text(TurnState& turn, std::string text);
  void maybe_anchor(TurnState& turn);
  void recover(TurnState& turn);
  void record_prefill(TurnState& turn, Position begin, Position end, Micros took);
  bool make_room(Position cells, const TurnState* prefilling, std::vector<TurnState*>* decoding);
  void give_way(TurnState& turn);
  void out_of_cells(TurnState& turn);
  [[nodiscard]] std::vector<TurnState*> in_phase(Phase phase) const;
  [[nodiscard]] TurnState& choose_prefill(const std::vector<TurnState*>& turns);
  [[nodiscard]] Position held(const TurnState& turn) const;

  Engine& engine_;
  const Clock& clock_;
  SchedulerOptions options_;
  Persistence persistence_;
  Memory memory_;
  std::unique_ptr<WriteBehind> write_behind_;  // null: no store
  std::unique_ptr<Rewarming> rewarming_;
  ComputeShare share_;
  std::list<Turn> waiting_;  // in order of arrival
  std::list<Turn> running_;  // in order of admission
  TurnId next_id_ = 1;
  std::int64_t ended_ = 1;                    // turns that gave their sequence back, so far
  RunningAverage prefill_us_per_token_{0.2};  // for predictions
  RunningAverage restore_us_per_byte_{0.3};
  std::uint64_t sessions_ = 0;  // named so far
  PublishedFigures published_;
};

}  // namespace samovar
