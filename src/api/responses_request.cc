#include "api/responses_request.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "api/message_memo.h"
#include "api/outlined_body.h"
#include "api/responses_request_parts.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

// What came before: the items that previous_response_id names.
void read_history(const JsonObject& body, const ResponseHistory* history,
                  ResponsesRequest& request) {
  if (request.previous.empty()) return;
  const auto refuse = [&](std::string message, std::string remedy) {
    body.problem().report(std::move(message), "previous_response_id", std::move(remedy));
  };
  if (history == nullptr) {
    return refuse("no responses are kept here", "send the whole conversation as 'input'");
  }
  const auto responses = history->conversation(request.previous);
  if (!responses) return refuse(responses.error().message, responses.error().remedy);
  for (const ResponseHistory::Items& items : *responses) {
    read_input_items(*items, request.previous, body.problem(), history, request);
  }
}

void read_input(const JsonObject& body, const ResponseHistory* history, ResponsesRequest& request) {
  const Json* input = body.find("input");
  if (input == nullptr) {
    body.problem().report("'input' is missing", "input",
                          R"(send a string, or [{"role": "user", "content": "..."}])");
    return;
  }
  if (input->is_string()) {
    request.chat.messages.push_back(
        {.role = Role::user, .content = input->get_ref<const std::string&>()});
    return;
  }
  if (!input->is_array()) {
    body.problem().report(fmt::format("'input' must be a string or an array of items, not {}",
                                      json_type_name(*input)),
                          "input", R"(send a string, or [{"role": "user", "content": "..."}])");
    return;
  }
  const Json* list = body.array("input", limits::messages_max);
  if (list == nullptr) return;
  if (list->empty()) {
    body.problem().report("'input' is empty", "input", "send at least one item");
  }
  read_input_items(*list, "input", body.problem(), history, request);
}

// --- item by item, as chat does it message by message (chat_request.cc) ---

// An item that says more than its message, or says it only of where it stands, is a problem: it is
// for the body as a whole.
ParsedMessages read_plain_item(const JsonObject& item) {
  std::vector<std::string> left_out;
  const bool known = item.find("role") != nullptr || item.find("type") != nullptr;
  auto read = known ? read_input_item(item, left_out) : InputItem{};
  if (!known || !left_out.empty() || kind_of(read.message) != read.kind) {
    item.problem().report("the item is not a plain one", "input");
  }
  return {std::move(read.message)};
}

std::optional<ResponsesRequest> parse_by_item(std::string_view body, const ChatDefaults& defaults,
                                              MessageMemo& memo) {
  const auto outlined = OutlinedBody::of(body, "input");
  if (!outlined) return std::nullopt;
  Problem problem;
  ResponsesRequest request;
  const std::string instructions =
      read_response_settings(JsonObject(outlined->rest(), "", problem), defaults, request);
  if (problem.found() || !request.previous.empty()) return std::nullopt;
  std::vector<ChatMessage> items;
  if (!outlined->read_messages(memo, read_plain_item, items)) return std::nullopt;
  request.chat.messages.reserve(items.size());
  for (ChatMessage& item : items) {
    add_input_item({kind_of(item), std::move(item)}, request.chat.messages);
  }
  join_system_messages(instructions, request.chat.messages);
  return request;
}

}  // namespace

Result<ResponsesRequest> parse_responses_request(std::string_view body,
                                                 const ChatDefaults& defaults,
                                                 const ResponseHistory* history,
                                                 MessageMemo* memo) {
  if (memo != nullptr) {
    if (auto request = parse_by_item(body, defaults, *memo)) return std::move(*request);
  }
  Json json;
  if (auto parsed = parse_json_body(body, json); !parsed) return std::unexpected(parsed.error());
  Problem problem;
  const JsonObject fields(json, "", problem);
  ResponsesRequest request;
  const std::string instructions = read_response_settings(fields, defaults, request);
  if (!problem.found()) read_history(fields, history, request);
  if (!problem.found()) read_input(fields, history, request);
  if (problem.found()) return std::unexpected(problem.error());
  if (request.chat.messages.size() > limits::messages_max) {
    return fail(ErrorKind::invalid_argument, "the conversation has too many messages",
                "previous_response_id",
                fmt::format("begin a new one: {} are allowed", limits::messages_max));
  }
  join_system_messages(instructions, request.chat.messages);
  return request;
}

Result<ResponsesRequest> parse_response_settings(std::string_view body,
                                                 const ChatDefaults& defaults) {
  Json json;
  if (auto parsed = parse_json_body(body, json); !parsed) return std::unexpected(parsed.error());
  Problem problem;
  ResponsesRequest request;
  (void)read_response_settings(JsonObject(json, "", problem), defaults, request);
  if (problem.found()) return std::unexpected(problem.error());
  return request;
}

}  // namespace samovar
