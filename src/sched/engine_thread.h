// EngineThread: the one thread that calls the engine, and the bounded queue in front of it.
//
// submit() may be called from any thread and never blocks. Everything else that turns need from the
// engine happens on the engine thread, in Scheduler. The caller owns the engine and the clock,
// which must outlive this.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/turn.h"
#include "engine/engine.h"
#include "sched/scheduler.h"

namespace samovar {

class EngineThread {
 public:
  // `queue_max`: turns that may wait beside those that run. `meter` is told of every turn's end.
  EngineThread(Engine& engine, const Clock& clock, SchedulerOptions options, int queue_max,
               Persistence persistence = {}, Meter& meter = no_meter());
  ~EngineThread();  // ends every turn and joins

  // Re-warms (TurnKind::rewarm) wait apart, bounded in number by rewarming.h, and are no load.
  // Errors: too_large (the prompt can never fit), overloaded (queue full), unavailable (draining),
  // invalid_argument (a grammar that does not parse).
  Status submit(TurnRequest request, std::shared_ptr<TurnSink> sink);

  // Turns waiting and running.
  [[nodiscard]] int load() const { return load_.load(); }

  // The queue and the memory, as of the last engine call. Turns that have ended are not in it.
  [[nodiscard]] SchedulerFigures figures() const;

  // What memory holds, tokens included. Made by the engine thread between two engine calls, for
  // all that ask meanwhile, and only if somebody asks; nullptr if it did not come to that within
  // `timeout`, or has stopped. Waits: not for the engine thread itself.
  [[nodiscard]] std::shared_ptr<const ResidentPicture> look(Micros timeout);

  // What re-warms did and cost since the start.
  [[nodiscard]] RewarmFigures rewarm_figures() const { return scheduler_.rewarm_figures(); }

  // Refuses new turns from now on; re-warms end at once.
  void close();

  // After close(): waits until all turns have ended, at most `deadline`. True if they have.
  bool drain(Micros deadline);

  // Ends all turns now, hands what is not stored yet to the store, and stops the thread.
  // Idempotent.
  void stop();

 private:
  struct Arrival {
    TurnRequest request;
    std::unique_ptr<Sampler> sampler;  // none for a re-warm
    std::shared_ptr<TurnSink> sink;
  };

  Status accept(TurnRequest request, std::shared_ptr<TurnSink> sink);
  Status submit_rewarm(TurnRequest request, std::shared_ptr<TurnSink> sink);
  [[nodiscard]] Status check(const TurnRequest& request) const;
  void run();
  void wake();
  bool work(std::vector<Arrival> arrivals);
  void show();
  std::vector<Arrival> take_arrivals(bool wait);

  // constant after construction
  Engine& engine_;
  const Clock& clock_;
  const int queue_max_;
  const int parallel_;
  const Micros save_deadline_;
  Store* const store_;
  Meter& meter_;

  // engine thread only
  Scheduler scheduler_;

  // own synchronisation
  std::atomic<int> load_ = 0;
  std::atomic<bool> closed_ = false;  // written under mutex_
  std::atomic<bool> look_ = false;    // somebody asks for a picture

  // guarded by mutex_
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Arrival> arrivals_;
  bool stopping_ = false;
  bool woken_ = false;  // a part of a restore has come
  std::condition_variable shown_;
  std::uint64_t looks_asked_ = 0;  // how many asked for a picture so far
  std::uint64_t looks_shown_ = 0;  // how many of them `picture_` is an answer to
  std::shared_ptr<const ResidentPicture> picture_;

  std::thread thread_;  // last: starts when everything else is there
};

}  // namespace samovar
