#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "api/chat_request_parts.h"
#include "api/json_text.h"
#include "api/responses_request_parts.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

// What agents declare in every request, whether or not they need it. A reply without calls to it is
// a reply that the client must expect anyway, so it is left out and said.
bool is_dispensable(std::string_view type) {
  static constexpr std::array<std::string_view, 9> types = {
      "web_search",  "image_generation", "tool_search", "local_shell",       "shell",
      "apply_patch", "custom",           "namespace",   "web_search_preview"};
  return std::ranges::find(types, type) != types.end() || type.starts_with("web_search_");
}

// Flat, where chat has an object "function".
Tool read_function(const JsonObject& fields) {
  Tool tool;
  tool.name = fields.required_string("name");
  if (tool.name.empty()) {
    fields.problem().report(fmt::format("'{}' is empty", fields.path("name")), fields.path("name"),
                            "name the function");
  }
  tool.description = fields.string("description").value_or("");
  const auto parameters = fields.object("parameters");
  tool.parameters =
      parameters ? json_text(parameters->json()) : R"({"type":"object","properties":{}})";
  return tool;
}

void read_tool_list(const JsonObject& body, ResponsesRequest& request, Json& kept) {
  const Json* list = body.array("tools", limits::tools_max);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const JsonObject tool((*list)[i], fmt::format("tools[{}]", i), body.problem());
    const std::string type = tool.required_string("type");
    if (type == "function") {
      request.chat.tools.push_back(read_function(tool));
      kept.push_back((*list)[i]);
    } else if (is_dispensable(type)) {
      request.left_out.push_back(fmt::format("tools[{}] ({})", i, type));
    } else {
      body.problem().report(fmt::format("tools of type \"{}\" are not supported", type),
                            tool.path("type"), "describe the tool as a \"function\"");
    }
  }
}

// {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": ...}]}
void read_allowed_tools(const JsonObject& choice, ChatRequest& chat) {
  const std::string mode = choice.string("mode").value_or("auto");
  if (mode != "auto" && mode != "required") {
    choice.problem().report(fmt::format("'{}' is \"{}\"", choice.path("mode"), mode),
                            choice.path("mode"), "use auto or required");
  }
  const Json* list = choice.array("tools", limits::tools_max);
  if (list == nullptr || list->empty()) {
    choice.problem().report(fmt::format("'{}' names no tool", choice.path("tools")),
                            choice.path("tools"), "name some of 'tools', or use \"none\"");
    return;
  }
  std::set<std::string> allowed;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const JsonObject tool((*list)[i], fmt::format("{}[{}]", choice.path("tools"), i),
                          choice.problem());
    const std::string name = tool.required_string("name");
    if (std::ranges::find(chat.tools, name, &Tool::name) == chat.tools.end()) {
      choice.problem().report(fmt::format("\"{}\" is not among the tools", name), tool.path("name"),
                              "name one of the tools, or add this one to 'tools'");
    }
    allowed.insert(name);
  }
  if (mode == "required") chat.tool_choice = ToolChoice::required;
  if (mode == "required" && allowed.size() == 1) {
    chat.tool_choice_name = *allowed.begin();
    return;
  }
  std::erase_if(chat.tools, [&](const Tool& tool) { return !allowed.contains(tool.name); });
}

}  // namespace

void read_response_tools(const JsonObject& body, ResponsesRequest& request, Json& kept) {
  read_tool_list(body, request, kept);
  request.chat.parallel_tool_calls = body.boolean("parallel_tool_calls").value_or(true);
  const Json* choice = body.find("tool_choice");
  if (choice == nullptr) return;
  if (!choice->is_object()) return read_tool_choice(body, request.chat);
  const JsonObject fields(*choice, "tool_choice", body.problem());
  const std::string type = fields.required_string("type");
  if (type == "allowed_tools") return read_allowed_tools(fields, request.chat);
  read_tool_choice(body, request.chat);  // a function, or a type that is refused
}

}  // namespace samovar
