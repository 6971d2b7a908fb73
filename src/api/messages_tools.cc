#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/json_text.h"
#include "api/messages_request.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

Tool read_tool(const JsonObject& fields) {
  Tool tool;
  // Anthropic's own tools ("bash_20250124") have no schema in the request: their models know it.
  if (const auto type = fields.string("type"); type && *type != "custom") {
    fields.problem().report(fmt::format("tools of type \"{}\" are not supported", *type),
                            fields.path("type"),
                            "describe the tool with name, description and input_schema");
    return tool;
  }
  tool.name = fields.required_string("name");
  if (tool.name.empty()) {
    fields.problem().report(fmt::format("'{}' is empty", fields.path("name")), fields.path("name"),
                            "name the tool");
  }
  tool.description = fields.string("description").value_or("");
  const auto schema = fields.object("input_schema");
  tool.parameters = schema ? json_text(schema->json()) : R"({"type":"object","properties":{}})";
  return tool;
}

void read_named_choice(const JsonObject& choice, ChatRequest& chat) {
  const std::string name = choice.required_string("name");
  if (std::ranges::any_of(chat.tools, [&](const Tool& tool) { return tool.name == name; })) {
    chat.tool_choice = ToolChoice::required;
    chat.tool_choice_name = name;
    return;
  }
  choice.problem().report(
      fmt::format("'tool_choice' names \"{}\", which is not among the tools", name),
      choice.path("name"), "name one of the tools, or add this one to 'tools'");
}

void read_choice(const JsonObject& choice, ChatRequest& chat) {
  chat.parallel_tool_calls = !choice.boolean("disable_parallel_tool_use").value_or(false);
  const std::string type = choice.required_string("type");
  if (type == "auto") {
    chat.tool_choice = ToolChoice::automatic;
  } else if (type == "none") {
    chat.tool_choice = ToolChoice::none;
  } else if (type == "tool") {
    read_named_choice(choice, chat);
  } else if (type == "any") {
    chat.tool_choice = ToolChoice::required;
    if (chat.tools.empty()) {
      choice.problem().report("'tool_choice' is \"any\", but there are no tools",
                              choice.path("type"), "send 'tools', or leave 'tool_choice' out");
    }
  } else {
    choice.problem().report(fmt::format("'tool_choice.type' is \"{}\"", type), choice.path("type"),
                            "use auto, any, tool or none");
  }
}

}  // namespace

void read_messages_tools(const JsonObject& body, ChatRequest& chat) {
  const Json* list = body.array("tools", limits::tools_max);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    chat.tools.push_back(
        read_tool(JsonObject((*list)[i], fmt::format("tools[{}]", i), body.problem())));
  }
  if (const auto choice = body.object("tool_choice")) read_choice(*choice, chat);
}

}  // namespace samovar
