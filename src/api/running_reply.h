// RunningReply: a turn that was submitted, and the machine that makes its reply of it. It waits,
// always with a bound, because the client must be looked at and, streaming, must hear something:
// while a prompt of 100k tokens is computed there is nothing else to send. Destroyed before its
// end, it cancels the turn. One thread.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "api/http_types.h"
#include "api/reply_machine.h"
#include "base/clock.h"
#include "base/limits.h"
#include "turn/turn_records.h"
#include "turn/turn_service.h"

namespace samovar {

// How often waiting looks around. Tests shorten them.
struct WaitTiming {
  Micros poll = 50 * kMillisecond;  // is the client still there?
  // Something to hear after this much silence; one poll early, so that the promise holds.
  Micros keepalive = limits::keepalive_us - 50 * kMillisecond;
  // How long a streamed response's headers wait for the plan, of which they tell.
  Micros headers = 200 * kMillisecond;
};

class RunningReply {
 public:
  // `recorder` may be null. `said`: what the reply begins with, of a cut one that goes on.
  RunningReply(std::shared_ptr<TurnStream> events, std::shared_ptr<TurnRecorder> recorder,
               std::string said, ReplyMachine machine, const Clock& clock, WaitTiming timing);
  ~RunningReply();
  RunningReply(const RunningReply&) = delete;
  RunningReply& operator=(const RunningReply&) = delete;

  // What the headers of a stream can say of the turn, which waits for the plan a little.
  [[nodiscard]] Headers turn_headers();

  // The bytes that a stream begins with.
  [[nodiscard]] std::string open();

  // Waits for one event, at most one poll, and returns the bytes to send: often none, a keepalive
  // after too much silence. A reply that cannot be formatted ends with an error.
  [[nodiscard]] std::string step();

  // Tells the turn to end because somebody asked for that; step() goes on to its last event, and
  // says that it was cancelled unless it was complete already. More calls change nothing.
  void cancel();

  [[nodiscard]] bool done() const { return machine_.done(); }
  [[nodiscard]] HttpResponse take_response() { return machine_.take_response(); }

 private:
  std::optional<TurnEvent> next(Micros timeout);
  std::optional<TurnStarted> await_plan();
  void note(const TurnEvent& event);

  std::shared_ptr<TurnStream> events_;
  std::shared_ptr<TurnRecorder> recorder_;  // may be null
  ReplyMachine machine_;
  const Clock& clock_;
  const WaitTiming timing_;
  std::deque<TurnEvent> early_;  // seen, and not given to the machine yet
  Micros last_write_ = 0;
  bool ended_ = false;  // the turn
  bool cancelled_ = false;
};

// A response that streams the reply.
[[nodiscard]] HttpResponse stream_reply(std::shared_ptr<RunningReply> reply);

// Waits for the whole reply. A client that goes away ends it.
[[nodiscard]] HttpResponse collect_reply(RunningReply& reply, const HttpRequest& request);

}  // namespace samovar
