#include "api/chat_completions.h"

#include <fmt/format.h>

#include <utility>

#include "api/chat_dialect.h"
#include "api/errors.h"
#include "api/reply_json.h"

namespace samovar {
namespace {

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

}  // namespace

ChatCompletions::ChatCompletions(TurnRunner& runner, std::string model_id)
    : runner_(runner), model_id_(std::move(model_id)) {}

HttpResponse ChatCompletions::handle(const HttpRequest& request) {
  const Micros began = runner_.clock().now();
  auto parsed = parse_chat_request(request.body, runner_.defaults(), &messages_);
  if (!parsed) return error_response(parsed.error());
  TurnOrigin origin{.id = random_id("chatcmpl-"), .dialect = "chat.completions"};
  auto form = dialect(origin.id, *parsed);
  return runner_.converse(request, *parsed, std::move(origin), std::move(form), began);
}

HttpResponse ChatCompletions::continue_turn(const HttpRequest& request, const std::string& id) {
  const Micros began = runner_.clock().now();
  auto parsed = parse_continue_request(request.body, runner_.defaults());
  if (!parsed) return error_response(parsed.error());
  if (runner_.records() == nullptr) return error_response(*cannot_continue(id, std::nullopt));
  const auto found = runner_.records()->ledger().find(id);
  if (!found) return error_response(found.error());
  if (const auto why = cannot_continue(id, *found)) return error_response(*why);
  const TurnRecord& cut = **found;
  auto rendered = runner_.chat().resume(cut_reply(cut));
  if (!rendered) return error_response(rendered.error());
  TurnOrigin origin{.id = random_id("chatcmpl-"), .dialect = cut.dialect};
  origin.session_key = cut.session;
  origin.keep_text = parsed->store || cut.keep_text;
  origin.body = cut.request;
  origin.continues = id;
  origin.reply_so_far = cut.reply;
  auto form = dialect(origin.id, *parsed);
  return runner_.run(request, *parsed, *rendered, std::move(origin), std::move(form), began);
}

std::unique_ptr<ReplyDialect> ChatCompletions::dialect(const std::string& id,
                                                       const ChatCompletionRequest& parsed) const {
  const ChatStreamOptions options{.extras = parsed.extras,
                                  .logprobs = parsed.sampling.top_logprobs.has_value()};
  return std::make_unique<ChatDialect>(ReplyIdentity{id, runner_.clock().wall_seconds(), model_id_},
                                       options, runner_.chat());
}

}  // namespace samovar
