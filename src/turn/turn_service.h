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
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "core/turn.h"

namespace samovar {

// Sees everything a turn reports, before its reader does and whether or not there still is one:
// what the ledger is made from. Called on the engine thread; must not block.
class TurnObserver {
 public:
  virtual ~TurnObserver() = default;
  virtual void on_event(const TurnEvent& event) = 0;
  virtual void on_token(Token token) = 0;
};

// The events of one turn, in order, between the engine thread (writer) and an HTTP thread (reader).
// Bounded without blocking the writer: consecutive progress events replace one another and
// consecutive text events are joined, so at most a handful of events wait however slow the reader
// is, and their bytes are bounded by the reply's own length.
class TurnStream final : public TurnSink {
 public:
  explicit TurnStream(std::shared_ptr<TurnObserver> observer = nullptr)
      : observer_(std::move(observer)) {}

  void on_event(TurnEvent event) override;
  void on_token(Token token) override;
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
  const std::shared_ptr<TurnObserver> observer_;  // may be null
};

// Where turns can be handed in: the engine thread of this process (turn/local_turn_service.h).
// Tests of api/ pass their own.
class TurnService {
 public:
  virtual ~TurnService() = default;

  // Never blocks. Errors: overloaded (queue full), too_large (the prompt can never fit; both
  // numbers are in the message), unavailable (shutting down), invalid_argument (grammar).
  // `observer` may be null; it sees nothing of a turn that is refused.
  virtual Result<std::shared_ptr<TurnStream>> submit(TurnRequest request,
                                                     std::shared_ptr<TurnObserver> observer) = 0;

  // Turns waiting and running, for Retry-After and /ready.
  [[nodiscard]] virtual int load() const = 0;
};

}  // namespace samovar
