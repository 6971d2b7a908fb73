// Rewarming: what the scheduler computes while nobody asks (TurnKind::rewarm). Prefill only, one
// engine call per step(), of histories as the template will render them with the next message.
//
// Rules
// - It runs only while no turn waits, restores or computes, and write-behind has nothing to do.
// - pause() stops it between two calls: an anchor is taken where it is, so that everything computed
//   stays reusable. It goes on when the server is idle again, unless a turn of the same
//   conversation came: then it has been overtaken and ends.
// - It has no hold on a sequence: what it has computed is an idle line like others, and may be
//   evicted. It evicts nothing but what prefix/rewarm_plan.h lets go; without room it ends.
// - Of one conversation the newest counts; of several, the oldest runs first.
//
// Events: TurnStarted when it first runs, TurnProgress, then TurnFinished (all is in memory), or
// TurnFailed: `cancelled` (overtaken, replaced by a newer one, its sink gave up), `overloaded` (no
// room, or nothing to go on from), `unavailable` (shutting down) or `internal` (an engine error).
//
// Used by the engine thread only, except figures().
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/turn.h"
#include "engine/engine.h"
#include "sched/anchor_policy.h"
#include "sched/memory.h"
#include "sched/write_behind.h"

namespace samovar {

// Since the start. What re-warms cost is in no other figure.
struct RewarmFigures {
  std::uint64_t turns = 0;     // that began to compute
  std::uint64_t finished = 0;  // of them, those that got to their end
  std::uint64_t pauses = 0;    // stopped for a request
  std::uint64_t tokens = 0;    // computed
  Micros time = 0;             // engine calls and snapshots
};

class Rewarming {
 public:
  // `write_behind` may be null. Borrows everything.
  Rewarming(Engine& engine, const Clock& clock, Memory& memory, WriteBehind* write_behind,
            Position reply_reserve);

  void add(TurnRequest request, std::vector<Position> cuts, std::vector<Position> segment_ends,
           AnchorPolicy policy, std::shared_ptr<TurnSink> sink);

  // A turn has come: what belongs to its conversation is overtaken.
  void request_arrived(const TurnRequest& request);

  // Gives the engine free for turns.
  void pause();

  // At most one engine call. False: there is nothing to do.
  bool step();

  void cancel_all(const Error& error);

  [[nodiscard]] bool empty() const { return jobs_.empty(); }
  [[nodiscard]] RewarmFigures figures() const;  // any thread

 private:
  struct Job {
    TurnRequest request;
    std::vector<Position> cuts;
    std::vector<Position> ends;
    AnchorPolicy policy;
    std::shared_ptr<TurnSink> sink;
    Position until = 0;  // the last canonical cut: what is to be in memory
    bool running = false;
    bool announced = false;
    SeqId sequence = -1;
    TurnTimings timings;
  };

  bool begin(Job& job);
  void announce(Job& job, const Plan& plan);
  void compute(Job& job);
  void anchor(Job& job, Position end);
  [[nodiscard]] std::vector<ResidentView> view() const;
  void stop(Job& job);
  void finish_front();
  void fail_front(Error error);
  template <typename Predicate>
  void drop_if(const Predicate& overtaken, const char* why);

  Engine& engine_;
  const Clock& clock_;
  Memory& memory_;
  WriteBehind* const write_behind_;
  const Position reply_reserve_;
  std::list<Job> jobs_;  // in order of arrival; only the first may be running

  std::atomic<std::uint64_t> turns_ = 0;
  std::atomic<std::uint64_t> finished_ = 0;
  std::atomic<std::uint64_t> pauses_ = 0;
  std::atomic<std::uint64_t> tokens_ = 0;
  std::atomic<Micros> time_ = 0;
};

}  // namespace samovar
