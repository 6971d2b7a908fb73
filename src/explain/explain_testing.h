// A small chat template and tokeniser for the tests of explain/, and turns made with them. The
// template writes tools, then the system text, then messages in ChatML, and drops reasoning before
// the last user message, as Qwen's does. A token is a word with the space before it, or a mark.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/explain.h"
#include "explain/turn_shape.h"

namespace samovar::testing {

inline ChatMessage message(Role role, std::string content) {
  ChatMessage result;
  result.role = role;
  result.content = std::move(content);
  return result;
}

inline ChatMessage thinking(std::string reasoning, std::string content) {
  ChatMessage result = message(Role::assistant, std::move(content));
  result.reasoning = std::move(reasoning);
  return result;
}

// `count` words that no other text has in this order.
inline std::string words(int count, std::string_view topic) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i == 0 ? "" : " ") + std::string(topic) + std::to_string(i * 7919 % 1009);
  }
  return text;
}

inline Tool tool(std::string name, std::string schema = R"({"type":"object","properties":{}})") {
  return {name, "Does " + words(80, name) + ".", std::move(schema)};
}

struct Template {
  bool keeps_reasoning = false;
  std::string suffix;  // written behind the system message, in the template's own name
};

inline std::string render(const ChatRequest& request, const Template& how = {}) {
  std::string text = "<|im_start|>system\n";
  for (const Tool& one : request.tools) {
    text += R"({"name": ")" + one.name + R"(", "description": ")" + one.description +
            R"(", "parameters": )" + one.parameters + "}\n";
  }
  std::size_t first = 0;
  if (!request.messages.empty() && request.messages[0].role == Role::system) {
    text += request.messages[0].content;
    first = 1;
  }
  text += how.suffix + "<|im_end|>\n";
  std::size_t last_user = 0;
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    if (request.messages[i].role == Role::user) last_user = i;
  }
  for (std::size_t i = first; i < request.messages.size(); ++i) {
    const ChatMessage& one = request.messages[i];
    text += "<|im_start|>" + std::string(to_string(one.role)) + "\n";
    if (!one.reasoning.empty() && (how.keeps_reasoning || i > last_user)) {
      text += "<think>\n" + one.reasoning + "\n</think>\n";
    }
    text += one.content;
    for (const ToolCall& call : one.tool_calls) {
      text += "\n<tool_call>" + call.name + " " + call.arguments + "</tool_call>";
    }
    text += "<|im_end|>\n";
  }
  return text + "<|im_start|>assistant\n";
}

inline Tokens tokenize(std::string_view text) {
  Tokens tokens;
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text.substr(at).starts_with("<|im_start|>")) {
      end = at + 12;
    } else if (text.substr(at).starts_with("<|im_end|>")) {
      end = at + 10;
    } else if (word(text[at]) || text[at] == ' ') {
      while (end < text.size() && word(text[end])) ++end;
    }
    const auto hash = std::hash<std::string_view>{}(text.substr(at, end - at));
    tokens.push_back(static_cast<Token>(hash & 0x7FFFFFFFU));
    at = end;
  }
  return tokens;
}

inline Prompt prompt_of(const std::string& rendered) {
  Prompt prompt;
  constexpr std::string_view kStart = "<|im_start|>";
  // No token goes over a message's start, so the pieces' tokens are those of the whole.
  for (std::size_t at = rendered.find(kStart); at != std::string::npos;) {
    prompt.message_starts.push_back(prompt.size());
    const std::size_t next = rendered.find(kStart, at + 1);
    const Tokens piece = tokenize(std::string_view(rendered).substr(at, next - at));
    prompt.tokens.insert(prompt.tokens.end(), piece.begin(), piece.end());
    at = next;
  }
  prompt.primer_start = prompt.message_starts.back();
  if (prompt.message_starts.size() > 1) prompt.system_end = prompt.message_starts[1];
  return prompt;
}

enum class Keep { all, tokens, nothing };  // "tokens": and no texts

inline TurnShape turn(const ChatRequest& request, Keep keep, const Template& how = {}) {
  std::string rendered = render(request, how);
  Prompt prompt = prompt_of(rendered);
  ShapeOrigin origin;
  origin.turn_id = "turn-1";
  origin.model = "model";
  TurnShape shape = make_shape(request, prompt, origin);
  if (keep == Keep::all) {
    shape.request = std::make_shared<const ChatRequest>(request);
    shape.rendered = std::make_shared<const std::string>(std::move(rendered));
  }
  if (keep != Keep::nothing)
    shape.tokens = std::make_shared<const Tokens>(std::move(prompt.tokens));
  return shape;
}

// The turn as its reply left it: text and tokens of the reply go on from the primer.
inline void reply_to(TurnShape& shape, const ChatMessage& reply, Keep keep) {
  std::string text;
  if (!reply.reasoning.empty()) text += "<think>\n" + reply.reasoning + "\n</think>\n";
  text += reply.content + "<|im_end|>";
  const Tokens sampled = tokenize(text);
  add_reply(shape, reply, static_cast<Position>(sampled.size()), true);
  if (keep == Keep::all) shape.reply_text = std::make_shared<const ChatMessage>(reply);
  if (keep == Keep::nothing) return;
  Tokens tokens = *shape.tokens;
  tokens.insert(tokens.end(), sampled.begin(), sampled.end());
  shape.tokens = std::make_shared<const Tokens>(std::move(tokens));
}

}  // namespace samovar::testing
