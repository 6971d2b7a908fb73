#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/json_text.h"
#include "api/messages_request.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

// How a tool's text says by itself that the tool failed.
constexpr std::array<std::string_view, 4> kErrorSigns = {"Error", "error", "<error",
                                                         "<tool_use_error>"};

void unsupported(const JsonObject& block, const std::string& type, std::string remedy) {
  block.problem().report(fmt::format("content of type \"{}\" is not supported here", type),
                         block.path("type"), std::move(remedy));
}

// Texts of one message are joined as the chat completions dialect joins parts.
void append_line(std::string& text, std::string_view line, bool& first) {
  if (!std::exchange(first, false)) text += '\n';
  text += line;
}

// Calls `each` for every block of an array, or for a string as if it were one text block.
template <class Each>
void for_blocks(const JsonObject& owner, const char* name, Each each) {
  const Json* content = owner.find(name);
  if (content == nullptr) return;
  if (content->is_string()) {
    const Json block = {{"type", "text"}, {"text", *content}};
    each(JsonObject(block, owner.path(name), owner.problem()));
    return;
  }
  if (!content->is_array()) {
    owner.problem().report(fmt::format("'{}' must be a string or an array of blocks, not {}",
                                       owner.path(name), json_type_name(*content)),
                           owner.path(name));
    return;
  }
  for (std::size_t i = 0; i < content->size() && !owner.problem().found(); ++i) {
    each(JsonObject((*content)[i], fmt::format("{}[{}]", owner.path(name), i), owner.problem()));
  }
}

// A document may be plain text; a scanned one cannot be read here.
std::string document_text(const JsonObject& block) {
  const auto citations = block.object("citations");
  if (citations && citations->boolean("enabled").value_or(false)) {
    block.problem().report("citations are not made here", block.path("citations"),
                           "leave the field out");
  }
  const auto source = block.object("source");
  if (source && source->string("type") == "text") {
    std::string text;
    for (const char* name : {"title", "context"}) {
      if (const auto line = block.string(name)) text += *line + "\n";
    }
    return text + source->required_string("data");
  }
  unsupported(block, "document", "send its text: {\"type\": \"text\", \"text\": ...}");
  return {};
}

// What a tool said. A template knows no failed results: the model must read it from the text.
std::string result_text(const JsonObject& block) {
  std::string text;
  bool first = true;
  for_blocks(block, "content", [&](const JsonObject& part) {
    const std::string type = part.required_string("type");
    if (type == "text") {
      append_line(text, part.required_string("text"), first);
    } else if (type == "document") {
      append_line(text, document_text(part), first);
    } else {
      unsupported(part, type, "send results as text");
    }
  });
  const bool failed = block.boolean("is_error").value_or(false);
  const bool says_so = std::ranges::any_of(
      kErrorSigns, [&](std::string_view sign) { return text.starts_with(sign); });
  return failed && !says_so ? "Error: " + text : text;
}

// Reads the blocks of one message.
class BlockReader {
 public:
  BlockReader(Role role, ParsedMessages& messages) : role_(role), messages_(messages) {}

  void read(const JsonObject& block) {
    const std::string type = block.required_string("type");
    if (type == "text") {
      add_text(block.required_string("text"));
    } else if (role_ == Role::assistant) {
      read_assistant(block, type);
    } else if (role_ == Role::user && type == "tool_result") {
      read_result(block);
    } else if (role_ == Role::user && type == "document") {
      add_text(document_text(block));
    } else {
      unsupported(block, type, "this model reads text, tool_use and tool_result");
    }
  }

 private:
  void read_assistant(const JsonObject& block, const std::string& type) {
    ChatMessage& message = messages_.front();
    if (type == "thinking") {
      message.reasoning += block.required_string("thinking");
    } else if (type == "redacted_thinking") {
      // Another provider's, readable by that one only; there is no text in it to leave out.
    } else if (type == "tool_use") {
      const Json* input = block.find("input");
      if (input != nullptr && !input->is_object()) {
        block.problem().report(fmt::format("'{}' must be an object, not {}", block.path("input"),
                                           json_type_name(*input)),
                               block.path("input"));
      }
      message.tool_calls.push_back({.id = block.required_string("id"),
                                    .name = block.required_string("name"),
                                    .arguments = input == nullptr ? "{}" : json_text(*input)});
    } else {
      unsupported(block, type, "an assistant's message has text, thinking and tool_use");
    }
  }

  void read_result(const JsonObject& block) {
    ChatMessage result{.role = Role::tool};
    result.tool_call_id = block.required_string("tool_use_id");
    result.content = result_text(block);
    messages_.push_back(std::move(result));
  }

  // An assistant's texts stood around its other blocks and were one text when they were sampled.
  // What a user says after tool results is a message of its own; but a reminder that the client put
  // there is not the user's: as a message it would be taken for the next question, before which
  // templates drop the reasoning of the loop that still runs.
  void add_text(std::string text) {
    if (role_ == Role::assistant) {
      messages_.front().content += text;
    } else if (!messages_.empty() && messages_.back().role == Role::tool &&
               text.starts_with("<system-reminder>")) {
      messages_.back().content += "\n\n" + text;
    } else if (!messages_.empty() && messages_.back().role == role_) {
      messages_.back().content += '\n' + text;
    } else {
      messages_.push_back({.role = role_, .content = std::move(text)});
    }
  }

  const Role role_;
  ParsedMessages& messages_;
};

}  // namespace

ParsedMessages read_blocks_message(const JsonObject& fields) {
  ParsedMessages messages;
  const std::string name = fields.required_string("role");
  const Role role = name == "assistant" ? Role::assistant
                    : name == "system"  ? Role::system
                                        : Role::user;
  if (role == Role::user && name != "user") {
    fields.problem().report(fmt::format("'{}' is \"{}\"", fields.path("role"), name),
                            fields.path("role"), "use user, assistant or system");
  }
  if (fields.find("content") == nullptr) {
    fields.problem().report(fmt::format("'{}' is missing", fields.path("content")),
                            fields.path("content"), "send a string or an array of blocks");
  }
  if (role == Role::assistant) messages.push_back({.role = Role::assistant});
  BlockReader reader(role, messages);
  for_blocks(fields, "content", [&](const JsonObject& block) { reader.read(block); });
  if (messages.empty()) messages.push_back({.role = role});
  return messages;
}

std::string read_system(const JsonObject& body) {
  std::string text;
  bool first = true;
  for_blocks(body, "system", [&](const JsonObject& block) {
    const std::string type = block.required_string("type");
    if (type != "text") return unsupported(block, type, "a system prompt has text blocks");
    append_line(text, block.required_string("text"), first);
  });
  return text;
}

}  // namespace samovar
