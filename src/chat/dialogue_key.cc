#include "chat/dialogue_key.h"

#include <array>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "chat/canonical_json.h"

namespace samovar {
namespace {

constexpr std::string_view kVersion = "samovar dialogue 1";

class Chain {
 public:
  Chain() { text(kVersion); }

  // Each text with its length before it, so that no two messages run into one another.
  void text(std::string_view bytes) {
    number(bytes.size());
    hasher_.update({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  }
  void number(std::uint64_t value) {
    std::array<std::uint8_t, 8> bytes{};
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(value);
      value >>= 8U;
    }
    hasher_.update(bytes);
  }
  [[nodiscard]] Sha256 digest() const { return hasher_.digest(); }

 private:
  Sha256Hasher hasher_;
};

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::vector<CallMeaning> meaning_of(const std::vector<ToolCall>& calls) {
  std::vector<CallMeaning> result;
  result.reserve(calls.size());
  for (const ToolCall& call : calls) {
    result.push_back({call.name, canonical_arguments(call.arguments)});
  }
  return result;
}

DialogueKeys dialogue_keys(const std::vector<ChatMessage>& messages) {
  DialogueKeys keys;
  Chain chain;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& message = messages[i];
    if (message.role == Role::system || message.role == Role::developer) continue;
    const bool is_reply = message.role == Role::assistant;
    if (is_reply) keys.replies.push_back({i, chain.digest(), meaning_of(message.tool_calls)});
    chain.text(to_string(message.role));
    chain.text(is_reply ? trimmed(message.content) : std::string_view(message.content));
    if (!is_reply) continue;
    chain.number(keys.replies.back().calls.size());
    for (const CallMeaning& call : keys.replies.back().calls) {
      chain.text(call.name);
      chain.text(call.arguments);
    }
  }
  keys.whole = chain.digest();
  return keys;
}

}  // namespace samovar
