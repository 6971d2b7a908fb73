// What the fuzz targets of the dialects compare requests by. Pure.
#pragma once

#include <cstdlib>
#include <string>

#include "core/chat.h"

namespace samovar::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

// All that a conversation says, as one text.
inline std::string told(const ChatRequest& chat) {
  std::string out;
  for (const ChatMessage& message : chat.messages) {
    out += '\n';
    for (const std::string& text : {std::string(to_string(message.role)), message.content,
                                    message.reasoning, message.tool_call_id, message.name}) {
      out += text + '\x1F';
    }
    for (const ToolCall& call : message.tool_calls) {
      out += call.id + '\x1F' + call.name + '\x1F' + call.arguments + '\x1F';
    }
  }
  for (const Tool& tool : chat.tools) {
    out += '\n' + tool.name + '\x1F' + tool.description + '\x1F' + tool.parameters;
  }
  return out;
}

}  // namespace samovar::fuzz
