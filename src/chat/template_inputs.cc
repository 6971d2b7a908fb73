#include "chat/template_inputs.h"

#include <fmt/format.h>
#include <llama-common/json-schema-to-grammar.h>
#include <llama-common/json.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace samovar {
namespace {

// What is wrong with `text` as JSON; nullopt if nothing.
std::optional<std::string> json_problem(const std::string& text, bool must_be_object) {
  try {
    const common_json json = common_json::parse(text);
    if (must_be_object && !json.is_object()) return "is not a JSON object";
    return std::nullopt;
  } catch (const std::exception& error) {
    return fmt::format("is not valid JSON: {}", error.what());
  }
}

// What a JSON schema cannot be turned into a grammar for; nullopt if it can.
std::optional<std::string> schema_problem(const std::string& schema) {
  try {
    json_schema_to_grammar(common_json::parse(schema), /*force_gbnf=*/true);
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  }
}

// The same names for tool results that the calls had, where the client sent none: some templates
// print them.
class CallNames {
 public:
  void learn(const ChatMessage& message) {
    for (const ToolCall& call : message.tool_calls) names_[call.id] = call.name;
  }
  [[nodiscard]] std::string name_for(const ChatMessage& message) const {
    if (!message.name.empty() || message.role != Role::tool) return message.name;
    const auto found = names_.find(message.tool_call_id);
    return found == names_.end() ? std::string() : found->second;
  }

 private:
  std::map<std::string, std::string> names_;
};

std::vector<common_chat_msg> to_messages(const std::vector<ChatMessage>& messages) {
  std::vector<common_chat_msg> result;
  result.reserve(messages.size());
  CallNames names;
  for (const ChatMessage& message : messages) {
    names.learn(message);
    common_chat_msg& target = result.emplace_back();
    target.role = to_string(message.role);
    target.content = message.content;
    target.reasoning_content = message.reasoning;
    target.tool_name = names.name_for(message);
    target.tool_call_id = message.tool_call_id;
    for (const ToolCall& call : message.tool_calls) {
      // A call without arguments is an empty object for every template.
      target.tool_calls.push_back(
          {call.name, call.arguments.empty() ? "{}" : call.arguments, call.id});
    }
  }
  return result;
}

Status take_tools(const ChatRequest& request, common_chat_templates_inputs& inputs) {
  for (std::size_t i = 0; i < request.tools.size(); ++i) {
    const Tool& tool = request.tools[i];
    const std::string parameters = tool.parameters.empty() ? "{}" : tool.parameters;
    if (const auto problem = json_problem(parameters, /*must_be_object=*/true)) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("the parameters of tool \"{}\" {}", tool.name, *problem),
                  fmt::format("tools[{}].function.parameters", i), "send a JSON schema object");
    }
    inputs.tools.push_back({tool.name, tool.description, parameters});
  }
  switch (request.tool_choice) {
    case ToolChoice::automatic:
      inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_AUTO;
      break;
    case ToolChoice::none:
      inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_NONE;
      break;
    case ToolChoice::required:
      inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
      break;
  }
  if (request.tool_choice != ToolChoice::required) return {};
  const auto is_chosen = [&](const Tool& tool) { return tool.name == request.tool_choice_name; };
  if (request.tools.empty()) {
    return fail(ErrorKind::invalid_argument, "a tool call is required but no tools are offered",
                "tool_choice", "send tools, or leave tool_choice out");
  }
  if (!request.tool_choice_name.empty() && std::ranges::none_of(request.tools, is_chosen)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("there is no tool named \"{}\"", request.tool_choice_name),
                "tool_choice", "name one of the tools");
  }
  return {};
}

Status take_response_format(const ChatRequest& request, common_chat_templates_inputs& inputs) {
  const ResponseFormat& format = request.response_format;
  const bool may_call = !request.tools.empty() && request.tool_choice != ToolChoice::none;
  if (format.kind != ResponseFormat::Kind::text && may_call) {
    return fail(ErrorKind::invalid_argument,
                "a reply cannot be bound to a format and free to call tools at once",
                "response_format",
                "leave it out while tools are on offer, or set tool_choice to none");
  }
  switch (format.kind) {
    case ResponseFormat::Kind::text:
      return {};
    case ResponseFormat::Kind::json_object:
      // An empty schema would mean "no constraint" to the templates.
      inputs.json_schema = R"({"type":"object"})";
      return {};
    case ResponseFormat::Kind::json_schema:
      break;
  }
  constexpr const char* kField = "response_format.json_schema.schema";
  if (const auto problem = json_problem(format.schema, /*must_be_object=*/true)) {
    return fail(ErrorKind::invalid_argument, fmt::format("the schema {}", *problem), kField,
                "send a JSON schema object");
  }
  if (const auto problem = schema_problem(format.schema)) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the schema cannot be enforced: {}", *problem), kField);
  }
  inputs.json_schema = format.schema;
  if (common_json::parse(format.schema).empty()) inputs.json_schema = R"({"type":"object"})";
  return {};
}

Status take_template_arguments(const ChatRequest& request, common_chat_templates_inputs& inputs) {
  for (const auto& [name, value] : request.template_arguments) {
    if (const auto problem = json_problem(value, /*must_be_object=*/false)) {
      return fail(ErrorKind::invalid_argument, fmt::format("\"{}\" {}", name, *problem),
                  "chat_template_kwargs." + name);
    }
    if (name != "enable_thinking") continue;
    if (value != "true" && value != "false") {
      return fail(ErrorKind::invalid_argument, "enable_thinking is not a boolean",
                  "chat_template_kwargs.enable_thinking", "send true or false");
    }
    inputs.enable_thinking = value == "true";
  }
  inputs.chat_template_kwargs = request.template_arguments;
  if (request.enable_thinking) {
    inputs.enable_thinking = *request.enable_thinking;
    inputs.chat_template_kwargs.erase("enable_thinking");
  }
  return {};
}

}  // namespace

Result<common_chat_templates_inputs> make_template_inputs(const ChatRequest& request,
                                                          bool template_supports_parallel_calls) {
  if (request.messages.empty()) {
    return fail(ErrorKind::invalid_argument, "the conversation is empty", "messages",
                "send at least one message");
  }
  common_chat_templates_inputs inputs;
  inputs.messages = to_messages(request.messages);
  inputs.parallel_tool_calls = request.parallel_tool_calls && template_supports_parallel_calls;
  inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;  // reasoning apart from content
  for (const Status& status : {take_tools(request, inputs), take_response_format(request, inputs),
                               take_template_arguments(request, inputs)}) {
    if (!status) return std::unexpected(status.error());
  }
  return inputs;
}

common_chat_templates_inputs only_tool(const common_chat_templates_inputs& inputs,
                                       const std::string& name) {
  common_chat_templates_inputs result = inputs;
  std::erase_if(result.tools, [&](const common_chat_tool& tool) { return tool.name != name; });
  return result;
}

common_chat_templates_inputs with_messages(const common_chat_templates_inputs& inputs,
                                           std::vector<common_chat_msg> messages, bool with_tools) {
  common_chat_templates_inputs result;
  result.messages = std::move(messages);
  result.json_schema = inputs.json_schema;
  result.add_generation_prompt = inputs.add_generation_prompt;
  if (with_tools) result.tools = inputs.tools;
  result.tool_choice = inputs.tool_choice;
  result.parallel_tool_calls = inputs.parallel_tool_calls;
  result.reasoning_format = inputs.reasoning_format;
  result.enable_thinking = inputs.enable_thinking;
  result.chat_template_kwargs = inputs.chat_template_kwargs;
  return result;
}

void append_key(std::string& key, const std::string& part) {
  fmt::format_to(std::back_inserter(key), " {}:", part.size());
  key += part;
}

void append_key(std::string& key, const common_chat_templates_inputs& inputs) {
  fmt::format_to(std::back_inserter(key), " {}", inputs.chat_template_kwargs.size());
  for (const auto& [name, value] : inputs.chat_template_kwargs) {
    append_key(key, name);
    append_key(key, value);
  }
  for (const common_chat_tool& tool : inputs.tools) {
    append_key(key, tool.name);
    append_key(key, tool.description);
    append_key(key, tool.parameters);
  }
}

Error explain_refusal(const ChatRequest& request, const std::string& reason) {
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    const auto& calls = request.messages[i].tool_calls;
    for (std::size_t j = 0; j < calls.size(); ++j) {
      if (calls[j].arguments.empty()) continue;
      if (const auto problem = json_problem(calls[j].arguments, /*must_be_object=*/false)) {
        return {ErrorKind::invalid_argument,
                fmt::format("the arguments of the call of \"{}\" {}", calls[j].name, *problem),
                fmt::format("messages[{}].tool_calls[{}].function.arguments", i, j),
                "send the arguments as a JSON object"};
      }
    }
  }
  for (std::size_t i = 0; i < request.tools.size(); ++i) {
    if (request.tools[i].parameters.empty()) continue;
    if (const auto problem = schema_problem(request.tools[i].parameters)) {
      return {ErrorKind::invalid_argument,
              fmt::format("the parameters of tool \"{}\" cannot be enforced: {}",
                          request.tools[i].name, *problem),
              fmt::format("tools[{}].function.parameters", i)};
    }
  }
  return {ErrorKind::invalid_argument,
          fmt::format("the model's chat template refuses this conversation: {}", reason),
          "messages"};
}

}  // namespace samovar
