// A request's way through here: handle() parses, renders and submits; from then on the turn runs on
// the engine thread and this thread only waits for its events. Waiting always has a bound, because
// the client must be looked at (Turn's destructor cancels when it is gone) and, streaming, must
// hear something: while a prompt of 100k tokens is computed there is nothing else to send.

#include "api/chat_completions.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "api/chat_reply.h"
#include "api/chat_stream.h"
#include "api/errors.h"
#include "api/reply_json.h"

namespace samovar {
namespace {

constexpr int kRetryAfterMaxSeconds = 60;

// A submitted turn, cancelled when its reader goes away before its end.
class Turn {
 public:
  explicit Turn(std::shared_ptr<TurnStream> events) : events_(std::move(events)) {}
  ~Turn() {
    if (!ended_) events_->cancel();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  std::optional<TurnEvent> next(Micros timeout) {
    auto event = events_->next(timeout);
    if (event)
      ended_ = std::holds_alternative<TurnFinished>(*event) ||
               std::holds_alternative<TurnFailed>(*event);
    return event;
  }

 private:
  std::shared_ptr<TurnStream> events_;
  bool ended_ = false;
};

// Moves events to the client until the reply is complete or the client is gone.
class StreamPump {
 public:
  StreamPump(std::shared_ptr<TurnStream> events, ChatStream format, const Clock& clock,
             WaitTiming timing)
      : turn_(std::move(events)), format_(std::move(format)), clock_(clock), timing_(timing) {}

  void run(BodyWriter& writer) {
    last_write_ = clock_.now();
    try {
      while (!format_.done() && step(writer)) {
      }
    } catch (const std::exception& error) {
      writer.write(format_.fail({ErrorKind::internal,
                                 std::string("the reply could not be formatted: ") + error.what(),
                                 "", "this is a bug; please report it"}));
    }
  }

 private:
  bool step(BodyWriter& writer) {
    if (writer.client_gone()) return false;
    const Micros until_keepalive = last_write_ + timing_.keepalive - clock_.now();
    const auto event = turn_.next(std::clamp<Micros>(until_keepalive, 0, timing_.poll));
    std::string bytes = event ? format_.on_event(*event) : std::string();
    // Also after events that gave nothing to send: progress, or text that a parser holds back.
    if (bytes.empty() && clock_.now() - last_write_ >= timing_.keepalive) bytes = kKeepalive;
    if (bytes.empty()) return true;
    last_write_ = clock_.now();
    return writer.write(bytes);
  }

  Turn turn_;
  ChatStream format_;
  const Clock& clock_;
  const WaitTiming timing_;
  Micros last_write_ = 0;
};

HttpResponse stream_response(std::shared_ptr<StreamPump> pump) {
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
  response.stream = [pump = std::move(pump)](BodyWriter& writer) { pump->run(writer); };
  return response;
}

HttpResponse collect(const HttpRequest& request, std::shared_ptr<TurnStream> events,
                     ChatReply reply, Micros poll) {
  Turn turn(std::move(events));
  for (;;) {
    if (request.client_gone && request.client_gone()) {
      return error_response({ErrorKind::cancelled, "the client is gone"});
    }
    auto event = turn.next(poll);
    if (event && reply.on_event(std::move(*event))) return reply.response();
  }
}

std::string session_key(const HttpRequest& request, const ChatCompletionRequest& parsed) {
  if (!parsed.session_key.empty()) return parsed.session_key;
  for (const std::string_view name : {"x-session-id", "session-id", "session_id"}) {
    const std::string* value = find_header(request.headers, name);
    if (value != nullptr && !value->empty()) return *value;
  }
  return parsed.user_hint;
}

TurnRequest turn_request(ChatCompletionRequest& parsed, RenderedChat& rendered) {
  TurnRequest turn;
  turn.prompt = std::move(rendered.prompt);
  turn.sampling = std::move(parsed.sampling);
  turn.sampling.grammar = std::move(rendered.grammar);
  turn.sampling.generation_prompt = std::move(rendered.generation_prompt);
  turn.stop = std::move(parsed.stop);
  turn.stop.insert(turn.stop.end(), rendered.stop.begin(), rendered.stop.end());
  turn.max_tokens = parsed.max_tokens;
  return turn;
}

}  // namespace

ChatCompletions::ChatCompletions(const ChatPath& chat, TurnService& turns, const Clock& clock,
                                 std::string model_id, ChatDefaults defaults, WaitTiming timing)
    : chat_(chat),
      turns_(turns),
      clock_(clock),
      model_id_(std::move(model_id)),
      defaults_(std::move(defaults)),
      timing_(timing) {}

HttpResponse ChatCompletions::handle(const HttpRequest& request) {
  const Micros began = clock_.now();
  auto parsed = parse_chat_request(request.body, defaults_);
  if (!parsed) return error_response(parsed.error());
  auto rendered = chat_.render(parsed->chat);
  if (!rendered) return error_response(rendered.error());

  const bool logprobs = parsed->sampling.top_logprobs.has_value();
  auto reader = chat_.reader(*rendered);
  TurnRequest turn = turn_request(*parsed, *rendered);
  turn.session_key = session_key(request, *parsed);
  turn.arrived = request.arrived != 0 ? request.arrived : began;
  turn.render_time = clock_.now() - began;

  auto events = turns_.submit(std::move(turn), nullptr);
  if (!events) {
    if (events.error().kind == ErrorKind::too_large) return context_length_response(events.error());
    return error_response(events.error(), std::clamp(turns_.load(), 1, kRetryAfterMaxSeconds));
  }
  ReplyIdentity identity{random_id("chatcmpl-"), clock_.wall_seconds(), model_id_};
  if (!parsed->stream) {
    return collect(request, std::move(*events),
                   ChatReply(std::move(identity), logprobs, chat_, std::move(reader)),
                   timing_.poll);
  }
  const ChatStreamOptions options{.include_usage = parsed->include_usage,
                                  .return_progress = parsed->return_progress,
                                  .logprobs = logprobs};
  return stream_response(std::make_shared<StreamPump>(
      std::move(*events), ChatStream(identity, options, chat_, std::move(reader), clock_), clock_,
      timing_));
}

}  // namespace samovar
