#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "api/chat_request_parts.h"
#include "api/responses_request_parts.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;
using Kind = InputItem::Kind;

constexpr const char* kItemTypes =
    "use message, reasoning, function_call, function_call_output or item_reference";

// The texts of a list of parts of one type ("summary_text"), joined.
std::string read_texts(const JsonObject& item, const char* field, std::string_view type) {
  const Json* list = item.array(field, limits::messages_max);
  std::string text;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const JsonObject part((*list)[i], fmt::format("{}[{}]", item.path(field), i), item.problem());
    const std::string found = part.required_string("type");
    if (found != type) {
      item.problem().report(fmt::format("a part of type \"{}\" is not supported here", found),
                            part.path("type"), fmt::format("use \"{}\"", type));
    }
    if (i > 0) text += '\n';
    text += part.required_string("text");
  }
  return text;
}

// Its own words first; then what this server put into encrypted_content; then the summary.
ChatMessage read_reasoning(const JsonObject& item, std::vector<std::string>& left_out) {
  ChatMessage message{.role = Role::assistant};
  message.reasoning = read_texts(item, "content", "reasoning_text");
  const std::string summary = read_texts(item, "summary", "summary_text");
  const auto encrypted = item.string("encrypted_content");
  if (!message.reasoning.empty()) return message;
  if (encrypted && !encrypted->empty()) {
    if (auto text = decode_reasoning(*encrypted)) {
      message.reasoning = std::move(*text);
      return message;
    }
    left_out.push_back(item.path("encrypted_content") + " (of another server)");
  }
  message.reasoning = summary;
  return message;
}

ChatMessage read_call(const JsonObject& item) {
  ChatMessage message{.role = Role::assistant};
  std::string arguments = item.required_string("arguments");
  if (arguments.empty()) arguments = "{}";
  message.tool_calls.push_back({.id = item.required_string("call_id"),
                                .name = item.required_string("name"),
                                .arguments = std::move(arguments)});
  return message;
}

// A string, or parts of text; read as the content of a message of the tool.
ChatMessage read_output(const JsonObject& item) {
  ChatMessage message{.role = Role::tool};
  message.tool_call_id = item.required_string("call_id");
  const Json* output = item.find("output");
  if (output == nullptr) {
    item.problem().report(fmt::format("'{}' is missing", item.path("output")), item.path("output"),
                          "send what the call gave, as a string; \"\" if that was nothing");
    return message;
  }
  if (output->is_string()) {
    message.content = output->get_ref<const std::string&>();
    return message;
  }
  const Json* list = item.array("output", limits::messages_max);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const JsonObject part((*list)[i], fmt::format("{}[{}]", item.path("output"), i),
                          item.problem());
    const std::string type = part.required_string("type");
    if (type != "input_text" && type != "output_text" && type != "text") {
      item.problem().report(fmt::format("content of type \"{}\" is not supported", type),
                            part.path("type"), "send parts of type \"input_text\"");
    }
    if (i > 0) message.content += '\n';
    message.content += part.required_string("text");
  }
  return message;
}

ChatMessage read_message_item(const JsonObject& item) {
  ChatMessage message = read_message(item);
  if (message.role == Role::tool) {
    item.problem().report(fmt::format("'{}' is \"tool\"", item.path("role")), item.path("role"),
                          "send what a call gave as an item of type \"function_call_output\"");
  }
  message.tool_calls.clear();  // and the reasoning: they are items of their own here
  message.reasoning.clear();
  return message;
}

bool is_system(const ChatMessage& message) {
  return message.role == Role::system || message.role == Role::developer;
}

}  // namespace

InputItem read_input_item(const JsonObject& item, std::vector<std::string>& left_out) {
  const std::string type = item.string("type").value_or("message");
  if (type == "message") return {Kind::message, read_message_item(item)};
  if (type == "reasoning") return {Kind::reasoning, read_reasoning(item, left_out)};
  if (type == "function_call") return {Kind::call, read_call(item)};
  if (type == "function_call_output") return {Kind::output, read_output(item)};
  item.problem().report(fmt::format("an item of type \"{}\" is not supported", type),
                        item.path("type"), kItemTypes);
  return {};
}

InputItem::Kind kind_of(const ChatMessage& message) {
  if (message.role == Role::tool) return Kind::output;
  if (!message.tool_calls.empty()) return Kind::call;
  return message.reasoning.empty() ? Kind::message : Kind::reasoning;
}

void add_input_item(InputItem item, std::vector<ChatMessage>& messages) {
  ChatMessage* last = messages.empty() ? nullptr : &messages.back();
  if (last != nullptr && last->role != Role::assistant) last = nullptr;
  const bool open = last != nullptr && last->content.empty() && last->tool_calls.empty();
  switch (item.kind) {
    case Kind::reasoning:
      if (item.message.reasoning.empty()) return;  // nothing of it can be read
      if (!open) break;
      if (!last->reasoning.empty()) last->reasoning += '\n';
      last->reasoning += item.message.reasoning;
      return;
    case Kind::message:
      if (item.message.role != Role::assistant || !open || last->reasoning.empty()) break;
      last->content = std::move(item.message.content);
      return;
    case Kind::call:
      if (last == nullptr) break;
      last->tool_calls.push_back(std::move(item.message.tool_calls.front()));
      return;
    case Kind::output:
      break;
  }
  messages.push_back(std::move(item.message));
}

void join_system_messages(const std::string& instructions, std::vector<ChatMessage>& messages) {
  std::vector<ChatMessage> joined;
  if (!instructions.empty()) joined.push_back({.role = Role::system, .content = instructions});
  std::size_t count = 0;
  for (; count < messages.size() && is_system(messages[count]); ++count) {
    if (joined.empty()) {
      joined.push_back(std::move(messages[count]));
    } else {
      joined[0].content += "\n\n" + messages[count].content;
    }
  }
  messages.erase(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(count));
  messages.insert(messages.begin(), joined.begin(), joined.end());
}

void read_input_items(const Json& list, const std::string& path, Problem& problem,
                      const ResponseHistory* history, ResponsesRequest& request) {
  for (std::size_t i = 0; i < list.size() && !problem.found(); ++i) {
    const JsonObject item(list[i], fmt::format("{}[{}]", path, i), problem);
    const std::string type = item.string("type").value_or("");
    // A reference may come without a type: then it has an id and nothing else.
    const bool bare = type.empty() && item.find("id") != nullptr && item.find("role") == nullptr;
    if (type != "item_reference" && !bare) {
      add_input_item(read_input_item(item, request.left_out), request.chat.messages);
      continue;
    }
    const std::string id = item.required_string("id");
    std::string message = "there are no stored items";
    if (history != nullptr) {
      if (const auto found = history->item(id)) {
        const JsonObject stored(**found, item.path("id"), problem);
        add_input_item(read_input_item(stored, request.left_out), request.chat.messages);
        continue;
      } else {
        message = found.error().message;
      }
    }
    problem.report(std::move(message), item.path("id"), "send the item itself");
  }
}

}  // namespace samovar
