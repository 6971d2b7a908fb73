#include "api/turn_runner.h"

#include <algorithm>
#include <utility>

#include "api/errors.h"
#include "explain/tool_order.h"

namespace samovar {
namespace {

constexpr int kRetryAfterMaxSeconds = 60;

// What the client calls the session; empty if it does not.
std::string session_key(const HttpRequest& request, const DialectRequest& parsed) {
  if (!parsed.session_key.empty()) return parsed.session_key;
  for (const std::string_view name : {"x-session-id", "session-id", "session_id"}) {
    const std::string* value = find_header(request.headers, name);
    if (value != nullptr && !value->empty()) return *value;
  }
  return {};
}

TurnRequest turn_request(DialectRequest& parsed, RenderedChat& rendered) {
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

HttpResponse answer(std::unique_ptr<RunningReply> reply, const HttpRequest& request, bool stream) {
  return stream ? stream_reply(std::move(reply)) : collect_reply(*reply, request);
}

// Errors from below name the fields of a chat request.
Error in_words_of(const ReplyDialect& dialect, Error error) {
  error.field = dialect.client_field(error.field);
  return error;
}

// Names of rules, once each.
std::string names_of(const std::vector<AppliedRule>& rules) {
  std::string names;
  for (const AppliedRule& rule : rules) names += (names.empty() ? "" : ",") + rule.name;
  return names;
}

}  // namespace

TurnRunner::TurnRunner(const ChatPath& chat, TurnService& turns, TurnRecords* records,
                       const Clock& clock, ChatDefaults defaults, WaitTiming timing)
    : chat_(chat),
      turns_(turns),
      records_(records),
      clock_(clock),
      defaults_(std::move(defaults)),
      timing_(timing) {}

HttpResponse TurnRunner::converse(const HttpRequest& request, DialectRequest& parsed,
                                  TurnOrigin origin, std::unique_ptr<ReplyDialect> dialect,
                                  Micros began) {
  const ErrorForm form = dialect->error_form();
  auto reply = begin_conversation(request, parsed, std::move(origin), std::move(dialect), began);
  return reply ? answer(std::move(*reply), request, parsed.stream) : refuse(reply.error(), form);
}

Result<std::unique_ptr<RunningReply>> TurnRunner::begin_conversation(
    const HttpRequest& request, DialectRequest& parsed, TurnOrigin origin,
    std::unique_ptr<ReplyDialect> dialect, Micros began) {
  auto rendered = render(parsed, origin);
  if (!rendered) return std::unexpected(in_words_of(*dialect, rendered.error()));
  return submit(request, parsed, *rendered, std::move(origin), std::move(dialect), began);
}

Result<RenderedChat> TurnRunner::render(DialectRequest& parsed, TurnOrigin& origin) const {
  origin.neutralised = names_of(neutralise(parsed.chat, defaults_.neutralise));
  if (defaults_.sort_tools && sort_tools(parsed.chat)) origin.tool_order = "sorted";
  return chat_.render(parsed.chat);
}

Result<RenderedChat> TurnRunner::render(DialectRequest& parsed) const {
  TurnOrigin nowhere;
  return render(parsed, nowhere);
}

HttpResponse TurnRunner::run(const HttpRequest& request, DialectRequest& parsed,
                             RenderedChat& rendered, TurnOrigin origin,
                             std::unique_ptr<ReplyDialect> dialect, Micros began) {
  const ErrorForm form = dialect->error_form();
  auto reply = submit(request, parsed, rendered, std::move(origin), std::move(dialect), began);
  return reply ? answer(std::move(*reply), request, parsed.stream) : refuse(reply.error(), form);
}

Result<std::unique_ptr<RunningReply>> TurnRunner::submit(const HttpRequest& request,
                                                         DialectRequest& parsed,
                                                         RenderedChat& rendered, TurnOrigin origin,
                                                         std::unique_ptr<ReplyDialect> dialect,
                                                         Micros began) {
  auto reader = chat_.reader(rendered);
  std::shared_ptr<TurnRecorder> recorder;
  const bool continues = !origin.continues.empty();
  if (!continues) {
    origin.session_key = session_key(request, parsed);
    origin.keep_text = parsed.store;
  }
  const std::string session = origin.session_key;
  if (records_ != nullptr) {
    origin.asked = {parsed.sampling, parsed.stop, parsed.max_tokens, parsed.stream,
                    request.arrived != 0 ? request.arrived : began};
    if (!continues) {
      origin.chat = std::make_shared<const ChatRequest>(std::move(parsed.chat));
      if (records_->keeps_text(origin.keep_text)) origin.body = request.body;
    }
    origin.began = began;
    recorder = records_->begin(std::move(origin), rendered);
  }
  TurnRequest turn = turn_request(parsed, rendered);
  turn.session_key = session.empty() ? parsed.user_hint : session;
  turn.arrived = request.arrived != 0 ? request.arrived : began;
  turn.render_time = clock_.now() - began;

  auto events = turns_.submit(std::move(turn), recorder);
  if (!events) {
    if (recorder != nullptr) recorder->refused(events.error());
    return std::unexpected(in_words_of(*dialect, events.error()));
  }
  const auto kind = parsed.stream ? ReplyMachine::Form::stream : ReplyMachine::Form::whole;
  return std::make_unique<RunningReply>(
      std::move(*events), recorder, std::move(rendered.said),
      ReplyMachine(kind, std::move(dialect), std::move(reader), clock_, recorder), clock_, timing_);
}

HttpResponse TurnRunner::refuse(const Error& error, ErrorForm form) const {
  if (error.kind == ErrorKind::too_large) return context_length_response(error, form);
  return error_response(error, std::clamp(turns_.load(), 1, kRetryAfterMaxSeconds), form);
}

}  // namespace samovar
