#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/chat_request_parts.h"
#include "api/json_text.h"
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

}  // namespace

std::string read_response_settings(const JsonObject& body, const ChatDefaults& defaults,
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

}  // namespace samovar
