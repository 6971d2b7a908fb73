#include "api/messages_request.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/chat_request_parts.h"
#include "api/json_text.h"
#include "api/outlined_body.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();

// Absent means no thinking: a client that does not ask for it takes the first block for the answer.
void read_thinking(const JsonObject& body, const ChatDefaults& defaults, DialectRequest& request) {
  const auto thinking = body.object("thinking");
  if (!thinking) {
    if (request.chat.enable_thinking) return;  // chat_template_kwargs say so
    request.chat.enable_thinking = defaults.enable_thinking.value_or(false);
    return;
  }
  const std::string type = thinking->required_string("type");
  if (type == "disabled") {
    request.chat.enable_thinking = false;
  } else if (type == "adaptive") {
    request.chat.enable_thinking = true;
  } else if (type == "enabled") {
    request.chat.enable_thinking = true;
    const auto budget = thinking->integer("budget_tokens", 1, kIntMax);
    if (!budget) {
      thinking->problem().report("'thinking.budget_tokens' is missing", "thinking.budget_tokens",
                                 "say how many tokens of thinking there may be, or use type "
                                 "\"adaptive\"");
    }
    request.sampling.thinking_budget = static_cast<int>(budget.value_or(1));
  } else {
    thinking->problem().report(fmt::format("'thinking.type' is \"{}\"", type), "thinking.type",
                               "use enabled, disabled or adaptive");
  }
}

// output_config.format, and output_format as it was called first.
void read_format(const JsonObject& format, ChatRequest& chat) {
  const std::string type = format.required_string("type");
  const auto schema = format.object("schema");
  if (type != "json_schema") {
    format.problem().report(fmt::format("'{}' is \"{}\"", format.path("type"), type),
                            format.path("type"), "use json_schema");
  } else if (!schema) {
    format.problem().report(fmt::format("'{}' is missing", format.path("schema")),
                            format.path("schema"), "send the JSON schema there");
  } else {
    chat.response_format = {ResponseFormat::Kind::json_schema, json_text(schema->json())};
  }
}

void read_output(const JsonObject& body, ChatRequest& chat) {
  if (const auto format = body.object("output_format")) read_format(*format, chat);
  const auto output = body.object("output_config");
  if (!output) return;
  if (const auto format = output->object("format")) read_format(*format, chat);
  if (const auto effort = output->string("effort")) {
    chat.template_arguments["reasoning_effort"] = json_string(*effort);
  }
}

// Edits of the context that the server would make. Thinking of earlier turns is kept or dropped by
// the template as the model was trained, which is what that edit is about.
void refuse_edits(const JsonObject& body) {
  const auto management = body.object("context_management");
  const Json* edits = management ? management->array("edits", limits::tools_max) : nullptr;
  for (std::size_t i = 0; edits != nullptr && i < edits->size(); ++i) {
    const JsonObject edit((*edits)[i], fmt::format("context_management.edits[{}]", i),
                          body.problem());
    const std::string type = edit.required_string("type");
    if (type.starts_with("clear_thinking_")) continue;
    edit.problem().report(fmt::format("context edits of type \"{}\" are not made here", type),
                          edit.path("type"), "edit the messages before sending them");
  }
}

void refuse_unsupported(const JsonObject& body) {
  (void)body.string("model");  // any name is served by the one model there is
  refuse_edits(body);
  const Json* servers = body.array("mcp_servers", limits::tools_max);
  if (servers != nullptr && !servers->empty()) {
    body.problem().report("'mcp_servers' is not supported", "mcp_servers",
                          "let the client call its MCP servers and send their tools in 'tools'");
  }
  if (body.find("thread") != nullptr) {
    body.problem().report("'thread' is not supported: nothing is kept of earlier requests",
                          kThreadField, "send all messages with every request");
  }
  if (body.find("container") != nullptr) {
    body.problem().report("'container' is not supported", "container", "leave it out");
  }
}

// Everything but the messages. The system prompt becomes the first message.
void read_rest(const JsonObject& body, const ChatDefaults& defaults, DialectRequest& request) {
  refuse_unsupported(body);
  request.sampling = defaults.sampling;
  request.max_tokens = defaults.max_tokens;
  read_sampling(body, defaults.vocab_size, request.sampling);
  read_stop(body, request.stop, "stop_sequences");
  if (const auto max = body.integer("max_tokens", 1, kIntMax)) request.max_tokens = max;
  request.stream = body.boolean("stream").value_or(false);
  read_messages_tools(body, request.chat);
  read_template_arguments(body, request.chat);
  read_thinking(body, defaults, request);
  read_output(body, request.chat);
  if (const auto metadata = body.object("metadata")) {
    request.user_hint = metadata->string("user_id").value_or("");
  }
  if (std::string system = read_system(body); !system.empty()) {
    request.chat.messages.push_back({.role = Role::system, .content = std::move(system)});
  }
}

// What the last message must be, of all messages together.
void check_last(const std::vector<ChatMessage>& messages, std::size_t given, Problem& problem) {
  if (given == 0 || messages.back().role != Role::assistant) return;
  const std::string path = fmt::format("messages[{}].role", given - 1);
  problem.report("the last message is the assistant's, and continuing it is not supported", path,
                 "end with a user's message; POST /v1/samovar/turns/{id}/continue goes on with a "
                 "reply that was cut");
}

// nullopt if anything is wrong or unusual: what that is, the body as a whole tells.
std::optional<DialectRequest> parse_by_message(std::string_view body, const ChatDefaults& defaults,
                                               MessageMemo& memo) {
  const auto outlined = OutlinedBody::of(body);
  if (!outlined) return std::nullopt;
  Problem problem;
  DialectRequest request;
  read_rest(JsonObject(outlined->rest(), "", problem), defaults, request);
  if (problem.found()) return std::nullopt;
  auto& messages = request.chat.messages;
  if (!outlined->read_messages(memo, read_blocks_message, messages)) return std::nullopt;
  check_last(messages, 1, problem);
  return problem.found() ? std::nullopt : std::optional(std::move(request));
}

}  // namespace

Result<DialectRequest> parse_messages_request(std::string_view body, const ChatDefaults& defaults,
                                              MessageMemo* memo) {
  if (memo != nullptr) {
    if (auto request = parse_by_message(body, defaults, *memo)) return std::move(*request);
  }
  Json json;
  if (auto parsed = parse_json_body(body, json); !parsed) return std::unexpected(parsed.error());
  Problem problem;
  const JsonObject fields(json, "", problem);
  DialectRequest request;
  read_rest(fields, defaults, request);
  if (fields.find("messages") == nullptr) {
    problem.report("'messages' is missing", "messages",
                   R"(send [{"role": "user", "content": "..."}])");
  }
  const Json* list = fields.array("messages", limits::messages_max);
  if (list != nullptr && list->empty()) {
    problem.report("'messages' is empty", "messages", "send at least one message");
  }
  for (std::size_t i = 0; list != nullptr && i < list->size() && !problem.found(); ++i) {
    auto read =
        read_blocks_message(JsonObject((*list)[i], fmt::format("messages[{}]", i), problem));
    for (ChatMessage& message : read) request.chat.messages.push_back(std::move(message));
  }
  if (!problem.found() && list != nullptr) {
    check_last(request.chat.messages, list->size(), problem);
  }
  if (problem.found()) return std::unexpected(problem.error());
  return request;
}

}  // namespace samovar
