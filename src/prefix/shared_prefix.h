// What two prompts have in common. Pure; any thread.
#pragma once

#include <algorithm>

#include "core/prompt.h"

namespace samovar {

// Sharing fewer tokens than this is a coincidence of the template, not worth a plan.
inline constexpr Position kReuseMin = 16;

[[nodiscard]] inline Position shared_prefix(TokenSpan a, TokenSpan b) {
  const auto difference = std::ranges::mismatch(a, b);
  return static_cast<Position>(difference.in1 - a.begin());
}

// Whether both are of one conversation, as far as the tokens tell: they share all that comes before
// the first reply.
[[nodiscard]] inline bool same_conversation(const Prompt& a, const Prompt& b) {
  Position first = kReuseMin;
  for (const Prompt* prompt : {&a, &b}) {
    if (!prompt->reply_starts.empty()) first = std::max(first, prompt->reply_starts.front());
  }
  return shared_prefix(a.tokens, b.tokens) >= first;
}

}  // namespace samovar
