#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "api/chat_request_parts.h"
#include "api/json_text.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::pair<std::string_view, Role>, 5> kRoles = {{
    {"system", Role::system},
    {"developer", Role::developer},
    {"user", Role::user},
    {"assistant", Role::assistant},
    {"tool", Role::tool},
}};

Role read_role(const JsonObject& message) {
  const std::string name = message.required_string("role");
  for (const auto& [text, role] : kRoles) {
    if (name == text) return role;
  }
  message.problem().report(
      fmt::format("'{}' is \"{}\", which is no role", message.path("role"), name),
      message.path("role"),
      name == "function" ? "use \"tool\" with a tool_call_id"
                         : "use system, developer, user, assistant or tool");
  return Role::user;
}

// One element of a content array. Only text can be read by a text model, and leaving an image out
// in silence would make the model answer about something it never saw.
std::string read_part(const JsonObject& part) {
  const std::string type = part.required_string("type");
  if (type == "text" || type == "input_text" || type == "output_text") {
    return part.required_string("text");
  }
  if (type == "refusal") return part.required_string("refusal");
  part.problem().report(fmt::format("content of type \"{}\" is not supported", type),
                        part.path("type"), "send parts of type \"text\"");
  return {};
}

std::string read_content(const JsonObject& message, Role role) {
  const Json* content = message.find("content");
  if (content == nullptr) {
    // Assistant messages may consist of tool calls alone, and cut replies come back empty.
    if (role != Role::assistant) {
      message.problem().report(fmt::format("'{}' is missing", message.path("content")),
                               message.path("content"), "send a string or an array of text parts");
    }
    return {};
  }
  if (content->is_string()) return content->get_ref<const std::string&>();
  if (!content->is_array()) {
    message.problem().report(fmt::format("'{}' must be a string or an array of parts, not {}",
                                         message.path("content"), json_type_name(*content)),
                             message.path("content"));
    return {};
  }
  std::string text;
  for (std::size_t i = 0; i < content->size(); ++i) {
    const JsonObject part((*content)[i], fmt::format("{}[{}]", message.path("content"), i),
                          message.problem());
    if (i > 0) text += '\n';  // as llama.cpp joins parts
    text += read_part(part);
  }
  return text;
}

// The model's own spelling of the arguments is kept where the client sends it: it is what was
// sampled.
std::string read_arguments(const JsonObject& function) {
  const Json* arguments = function.find("arguments");
  if (arguments == nullptr) return "{}";
  if (arguments->is_object()) return json_text(*arguments);
  std::string text = function.string("arguments").value_or("");
  return text.empty() ? "{}" : text;
}

std::vector<ToolCall> read_tool_calls(const JsonObject& message, Role role) {
  const Json* list = message.array("tool_calls", limits::tools_max);
  if (list == nullptr || list->empty()) return {};
  if (role != Role::assistant) {
    message.problem().report("only assistant messages have tool calls", message.path("tool_calls"),
                             "move them to the assistant's message");
    return {};
  }
  std::vector<ToolCall> calls;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const JsonObject call((*list)[i], fmt::format("{}[{}]", message.path("tool_calls"), i),
                          message.problem());
    if (const auto type = call.string("type"); type && *type != "function") {
      call.problem().report(fmt::format("tool calls of type \"{}\" are not supported", *type),
                            call.path("type"), "use \"function\"");
    }
    const auto function = call.object("function");
    if (!function) {
      call.problem().report(fmt::format("'{}' is missing", call.path("function")),
                            call.path("function"), R"(send {"name": ..., "arguments": ...})");
      return calls;
    }
    calls.push_back({.id = call.string("id").value_or(""),
                     .name = function->required_string("name"),
                     .arguments = read_arguments(*function)});
  }
  return calls;
}

Tool read_tool(const JsonObject& fields) {
  const std::string type = fields.string("type").value_or("function");
  if (type != "function") {
    fields.problem().report(fmt::format("tools of type \"{}\" are not supported", type),
                            fields.path("type"), "describe the tool as a \"function\"");
    return {};
  }
  const auto function = fields.object("function");
  if (!function) {
    fields.problem().report(fmt::format("'{}' is missing", fields.path("function")),
                            fields.path("function"),
                            R"(send {"name": ..., "description": ..., "parameters": {...}})");
    return {};
  }
  Tool tool;
  tool.name = function->required_string("name");
  if (tool.name.empty()) {
    fields.problem().report(fmt::format("'{}' is empty", function->path("name")),
                            function->path("name"), "name the function");
  }
  tool.description = function->string("description").value_or("");
  const auto parameters = function->object("parameters");
  tool.parameters =
      parameters ? json_text(parameters->json()) : R"({"type":"object","properties":{}})";
  return tool;
}

// {"type": "function", "function": {"name": ...}}
void read_named_choice(const JsonObject& choice, ChatRequest& chat) {
  const std::string type = choice.required_string("type");
  if (type != "function") {
    choice.problem().report(fmt::format("a tool_choice of type \"{}\" is not supported", type),
                            choice.path("type"), "use \"function\", or a string");
    return;
  }
  const auto function = choice.object("function");
  const std::string name =
      function ? function->required_string("name") : choice.required_string("name");
  for (const Tool& tool : chat.tools) {
    if (tool.name != name) continue;
    chat.tool_choice = ToolChoice::required;
    chat.tool_choice_name = name;
    return;
  }
  choice.problem().report(
      fmt::format("'tool_choice' names \"{}\", which is not among the tools", name),
      function ? function->path("name") : choice.path("name"),
      "name one of the tools, or add this one to 'tools'");
}

}  // namespace

void read_tool_choice(const JsonObject& body, ChatRequest& chat) {
  const Json* choice = body.find("tool_choice");
  if (choice == nullptr) return;
  if (choice->is_object()) {
    read_named_choice(JsonObject(*choice, "tool_choice", body.problem()), chat);
    return;
  }
  const std::string text = body.string("tool_choice").value_or("auto");
  if (text == "auto") {
    chat.tool_choice = ToolChoice::automatic;
  } else if (text == "none") {
    chat.tool_choice = ToolChoice::none;
  } else if (text == "required") {
    chat.tool_choice = ToolChoice::required;
    if (chat.tools.empty()) {
      body.problem().report("'tool_choice' is \"required\", but there are no tools", "tool_choice",
                            "send 'tools', or leave 'tool_choice' out");
    }
  } else {
    body.problem().report(fmt::format("'tool_choice' is \"{}\"", text), "tool_choice",
                          "use auto, none, required or a function of 'tools'");
  }
}

ChatMessage read_message(const JsonObject& fields) {
  ChatMessage message;
  message.role = read_role(fields);
  message.content = read_content(fields, message.role);
  message.name = fields.string("name").value_or("");
  message.tool_calls = read_tool_calls(fields, message.role);
  if (message.role == Role::assistant) {
    auto reasoning = fields.string("reasoning_content");
    if (!reasoning) reasoning = fields.string("reasoning");
    message.reasoning = std::move(reasoning).value_or("");
  }
  if (message.role == Role::tool) {
    message.tool_call_id = fields.string("tool_call_id").value_or("");
  }
  return message;
}

void read_messages(const JsonObject& body, ChatRequest& chat) {
  if (body.find("messages") == nullptr) {
    body.problem().report("'messages' is missing", "messages",
                          R"(send [{"role": "user", "content": "..."}])");
  }
  const Json* list = body.array("messages", limits::messages_max);
  if (list == nullptr) return;
  if (list->empty()) {
    body.problem().report("'messages' is empty", "messages", "send at least one message");
  }
  chat.messages.reserve(list->size());
  for (std::size_t i = 0; i < list->size() && !body.problem().found(); ++i) {
    const JsonObject message((*list)[i], fmt::format("messages[{}]", i), body.problem());
    chat.messages.push_back(read_message(message));
  }
}

void read_tools(const JsonObject& body, ChatRequest& chat) {
  const Json* list = body.array("tools", limits::tools_max);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const JsonObject tool((*list)[i], fmt::format("tools[{}]", i), body.problem());
    chat.tools.push_back(read_tool(tool));
  }
  read_tool_choice(body, chat);
  chat.parallel_tool_calls = body.boolean("parallel_tool_calls").value_or(true);
}

void read_response_format(const JsonObject& body, ChatRequest& chat) {
  const auto format = body.object("response_format");
  if (!format) return;
  const std::string type = format->required_string("type");
  std::optional<JsonObject> schema;
  if (type == "json_schema") {
    const auto wrapper = format->object("json_schema");
    if (wrapper) schema = wrapper->object("schema");
    if (!schema) {
      body.problem().report("'response_format.json_schema.schema' is missing",
                            "response_format.json_schema.schema",
                            "send the JSON schema there, or use type \"json_object\"");
    }
  } else if (type == "json_object") {
    chat.response_format.kind = ResponseFormat::Kind::json_object;
    schema = format->object("schema");  // llama-server's form
  } else if (type != "text") {
    body.problem().report(fmt::format("'response_format.type' is \"{}\"", type),
                          "response_format.type", "use text, json_object or json_schema");
  }
  if (schema) {
    chat.response_format.kind = ResponseFormat::Kind::json_schema;
    chat.response_format.schema = json_text(schema->json());
  }
}

// What the template gets from the request itself and an argument would silently replace.
bool is_reserved(const std::string& name) {
  static const std::set<std::string> names = {"messages",  "tools",     "add_generation_prompt",
                                              "bos_token", "eos_token", "documents"};
  return names.contains(name);
}

void read_template_arguments(const JsonObject& body, ChatRequest& chat) {
  if (const auto effort = body.string("reasoning_effort")) {
    if (*effort == "none") {
      chat.enable_thinking = false;
    } else {
      chat.template_arguments["reasoning_effort"] = json_string(*effort);
    }
  }
  if (const auto thinking = body.boolean("enable_thinking")) chat.enable_thinking = thinking;
  const auto arguments = body.object("chat_template_kwargs");
  if (!arguments) return;
  if (const auto thinking = arguments->boolean("enable_thinking")) chat.enable_thinking = thinking;
  for (const auto& [name, value] : arguments->json().items()) {
    if (is_reserved(name)) {
      body.problem().report(fmt::format("'chat_template_kwargs' cannot set '{}'", name),
                            "chat_template_kwargs." + name,
                            "it is made from the request's own fields: leave it out");
    }
    if (name != "enable_thinking") chat.template_arguments[name] = json_text(value);
  }
}

}  // namespace samovar
