#include "api/text_api.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/chat_request.h"
#include "api/completions_dialect.h"
#include "api/completions_request.h"
#include "api/errors.h"
#include "api/json_fields.h"
#include "api/json_response.h"
#include "api/json_text.h"
#include "api/reply_json.h"
#include "api/token_list.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

HttpResponse ok(const Json& json) { return json_response(json_text(json)); }

Json tokens_json(TokenSpan tokens) {
  Json json = {{"tokens", Json::array()}, {"count", tokens.size()}};
  for (const Token token : tokens) json["tokens"].push_back(token);
  return json;
}

}  // namespace

TextApi::TextApi(TurnRunner& runner, std::string model_id)
    : runner_(runner), model_id_(std::move(model_id)) {}

HttpResponse TextApi::complete(const HttpRequest& request) {
  const Micros began = runner_.clock().now();
  auto parsed = parse_completion_request(request.body, runner_.defaults());
  if (!parsed) return error_response(parsed.error());
  RenderedChat rendered = std::visit(
      [&](auto& prompt) { return runner_.chat().plain(std::move(prompt)); }, parsed->prompt);
  TurnOrigin origin{.id = random_id("cmpl-"), .dialect = "completions"};
  // For the record and the explanations the prompt is a message of the user.
  parsed->chat.messages = {{.role = Role::user, .content = rendered.text}};
  const CompletionOptions options{.extras = parsed->extras,
                                  .logprobs = parsed->sampling.top_logprobs.has_value(),
                                  .echo = parsed->echo ? rendered.text : ""};
  auto dialect = std::make_unique<CompletionsDialect>(
      ReplyIdentity{origin.id, runner_.clock().wall_seconds(), model_id_}, options, runner_.chat());
  return runner_.run(request, *parsed, rendered, std::move(origin), std::move(dialect), began);
}

HttpResponse TextApi::tokenize(const HttpRequest& request) const {
  Json json;
  if (auto parsed = parse_json_body(request.body, json); !parsed) {
    return error_response(parsed.error());
  }
  Problem problem;
  const JsonObject fields(json, "", problem);
  if (fields.find("messages") != nullptr) {
    auto parsed = parse_chat_request(request.body, runner_.defaults());
    if (!parsed) return error_response(parsed.error());
    const auto rendered = runner_.render(*parsed);
    if (!rendered) return error_response(rendered.error());
    return ok(tokens_json(rendered->prompt.tokens));
  }
  const std::string text = fields.string("prompt").value_or(fields.string("content").value_or(""));
  if (fields.find("prompt") == nullptr && fields.find("content") == nullptr) {
    problem.report("'content' is missing", "content", "send the text there, or 'messages'");
  }
  const bool special = fields.boolean("add_special").value_or(false);
  const bool pieces = fields.boolean("with_pieces").value_or(false);
  if (problem.found()) return error_response(problem.error());
  const Tokens tokens =
      special ? runner_.chat().plain(text).prompt.tokens : runner_.chat().tokenize(text);
  Json answer = tokens_json(tokens);
  if (pieces) {
    answer["tokens"] = Json::array();
    for (const Token token : tokens) {
      answer["tokens"].push_back({{"id", token}, {"piece", runner_.chat().piece(token)}});
    }
  }
  return ok(answer);
}

HttpResponse TextApi::detokenize(const HttpRequest& request) const {
  Json json;
  if (auto parsed = parse_json_body(request.body, json); !parsed) {
    return error_response(parsed.error());
  }
  Problem problem;
  const JsonObject fields(json, "", problem);
  const Json* list = fields.find("tokens");
  if (list == nullptr) {
    problem.report("'tokens' is missing", "tokens", "send a list of token ids");
  }
  Tokens tokens;
  if (list != nullptr && !(list->is_array() && list->empty())) {
    tokens = read_token_list(*list, "tokens", runner_.defaults().vocab_size, problem);
  }
  if (problem.found()) return error_response(problem.error());
  return ok({{"content", runner_.chat().detokenize(tokens)}});
}

HttpResponse TextApi::apply_template(const HttpRequest& request) const {
  auto parsed = parse_chat_request(request.body, runner_.defaults());
  if (!parsed) return error_response(parsed.error());
  const auto rendered = runner_.render(*parsed);
  if (!rendered) return error_response(rendered.error());
  return ok({{"prompt", rendered->text}});
}

}  // namespace samovar
