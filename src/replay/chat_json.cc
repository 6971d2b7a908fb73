#include "replay/chat_json.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace samovar::replay {
namespace {

using Json = nlohmann::ordered_json;

// Levels that a line has around what is embedded: of tools the line, the list, a tool, a function.
constexpr int kLevelsAround = 4;

Json embedded(const std::string& text) {
  if (is_deeper(text, kJsonDepthMax - kLevelsAround)) return text;
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

// A value that others may give as JSON or as text that is JSON.
std::string as_text(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json_line(json);
}

template <class Value>
void put(Json& body, const char* name, const std::optional<Value>& value) {
  if (value) body[name] = *value;
}

void put_tool_choice(const TraceSettings& settings, Json& body) {
  if (settings.tool_choice == ToolChoice::none) body["tool_choice"] = "none";
  if (settings.tool_choice == ToolChoice::required) {
    if (settings.tool_choice_name.empty()) {
      body["tool_choice"] = "required";
    } else {
      body["tool_choice"] = {{"type", "function"},
                             {"function", {{"name", settings.tool_choice_name}}}};
    }
  }
  if (!settings.parallel_tool_calls) body["parallel_tool_calls"] = false;
}

void put_response_format(const ResponseFormat& format, Json& body) {
  if (format.kind == ResponseFormat::Kind::json_object) {
    body["response_format"] = {{"type", "json_object"}};
  }
  if (format.kind == ResponseFormat::Kind::json_schema) {
    body["response_format"] = {
        {"type", "json_schema"},
        {"json_schema", {{"name", "reply"}, {"schema", embedded(format.schema)}}}};
  }
}

std::optional<Role> role_of(std::string_view name) {
  for (const Role role : {Role::system, Role::developer, Role::user, Role::assistant, Role::tool}) {
    if (name == to_string(role)) return role;
  }
  return std::nullopt;
}

std::string read_content(const Fields& fields, int* left_out) {
  const Json* content = fields.find("content");
  if (content == nullptr || !content->is_array()) return fields.text("content");
  std::string text;
  for (const Json& part : *content) {
    const bool is_text = part.is_object() && part.contains("text") && part["text"].is_string();
    if (is_text) {
      text += part["text"].get_ref<const std::string&>();
    } else if (left_out == nullptr) {
      fields.trouble().report("only parts of text are expected here", fields.path("content"));
    } else {
      ++*left_out;
    }
  }
  return text;
}

std::vector<ToolCall> read_calls(const Fields& fields) {
  std::vector<ToolCall> calls;
  const Json* array = fields.array("tool_calls");
  if (array == nullptr) return calls;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const Fields call((*array)[i], fmt::format("{}[{}]", fields.path("tool_calls"), i),
                      fields.trouble());
    const Json* function = call.object("function");
    if (function == nullptr) {
      fields.trouble().report("this field is missing", call.path("function"));
      break;
    }
    const Fields named(*function, call.path("function"), fields.trouble());
    const Json* arguments = named.find("arguments");
    calls.push_back({call.text("id"), named.required_text("name"),
                     arguments == nullptr ? "{}" : as_text(*arguments)});
  }
  return calls;
}

void read_tool_choice(const Fields& fields, TraceSettings& settings) {
  const Json* choice = fields.find("tool_choice");
  if (choice == nullptr) return;
  if (choice->is_object()) {
    settings.tool_choice = ToolChoice::required;
    const Fields object(*choice, fields.path("tool_choice"), fields.trouble());
    if (const Json* function = object.object("function")) {
      settings.tool_choice_name =
          Fields(*function, object.path("function"), fields.trouble()).text("name");
    }
    return;
  }
  const std::string word = fields.text("tool_choice");
  if (word == "none") settings.tool_choice = ToolChoice::none;
  if (word == "required") settings.tool_choice = ToolChoice::required;
}

void read_response_format(const Fields& fields, TraceSettings& settings) {
  const Json* object = fields.object("response_format");
  if (object == nullptr) return;
  const Fields format(*object, fields.path("response_format"), fields.trouble());
  const std::string type = format.text("type");
  if (type == "json_object") settings.response_format.kind = ResponseFormat::Kind::json_object;
  if (type != "json_schema") return;
  settings.response_format.kind = ResponseFormat::Kind::json_schema;
  const Json* named = format.object("json_schema");
  const Json* schema =
      named == nullptr
          ? nullptr
          : Fields(*named, format.path("json_schema"), fields.trouble()).find("schema");
  settings.response_format.schema = schema == nullptr ? "{}" : as_text(*schema);
}

void read_stop(const Fields& fields, TraceSettings& settings) {
  const Json* stop = fields.find("stop");
  if (stop == nullptr) return;
  if (!stop->is_array()) {
    settings.stop.push_back(fields.text("stop"));
    return;
  }
  for (const Json& each : *stop) {
    if (!each.is_string()) {
      fields.trouble().report("strings are expected here", fields.path("stop"));
      return;
    }
    settings.stop.push_back(each.get<std::string>());
  }
}

}  // namespace

std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json message_json(const ChatMessage& message) {
  Json json;
  json["role"] = to_string(message.role);
  const bool only_calls = message.content.empty() && !message.tool_calls.empty();
  json["content"] = only_calls ? Json() : Json(message.content);
  if (!message.reasoning.empty()) json["reasoning_content"] = message.reasoning;
  if (!message.tool_call_id.empty()) json["tool_call_id"] = message.tool_call_id;
  if (!message.name.empty()) json["name"] = message.name;
  if (message.tool_calls.empty()) return json;
  Json& calls = json["tool_calls"] = Json::array();
  for (const ToolCall& call : message.tool_calls) {
    calls.push_back({{"id", call.id},
                     {"type", "function"},
                     {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return json;
}

Json tools_json(const std::vector<Tool>& tools) {
  Json json = Json::array();
  for (const Tool& tool : tools) {
    Json function = {{"name", tool.name}, {"description", tool.description}};
    if (!tool.parameters.empty()) function["parameters"] = embedded(tool.parameters);
    json.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  return json;
}

void put_settings(const TraceSettings& settings, Json& body) {
  put(body, "max_tokens", settings.max_tokens);
  put(body, "temperature", settings.temperature);
  put(body, "top_p", settings.top_p);
  put(body, "top_k", settings.top_k);
  put(body, "min_p", settings.min_p);
  put(body, "presence_penalty", settings.presence_penalty);
  put(body, "frequency_penalty", settings.frequency_penalty);
  put(body, "repeat_penalty", settings.repeat_penalty);
  put(body, "seed", settings.seed);
  if (!settings.stop.empty()) body["stop"] = settings.stop;
  put_tool_choice(settings, body);
  put_response_format(settings.response_format, body);
  Json arguments = Json::object();
  for (const auto& [name, text] : settings.template_arguments) arguments[name] = embedded(text);
  put(arguments, "enable_thinking", settings.enable_thinking);
  if (!arguments.empty()) body["chat_template_kwargs"] = std::move(arguments);
}

std::string completion_body(const std::vector<ChatMessage>& messages,
                            const std::vector<Tool>& tools, const TraceSettings& settings,
                            const std::string& model, const std::string& session) {
  Json body;
  if (!model.empty()) body["model"] = model;
  Json& list = body["messages"] = Json::array();
  for (const ChatMessage& message : messages) list.push_back(message_json(message));
  if (!tools.empty()) body["tools"] = tools_json(tools);
  put_settings(settings, body);
  if (!session.empty()) body["prompt_cache_key"] = session;
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  return json_line(body);
}

ChatMessage read_message(const Fields& fields, int* left_out) {
  ChatMessage message;
  const std::string role = fields.required_text("role");
  if (const auto known = role_of(role)) {
    message.role = *known;
  } else if (!role.empty()) {
    fields.trouble().report("system, developer, user, assistant or tool is expected here",
                            fields.path("role"));
  }
  message.content = read_content(fields, left_out);
  message.reasoning = fields.text("reasoning_content");
  message.tool_calls = read_calls(fields);
  message.tool_call_id = fields.text("tool_call_id");
  message.name = fields.text("name");
  return message;
}

std::vector<ChatMessage> read_messages(const Fields& fields, const char* name, int* left_out) {
  std::vector<ChatMessage> messages;
  const Json* array = fields.array(name);
  if (array == nullptr) return messages;
  for (std::size_t i = 0; i < array->size() && !fields.trouble().error(); ++i) {
    messages.push_back(read_message(
        Fields((*array)[i], fmt::format("{}[{}]", fields.path(name), i), fields.trouble()),
        left_out));
  }
  return messages;
}

std::vector<Tool> read_tools(const Fields& fields) {
  std::vector<Tool> tools;
  const Json* array = fields.array("tools");
  if (array == nullptr) return tools;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const Fields tool((*array)[i], fmt::format("{}[{}]", fields.path("tools"), i),
                      fields.trouble());
    const Json* function = tool.object("function");
    if (function == nullptr) {
      fields.trouble().report("this field is missing", tool.path("function"));
      break;
    }
    const Fields named(*function, tool.path("function"), fields.trouble());
    const Json* parameters = named.find("parameters");
    tools.push_back({named.required_text("name"), named.text("description"),
                     parameters == nullptr ? "" : as_text(*parameters)});
  }
  return tools;
}

TraceSettings read_settings(const Fields& fields) {
  TraceSettings settings;
  settings.max_tokens = fields.count("max_tokens");
  if (!settings.max_tokens) settings.max_tokens = fields.count("max_completion_tokens");
  settings.temperature = fields.number("temperature");
  settings.top_p = fields.number("top_p");
  settings.top_k = fields.count("top_k");
  settings.min_p = fields.number("min_p");
  settings.presence_penalty = fields.number("presence_penalty");
  settings.frequency_penalty = fields.number("frequency_penalty");
  settings.repeat_penalty = fields.number("repeat_penalty");
  settings.seed = fields.integer("seed");
  read_stop(fields, settings);
  read_tool_choice(fields, settings);
  settings.parallel_tool_calls = fields.flag("parallel_tool_calls").value_or(true);
  read_response_format(fields, settings);
  const Json* arguments = fields.object("chat_template_kwargs");
  if (arguments == nullptr) return settings;
  settings.enable_thinking =
      Fields(*arguments, fields.path("chat_template_kwargs"), fields.trouble())
          .flag("enable_thinking");
  for (const auto& [name, value] : arguments->items()) {
    if (name != "enable_thinking") settings.template_arguments[name] = json_line(value);
  }
  return settings;
}

std::string settings_text(const TraceSettings& settings) {
  Json json = Json::object();
  put_settings(settings, json);
  return json_line(json);
}

std::string tools_text(const std::vector<Tool>& tools) { return json_line(tools_json(tools)); }

}  // namespace samovar::replay
