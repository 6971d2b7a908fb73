// A chat template for tests of re-warms: a token a byte, reasoning kept only after the last message
// of the user. Values and functions; any thread.
#pragma once

#include <string>

#include "core/chat.h"
#include "core/prompt.h"

namespace samovar::testing {

inline constexpr Token kOpens = 1;      // opens a message; its role follows
inline constexpr Token kAssistant = 5;  // other roles: 6 and on

inline void append(Tokens& tokens, const std::string& text) {
  for (const char byte : text) tokens.push_back(1000 + static_cast<unsigned char>(byte));
}

// `drops_reasoning` false: a template that keeps everything.
inline Prompt render_bytes(const ChatRequest& request, bool drops_reasoning = true) {
  std::size_t last_user = 0;
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    if (request.messages[i].role == Role::user) last_user = i;
  }
  Prompt prompt;
  const auto open = [&](Token role) {
    prompt.message_starts.push_back(prompt.size());
    if (role == kAssistant) prompt.reply_starts.push_back(prompt.size());
    prompt.tokens.push_back(kOpens);
    prompt.tokens.push_back(role);
  };
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    const ChatMessage& message = request.messages[i];
    const bool reply = message.role == Role::assistant;
    open(reply ? kAssistant : 6 + static_cast<Token>(message.role));
    if (i == 1) prompt.system_end = prompt.message_starts.back();
    if (i > last_user || !drops_reasoning) append(prompt.tokens, message.reasoning);
    append(prompt.tokens, message.content);
    for (const ToolCall& call : message.tool_calls) append(prompt.tokens, call.arguments);
  }
  prompt.primer_start = prompt.size();
  open(kAssistant);
  return prompt;
}

// What the model sampled when it gave `reply`, the end token included.
inline Tokens sampled(const ChatMessage& reply) {
  Tokens tokens;
  append(tokens, reply.reasoning);
  append(tokens, reply.content);
  for (const ToolCall& call : reply.tool_calls) append(tokens, call.arguments);
  tokens.push_back(2);
  return tokens;
}

}  // namespace samovar::testing
