#include "api/running_reply.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "api/errors.h"
#include "api/turn_headers.h"

namespace samovar {

RunningReply::RunningReply(std::shared_ptr<TurnStream> events,
                           std::shared_ptr<TurnRecorder> recorder, std::string said,
                           ReplyMachine machine, const Clock& clock, WaitTiming timing)
    : events_(std::move(events)),
      recorder_(std::move(recorder)),
      machine_(std::move(machine)),
      clock_(clock),
      timing_(timing),
      last_write_(clock.now()) {
  if (!said.empty()) early_.emplace_back(TurnText{.text = std::move(said), .tokens = {}});
}

RunningReply::~RunningReply() {
  if (!ended_) events_->cancel();
  if (recorder_ != nullptr) recorder_->reader_left();  // nothing to do if it is complete
}

Headers RunningReply::turn_headers() {
  Headers headers;
  if (recorder_ == nullptr) return headers;
  const auto started = await_plan();
  if (started) recorder_->started(*started);
  add_turn_headers(recorder_->report(), started, headers);
  return headers;
}

std::string RunningReply::open() {
  last_write_ = clock_.now();
  return machine_.open();
}

std::string RunningReply::step() {
  try {
    const Micros until_keepalive = last_write_ + timing_.keepalive - clock_.now();
    auto event = next(std::clamp<Micros>(until_keepalive, 0, timing_.poll));
    auto* failed = event && cancelled_ ? std::get_if<TurnFailed>(&*event) : nullptr;
    if (failed != nullptr) failed->error = {ErrorKind::cancelled, "the reply was cancelled"};
    std::string bytes = event ? machine_.on_event(*event) : std::string();
    // Also after events that gave nothing to send: progress, or text that a parser holds back.
    if (bytes.empty() && clock_.now() - last_write_ >= timing_.keepalive) {
      bytes = machine_.keepalive();
    }
    if (!bytes.empty()) last_write_ = clock_.now();
    return bytes;
  } catch (const std::exception& error) {
    return machine_.fail({ErrorKind::internal,
                          std::string("the reply could not be formatted: ") + error.what(), "",
                          "this is a bug; please report it"});
  }
}

void RunningReply::cancel() {
  if (machine_.done() || std::exchange(cancelled_, true)) return;
  if (recorder_ != nullptr) recorder_->cancelled();
  events_->cancel();
}

std::optional<TurnEvent> RunningReply::next(Micros timeout) {
  if (!early_.empty()) {
    TurnEvent event = std::move(early_.front());
    early_.pop_front();
    return event;
  }
  auto event = events_->next(timeout);
  if (event) note(*event);
  return event;
}

// What comes before the plan is kept for next(). nullopt: it is not known yet.
std::optional<TurnStarted> RunningReply::await_plan() {
  const Micros until = clock_.now() + timing_.headers;
  for (Micros left = timing_.headers;; left = until - clock_.now()) {
    auto event = events_->next(std::max<Micros>(0, left));
    if (!event) return std::nullopt;
    note(*event);
    early_.push_back(std::move(*event));
    if (const auto* started = std::get_if<TurnStarted>(&early_.back())) return *started;
    if (ended_ || left <= 0) return std::nullopt;
  }
}

void RunningReply::note(const TurnEvent& event) {
  ended_ = std::holds_alternative<TurnFinished>(event) || std::holds_alternative<TurnFailed>(event);
}

namespace {

void pump(RunningReply& reply, BodyWriter& writer) {
  const std::string first = reply.open();
  if (!first.empty() && !writer.write(first)) return;
  while (!reply.done()) {
    if (writer.client_gone()) return;
    const std::string bytes = reply.step();
    if (!bytes.empty() && !writer.write(bytes)) return;
  }
}

}  // namespace

HttpResponse stream_reply(std::shared_ptr<RunningReply> reply) {
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers = reply->turn_headers();
  response.headers.emplace_back("Cache-Control", "no-cache");
  response.headers.emplace_back("X-Accel-Buffering", "no");
  response.stream = [reply = std::move(reply)](BodyWriter& writer) { pump(*reply, writer); };
  return response;
}

HttpResponse collect_reply(RunningReply& reply, const HttpRequest& request) {
  while (!reply.done()) {
    if (request.client_gone && request.client_gone()) {
      return error_response({ErrorKind::cancelled, "the client is gone"});
    }
    // Of a whole reply there are no bytes until it is complete, only keepalives.
    (void)reply.step();
  }
  return reply.take_response();
}

}  // namespace samovar
