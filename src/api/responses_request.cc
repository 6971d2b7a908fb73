#include "api/responses_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/chat_request_parts.h"
#include "api/json_outline.h"
#include "api/json_text.h"
#include "api/message_memo.h"
#include "api/responses_request_parts.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

// Fields that would change the reply's meaning if they were passed over in silence.
void refuse_unsupported(const JsonObject& body) {
  static constexpr std::array<std::pair<const char*, const char*>, 4> fields = {{
      {"conversation", "use 'previous_response_id', or send the whole conversation as 'input'"},
      {"prompt", "send the prompt's text as 'instructions' and 'input'"},
      {"context_management", "shorten 'input' yourself, and leave the field out"},
      {"moderation", "leave the field out"},
  }};
  (void)body.string("model");  // any name is served by the one model there is
  for (const auto& [name, remedy] : fields) {
    if (body.find(name) == nullptr) continue;
    body.problem().report(fmt::format("'{}' is not supported", name), name, remedy);
  }
  const std::string truncation = body.string("truncation").value_or("disabled");
  if (truncation != "disabled") {
    body.problem().report(fmt::format("'truncation' is \"{}\"", truncation), "truncation",
                          "use \"disabled\": nothing of a conversation is dropped here");
  }
}

void read_include(const JsonObject& body, ResponsesRequest& request) {
  // Of tools that never run here, so that there never is anything to include.
  static constexpr std::array<std::string_view, 6> vacuous = {
      "web_search_call.results",
      "web_search_call.action.sources",
      "file_search_call.results",
      "code_interpreter_call.outputs",
      "computer_call_output.output.image_url",
      "message.input_image.image_url"};
  const Json* list = body.array("include", 64);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Json& entry = (*list)[i];
    const std::string name = entry.is_string() ? entry.get<std::string>() : json_text(entry);
    if (name == "reasoning.encrypted_content") {
      request.reasoning.encrypted = true;
    } else if (name == "message.output_text.logprobs") {
      request.logprobs = true;
    } else if (std::ranges::find(vacuous, name) == vacuous.end()) {
      body.problem().report(fmt::format("'include[{}]' is \"{}\", which is not known", i, name),
                            fmt::format("include[{}]", i),
                            "use reasoning.encrypted_content or message.output_text.logprobs");
    }
  }
}

void read_logprobs(const JsonObject& body, ResponsesRequest& request) {
  const auto top = body.integer("top_logprobs", 0, limits::top_logprobs_max);
  if (top.value_or(0) > 0) request.logprobs = true;
  if (request.logprobs) request.sampling.top_logprobs = static_cast<int>(top.value_or(0));
}

Json read_reasoning(const JsonObject& body, ResponsesRequest& request) {
  Json settings = {{"effort", nullptr}, {"summary", nullptr}};
  const auto reasoning = body.object("reasoning");
  if (!reasoning) return settings;
  if (const auto effort = reasoning->string("effort")) {
    settings["effort"] = *effort;
    if (*effort == "none" || *effort == "minimal") {
      request.chat.enable_thinking = false;
    } else {
      request.chat.template_arguments["reasoning_effort"] = json_string(*effort);
    }
  }
  for (const char* name : {"generate_summary", "summary"}) {  // the later one wins
    const auto summary = reasoning->string(name);
    if (!summary) continue;
    if (*summary != "auto" && *summary != "concise" && *summary != "detailed" &&
        *summary != "none") {
      body.problem().report(fmt::format("'reasoning.{}' is \"{}\"", name, *summary),
                            fmt::format("reasoning.{}", name), "use auto, concise or detailed");
    }
    request.reasoning.summary = *summary != "none";
    settings["summary"] = *summary;
  }
  return settings;
}

void read_schema(const JsonObject& format, ChatRequest& chat) {
  const auto schema = format.object("schema");
  if (!schema) {
    format.problem().report("'text.format.schema' is missing", "text.format.schema",
                            "send the JSON schema there, or use type \"json_object\"");
    return;
  }
  chat.response_format.kind = ResponseFormat::Kind::json_schema;
  chat.response_format.schema = json_text(schema->json());
}

Json read_text(const JsonObject& body, ResponsesRequest& request) {
  Json settings = {{"format", {{"type", "text"}}}, {"verbosity", "medium"}};
  const auto text = body.object("text");
  if (!text) return settings;
  if (const auto format = text->object("format")) {
    const std::string type = format->required_string("type");
    if (type == "json_schema") {
      read_schema(*format, request.chat);
    } else if (type == "json_object") {
      request.chat.response_format.kind = ResponseFormat::Kind::json_object;
    } else if (type != "text") {
      body.problem().report(fmt::format("'text.format.type' is \"{}\"", type), "text.format.type",
                            "use text, json_object or json_schema");
    }
    settings["format"] = format->json();
  }
  if (const auto verbosity = text->string("verbosity"); verbosity && *verbosity != "medium") {
    request.left_out.push_back(fmt::format("text.verbosity ({})", *verbosity));
  }
  return settings;
}

Json read_metadata(const JsonObject& body, ResponsesRequest& request) {
  const auto metadata = body.object("metadata");
  if (!metadata) return Json::object();
  for (const auto& [name, value] : metadata->json().items()) {
    if (value.is_string()) continue;
    body.problem().report(
        fmt::format("'metadata.{}' must be a string, not {}", name, json_type_name(value)),
        "metadata." + name, "send strings only");
  }
  if (auto user = metadata->string("user_id")) request.user_hint = std::move(*user);
  return metadata->json();
}

void read_background(const JsonObject& body, const ChatDefaults& defaults,
                     ResponsesRequest& request) {
  request.stream = body.boolean("stream").value_or(false);
  request.store = body.boolean("store").value_or(defaults.store_responses);
  request.background = body.boolean("background").value_or(false);
  request.previous = body.string("previous_response_id").value_or("");
  if (request.background && !request.store) {
    body.problem().report("'background' needs a response that is kept", "background",
                          "send \"store\": true with it");
  }
}

void read_max_tokens(const JsonObject& body, ResponsesRequest& request) {
  const auto given = body.integer("max_output_tokens", 1, std::numeric_limits<std::int32_t>::max());
  if (given) request.max_tokens = given;
}

Json or_null(const JsonObject& body, const char* name) {
  const Json* value = body.find(name);
  return value == nullptr ? Json() : *value;
}

Json word_array(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& word : words) list.push_back(word);
  return list;
}

// Everything but the conversation. Returns the instructions.
std::string read_settings(const JsonObject& body, const ChatDefaults& defaults,
                          ResponsesRequest& request) {
  request.chat.enable_thinking = defaults.enable_thinking;
  request.sampling = defaults.sampling;
  request.max_tokens = defaults.max_tokens;
  refuse_unsupported(body);
  read_background(body, defaults, request);
  read_max_tokens(body, request);
  read_samplers(body, defaults.vocab_size, request.sampling);
  read_stop(body, request.stop);
  read_include(body, request);
  read_logprobs(body, request);
  read_template_arguments(body, request.chat);
  request.session_key = body.string("prompt_cache_key").value_or("");
  request.user_hint = body.string("user").value_or("");

  Json tools = Json::array();
  read_response_tools(body, request, tools);
  Json settings;
  settings["background"] = request.background;
  const std::string instructions = body.string("instructions").value_or("");
  settings["instructions"] = or_null(body, "instructions");
  settings["max_output_tokens"] = request.max_tokens ? Json(*request.max_tokens) : Json();
  settings["metadata"] = read_metadata(body, request);
  settings["parallel_tool_calls"] = request.chat.parallel_tool_calls;
  settings["previous_response_id"] = or_null(body, "previous_response_id");
  settings["prompt_cache_key"] = or_null(body, "prompt_cache_key");
  settings["reasoning"] = read_reasoning(body, request);
  settings["safety_identifier"] = or_null(body, "safety_identifier");
  settings["service_tier"] = "default";
  settings["store"] = request.store;
  settings["temperature"] = request.sampling.temperature;
  settings["text"] = read_text(body, request);
  settings["tool_choice"] =
      body.find("tool_choice") == nullptr ? Json("auto") : *body.find("tool_choice");
  settings["tools"] = std::move(tools);
  settings["top_logprobs"] = request.sampling.top_logprobs.value_or(0);
  settings["top_p"] = request.sampling.top_p;
  settings["truncation"] = "disabled";
  settings["user"] = or_null(body, "user");
  if (!request.left_out.empty()) settings["left_out"] = word_array(request.left_out);
  const std::string text = json_text(settings);
  request.settings = text.substr(1, text.size() - 2);
  return instructions;
}

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
  const auto items = history->conversation(request.previous);
  if (!items) return refuse(items.error().message, items.error().remedy);
  read_input_items(**items, request.previous, body.problem(), history, request);
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

// nullptr if the item has a problem, or says something of where it stands.
std::shared_ptr<const ChatMessage> parse_item(std::string_view text) {
  try {
    const auto json = Json::parse(text);
    Problem problem;
    std::vector<std::string> left_out;
    const JsonObject item(json, "", problem);
    if (item.find("role") == nullptr && item.find("type") == nullptr) return nullptr;
    auto read = read_input_item(item, left_out);
    const bool plain = !problem.found() && left_out.empty() && kind_of(read.message) == read.kind;
    return plain ? std::make_shared<const ChatMessage>(std::move(read.message)) : nullptr;
  } catch (const Json::exception&) {
    return nullptr;
  }
}

std::optional<Json> parse_rest(std::string_view body, const JsonOutline& outline) {
  std::string rest(body.substr(0, outline.messages_begin));
  rest += body.substr(outline.messages_end);
  Json json;
  if (!parse_json_body(rest, json)) return std::nullopt;
  const auto input = json.find("input");
  const bool sound = input != json.end() && input->is_array() && input->empty();
  return sound ? std::optional(std::move(json)) : std::nullopt;
}

std::optional<ResponsesRequest> parse_by_item(std::string_view body, const ChatDefaults& defaults,
                                              MessageMemo& memo) {
  if (body.size() > limits::body_bytes_max) return std::nullopt;
  const auto outline = outline_json(body, "input");
  if (!outline || !outline->has_messages || outline->messages.empty() ||
      outline->messages.size() > limits::messages_max) {
    return std::nullopt;
  }
  const auto rest = parse_rest(body, *outline);
  if (!rest) return std::nullopt;
  Problem problem;
  ResponsesRequest request;
  const std::string instructions = read_settings(JsonObject(*rest, "", problem), defaults, request);
  if (problem.found() || !request.previous.empty()) return std::nullopt;
  request.chat.messages.reserve(outline->messages.size());
  for (const std::string_view text : outline->messages) {
    auto item = memo.find(text);
    if (item == nullptr) {
      item = parse_item(text);
      if (item == nullptr) return std::nullopt;
      memo.add(text, item);
    }
    add_input_item({kind_of(*item), *item}, request.chat.messages);
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
  const std::string instructions = read_settings(fields, defaults, request);
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
  (void)read_settings(JsonObject(json, "", problem), defaults, request);
  if (problem.found()) return std::unexpected(problem.error());
  return request;
}

}  // namespace samovar
