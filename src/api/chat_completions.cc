// A request's way through here: handle() parses, renders and submits; from then on the turn runs on
// the engine thread and this thread only waits for its events. Waiting always has a bound, because
// the client must be looked at (Turn's destructor cancels when it is gone) and, streaming, must
// hear something: while a prompt of 100k tokens is computed there is nothing else to send.

#include "api/chat_completions.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <utility>

#include "api/chat_reply.h"
#include "api/chat_stream.h"
#include "api/errors.h"
#include "api/reply_json.h"
#include "api/turn_headers.h"
#include "explain/tool_order.h"

namespace samovar {
namespace {

constexpr int kRetryAfterMaxSeconds = 60;

// A submitted turn, cancelled when its reader goes away before its end.
class Turn {
 public:
  // `said`: what the reply begins with, of a cut one that goes on.
  Turn(std::shared_ptr<TurnStream> events, std::shared_ptr<TurnRecorder> recorder, std::string said)
      : events_(std::move(events)), recorder_(std::move(recorder)) {
    if (!said.empty()) early_.emplace_back(TurnText{.text = std::move(said), .tokens = {}});
  }
  ~Turn() {
    if (!ended_) events_->cancel();
    if (recorder_ != nullptr) recorder_->reader_left();  // nothing to do if it is complete
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  std::optional<TurnEvent> next(Micros timeout) {
    if (!early_.empty()) {
      TurnEvent event = std::move(early_.front());
      early_.pop_front();
      return event;
    }
    auto event = events_->next(timeout);
    if (event) note(*event);
    return event;
  }

  // Waits for the plan, at most `timeout`; what comes before it is kept for next(). nullopt: it is
  // not known yet.
  std::optional<TurnStarted> await_plan(Micros timeout, const Clock& clock) {
    const Micros until = clock.now() + timeout;
    for (Micros left = timeout;; left = until - clock.now()) {
      auto event = events_->next(std::max<Micros>(0, left));
      if (!event) return std::nullopt;
      note(*event);
      early_.push_back(std::move(*event));
      if (const auto* started = std::get_if<TurnStarted>(&early_.back())) return *started;
      if (ended_ || left <= 0) return std::nullopt;
    }
  }

  [[nodiscard]] const std::shared_ptr<TurnRecorder>& recorder() const { return recorder_; }

 private:
  void note(const TurnEvent& event) {
    ended_ =
        std::holds_alternative<TurnFinished>(event) || std::holds_alternative<TurnFailed>(event);
  }

  std::shared_ptr<TurnStream> events_;
  std::shared_ptr<TurnRecorder> recorder_;  // may be null
  std::deque<TurnEvent> early_;
  bool ended_ = false;
};

// Moves events to the client until the reply is complete or the client is gone.
class StreamPump {
 public:
  StreamPump(std::shared_ptr<TurnStream> events, std::shared_ptr<TurnRecorder> recorder,
             std::string said, ChatStream format, const Clock& clock, WaitTiming timing)
      : turn_(std::move(events), std::move(recorder), std::move(said)),
        format_(std::move(format)),
        clock_(clock),
        timing_(timing) {}

  // What the response's headers can say of the turn, which waits for the plan a little.
  [[nodiscard]] Headers turn_headers() {
    Headers headers;
    const auto& recorder = turn_.recorder();
    if (recorder == nullptr) return headers;
    const auto started = turn_.await_plan(timing_.headers, clock_);
    if (started) recorder->started(*started);
    add_turn_headers(recorder->report(), started, headers);
    return headers;
  }

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
  response.headers = pump->turn_headers();
  response.headers.emplace_back("Cache-Control", "no-cache");
  response.headers.emplace_back("X-Accel-Buffering", "no");
  response.stream = [pump = std::move(pump)](BodyWriter& writer) { pump->run(writer); };
  return response;
}

HttpResponse collect(const HttpRequest& request, std::shared_ptr<TurnStream> events,
                     std::shared_ptr<TurnRecorder> recorder, std::string said, ChatReply reply,
                     Micros poll) {
  Turn turn(std::move(events), std::move(recorder), std::move(said));
  for (;;) {
    if (request.client_gone && request.client_gone()) {
      return error_response({ErrorKind::cancelled, "the client is gone"});
    }
    auto event = turn.next(poll);
    if (event && reply.on_event(std::move(*event))) return reply.response();
  }
}

// What the client calls the session; empty if it does not.
std::string session_key(const HttpRequest& request, const ChatCompletionRequest& parsed) {
  if (!parsed.session_key.empty()) return parsed.session_key;
  for (const std::string_view name : {"x-session-id", "session-id", "session_id"}) {
    const std::string* value = find_header(request.headers, name);
    if (value != nullptr && !value->empty()) return *value;
  }
  return {};
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

CutReply cut_reply(const TurnRecord& cut) {
  return {.prompt = cut.prompt,
          .primer = cut.primer,
          .reply = cut.reply,
          .syntax = cut.syntax,
          .context = cut.context};
}

std::optional<Error> cannot_continue(const std::string& id, const std::optional<TurnRecord>& turn) {
  if (!turn) {
    return Error{ErrorKind::not_found, fmt::format("there is no turn \"{}\"", id), "id",
                 "GET /v1/samovar/turns?status=incomplete lists replies that were cut"};
  }
  const auto refuse = [](std::string message, std::string remedy) {
    return Error{ErrorKind::invalid_argument, std::move(message), "id", std::move(remedy)};
  };
  if (turn->status == TurnStatus::running) {
    return refuse(fmt::format("the turn \"{}\" still runs", id), "wait for it, or cancel it first");
  }
  if (turn->status == TurnStatus::complete) {
    return refuse(fmt::format("the reply of \"{}\" is complete", id),
                  "send the conversation with that reply and the next message");
  }
  if (turn->bound) {
    return refuse(fmt::format("the reply of \"{}\" was bound to a format", id),
                  "send the request again");
  }
  if (turn->prompt.empty()) {
    return refuse(fmt::format("the tokens of \"{}\" are not kept any more", id),
                  "send the request again; --ledger-token-days says how long they are kept");
  }
  return std::nullopt;
}

// Names of rules, once each.
std::string names_of(const std::vector<AppliedRule>& rules) {
  std::string names;
  for (const AppliedRule& rule : rules) names += (names.empty() ? "" : ",") + rule.name;
  return names;
}

}  // namespace

ChatCompletions::ChatCompletions(const ChatPath& chat, TurnService& turns, TurnRecords* records,
                                 const Clock& clock, std::string model_id, ChatDefaults defaults,
                                 WaitTiming timing)
    : chat_(chat),
      turns_(turns),
      records_(records),
      clock_(clock),
      model_id_(std::move(model_id)),
      defaults_(std::move(defaults)),
      timing_(timing) {}

HttpResponse ChatCompletions::handle(const HttpRequest& request) {
  const Micros began = clock_.now();
  auto parsed = parse_chat_request(request.body, defaults_, &messages_);
  if (!parsed) return error_response(parsed.error());
  TurnOrigin origin{.id = random_id("chatcmpl-"), .dialect = "chat.completions"};
  origin.neutralised = names_of(neutralise(parsed->chat, defaults_.neutralise));
  if (defaults_.sort_tools && sort_tools(parsed->chat)) origin.tool_order = "sorted";
  auto rendered = chat_.render(parsed->chat);
  if (!rendered) return error_response(rendered.error());
  origin.session_key = session_key(request, *parsed);
  origin.keep_text = parsed->store;
  if (records_ != nullptr && records_->keeps_text(parsed->store)) origin.body = request.body;
  return run(request, std::move(origin), *parsed, *rendered, began);
}

HttpResponse ChatCompletions::continue_turn(const HttpRequest& request, const std::string& id) {
  const Micros began = clock_.now();
  auto parsed = parse_continue_request(request.body, defaults_);
  if (!parsed) return error_response(parsed.error());
  if (records_ == nullptr) return error_response(*cannot_continue(id, std::nullopt));
  const auto found = records_->ledger().find(id);
  if (!found) return error_response(found.error());
  if (const auto why = cannot_continue(id, *found)) return error_response(*why);
  const TurnRecord& cut = **found;
  auto rendered = chat_.resume(cut_reply(cut));
  if (!rendered) return error_response(rendered.error());
  TurnOrigin origin{.id = random_id("chatcmpl-"), .dialect = cut.dialect};
  origin.session_key = cut.session;
  origin.keep_text = parsed->store || cut.keep_text;
  origin.body = cut.request;
  origin.continues = id;
  origin.reply_so_far = cut.reply;
  return run(request, std::move(origin), *parsed, *rendered, began);
}

HttpResponse ChatCompletions::run(const HttpRequest& request, TurnOrigin origin,
                                  ChatCompletionRequest& parsed, RenderedChat& rendered,
                                  Micros began) {
  ReplyIdentity identity{origin.id, clock_.wall_seconds(), model_id_};
  const bool logprobs = parsed.sampling.top_logprobs.has_value();
  auto reader = chat_.reader(rendered);
  std::shared_ptr<TurnRecorder> recorder;
  const std::string session = origin.session_key;
  if (records_ != nullptr) {
    if (origin.continues.empty()) {
      origin.chat = std::make_shared<const ChatRequest>(std::move(parsed.chat));
    }
    recorder = records_->begin(std::move(origin), rendered);
  }
  TurnRequest turn = turn_request(parsed, rendered);
  turn.session_key = session.empty() ? parsed.user_hint : session;
  turn.arrived = request.arrived != 0 ? request.arrived : began;
  turn.render_time = clock_.now() - began;

  auto events = turns_.submit(std::move(turn), recorder);
  if (!events) {
    if (recorder != nullptr) recorder->refused(events.error());
    if (events.error().kind == ErrorKind::too_large) return context_length_response(events.error());
    return error_response(events.error(), std::clamp(turns_.load(), 1, kRetryAfterMaxSeconds));
  }
  if (!parsed.stream) {
    return collect(request, std::move(*events), recorder, std::move(rendered.said),
                   ChatReply(std::move(identity), logprobs, chat_, std::move(reader), recorder),
                   timing_.poll);
  }
  const ChatStreamOptions options{.include_usage = parsed.include_usage,
                                  .return_progress = parsed.return_progress,
                                  .logprobs = logprobs};
  return stream_response(std::make_shared<StreamPump>(
      std::move(*events), recorder, std::move(rendered.said),
      ChatStream(identity, options, chat_, std::move(reader), clock_, recorder), clock_, timing_));
}

}  // namespace samovar
