// A chat request as every dialect translates it, and a reply as every dialect formats it. Values
// without JSON: where JSON is content (tool schemas, tool arguments, template arguments) it travels
// as text and is only read again by the chat template.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace samovar {

enum class Role { system, developer, user, assistant, tool };
[[nodiscard]] const char* to_string(Role role);

struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  // JSON object, as text
};

struct ChatMessage {
  Role role = Role::user;
  std::string content;               // text parts joined
  std::string reasoning;             // assistant only
  std::vector<ToolCall> tool_calls;  // assistant only
  std::string tool_call_id;          // tool only
  std::string name;                  // tool: the function's name, where the client sent it
};

struct Tool {
  std::string name;
  std::string description;
  std::string parameters;  // JSON schema, as text
};

enum class ToolChoice { automatic, none, required };

struct ResponseFormat {
  enum class Kind { text, json_object, json_schema };
  Kind kind = Kind::text;
  std::string schema;  // JSON schema, as text; Kind::json_schema only
};

struct ChatRequest {
  std::vector<ChatMessage> messages;
  std::vector<Tool> tools;
  ToolChoice tool_choice = ToolChoice::automatic;
  std::string tool_choice_name;  // with ToolChoice::required: only this tool may be called
  bool parallel_tool_calls = true;
  ResponseFormat response_format;
  std::map<std::string, std::string> template_arguments;  // chat_template_kwargs: name -> JSON text
  std::optional<bool> enable_thinking;                    // nullopt: the template's default
};

// How a reply is read, in a form that can be kept and loaded again (chat/reply_syntax.h).
struct SavedSyntax {
  int format = 0;
  std::string generation_prompt;
  std::string parser;
  std::vector<std::string> stop;  // the format's own stop strings
};

// A piece of a reply, in order. Fields are what is new; empty ones have nothing new.
struct ReplyDelta {
  std::string reasoning;
  std::string content;
  struct Call {
    std::size_t index = 0;
    std::string id;         // with the first piece of a call; empty if the format has none
    std::string name;       // with the first piece of a call
    std::string arguments;  // the next bytes of the arguments' JSON text
  };
  std::optional<Call> tool_call;

  [[nodiscard]] bool empty() const {
    return reasoning.empty() && content.empty() && !tool_call.has_value();
  }
};

}  // namespace samovar
