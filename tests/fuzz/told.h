// What the fuzz targets of the dialects compare requests by. Pure.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "api/message_memo.h"
#include "base/bytes.h"
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

// A body must be refused with words, or become the same request whether or not its messages were
// seen before. `parse(body, memo)`: memo may be null.
template <class Parse>
void require_same_from_memory(Bytes input, const Parse& parse) {
  const std::string_view body(reinterpret_cast<const char*>(input.data()), input.size());
  const auto plain = parse(body, nullptr);
  MessageMemo memo;
  for (int i = 0; i < 2; ++i) {
    const auto again = parse(body, &memo);
    require(again.has_value() == plain.has_value());
    if (plain) {
      require(told(again->chat) == told(plain->chat));
      require(again->stop == plain->stop && again->max_tokens == plain->max_tokens);
    } else {
      require(again.error().describe() == plain.error().describe());
      require(!plain.error().message.empty());
    }
  }
  require(!plain || !plain->chat.messages.empty());
}

}  // namespace samovar::fuzz
