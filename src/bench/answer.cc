// What an Answer says beyond what came.
#include "bench/target.h"

namespace samovar::bench {

std::optional<double> Answer::first_ms() const {
  if (pieces.empty()) return std::nullopt;
  return to_ms(pieces.front() - sent);
}

std::int64_t Answer::reply_tokens() const {
  return figures.reply_tokens.value_or(static_cast<std::int64_t>(pieces.size()));
}

std::optional<double> Answer::decode_per_second() const {
  if (pieces.size() < 2 || pieces.back() <= pieces.front() || reply_tokens() < 2) {
    return std::nullopt;
  }
  return static_cast<double>(reply_tokens() - 1) * static_cast<double>(kSecond) /
         static_cast<double>(pieces.back() - pieces.front());
}

}  // namespace samovar::bench
