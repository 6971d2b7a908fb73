// TurnService: where the HTTP threads hand turns to the engine thread and get their events back.
// Owns nothing but the way between them; the scheduler behind it does the work.
//
// Threading: submit() and TurnStream may be used from any thread; a TurnStream has one reader.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "core/turn.h"

namespace samovar {

// The events of one turn, in order, between the engine thread (writer) and an HTTP thread (reader).
// Bounded without blocking the writer: consecutive progress events replace one another and
// consecutive text events are joined, so at most a handful of events wait however slow the reader
// is, and their bytes are bounded by the reply's own length.
class TurnStream final : public TurnSink {
 public:
  void on_event(TurnEvent event) override;
  [[nodiscard]] bool cancelled() const override;

  // The next event, or nullopt after `timeout` without one. Ends with TurnFinished or TurnFailed.
  std::optional<TurnEvent> next(Micros timeout);

  // The client is gone. The turn ends within one engine call; its work stays reusable.
  void cancel();

 private:
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<TurnEvent> events_;  // guarded by mutex_
  std::atomic<bool> cancelled_ = false;
};

// Where turns can be handed in: the engine thread of this process (turn/local_turn_service.h).
// Tests of api/ pass their own.
class TurnService {
 public:
  virtual ~TurnService() = default;

  // Never blocks. Errors: overloaded (queue full), too_large (the prompt can never fit; both
  // numbers are in the message), unavailable (shutting down), invalid_argument (grammar).
  virtual Result<std::shared_ptr<TurnStream>> submit(TurnRequest request) = 0;

  // Turns waiting and running, for Retry-After and /ready.
  [[nodiscard]] virtual int load() const = 0;
};

}  // namespace samovar
