// What an Answer says beyond what came.
#include "bench/target.h"

namespace samovar::bench {

std::optional<double> Answer::first_ms() const {
  if (pieces.empty()) return std::nullopt;
  return to_ms(pieces.front() - sent);
}

bool pieces_hold_several(std::int64_t tokens, std::int64_t pieces) {
  return pieces * 10 < tokens * 9;
}

std::optional<double> Answer::decode_per_second() const {
  const std::int64_t tokens = figures.reply_tokens.value_or(0);
  if (pieces.size() < 2 || pieces.back() <= pieces.front() || tokens < 2) return std::nullopt;
  if (pieces_hold_several(tokens, static_cast<std::int64_t>(pieces.size()))) return std::nullopt;
  return static_cast<double>(tokens - 1) * static_cast<double>(kSecond) /
         static_cast<double>(pieces.back() - pieces.front());
}

}  // namespace samovar::bench
