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

// Whether both are of one conversation: they share more than a system prompt, which others have
// too.
[[nodiscard]] inline bool same_conversation(const Prompt& a, const Prompt& b) {
  const Position system = std::min(a.system_end, b.system_end);
  return shared_prefix(a.tokens, b.tokens) > std::max(system, kReuseMin);
}

}  // namespace samovar
