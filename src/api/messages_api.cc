#include "api/messages_api.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/errors.h"
#include "api/json_text.h"
#include "api/messages_dialect.h"
#include "api/messages_request.h"
#include "api/reply_json.h"

namespace samovar {
namespace {

HttpResponse refuse(const Error& error) {
  HttpResponse response = error_response(error, 1, ErrorForm::anthropic);
  if (error.field != kThreadField) return response;
  auto json = nlohmann::ordered_json::parse(response.body);
  json["error"]["details"] = {{"error_code", "thread_unsupported_request"},
                              {"unsupported", nlohmann::ordered_json::array({kThreadField})}};
  response.body = json_text(json);
  return response;
}

}  // namespace

MessagesApi::MessagesApi(TurnRunner& runner, std::string model_id)
    : runner_(runner), model_id_(std::move(model_id)) {}

HttpResponse MessagesApi::create(const HttpRequest& request) {
  const Micros began = runner_.clock().now();
  auto parsed = parse_messages_request(request.body, runner_.defaults(), &messages_);
  if (!parsed) return refuse(parsed.error());
  TurnOrigin origin{.id = random_id("msg_"), .dialect = "messages"};
  auto dialect =
      std::make_unique<MessagesDialect>(origin.id, model_id_, parsed->stop, parsed->max_tokens);
  return runner_.converse(request, *parsed, std::move(origin), std::move(dialect), began);
}

HttpResponse MessagesApi::count_tokens(const HttpRequest& request) {
  auto parsed = parse_messages_request(request.body, runner_.defaults(), &messages_);
  if (!parsed) return refuse(parsed.error());
  const auto rendered = runner_.render(*parsed);
  if (!rendered) {
    Error error = rendered.error();
    error.field = messages_field(error.field);
    return refuse(error);
  }
  HttpResponse response;
  response.body = json_text({{"input_tokens", rendered->prompt.size()}});
  return response;
}

}  // namespace samovar
