#include "hub/backoff.h"

#include <algorithm>
#include <charconv>

namespace samovar::hub {
namespace {

constexpr Micros kLongest = 30 * kSecond;
constexpr int kAskedMost = 300;  // seconds

}  // namespace

std::optional<Micros> Backoff::next(std::string_view retry_after) {
  ++failures_;
  if (failures_ >= tries_) return std::nullopt;
  int asked = 0;
  std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(), asked);
  const Micros own = std::min(kLongest, kSecond << std::min(failures_ - 1, 10));
  return std::max(own, std::clamp(asked, 0, kAskedMost) * kSecond);
}

}  // namespace samovar::hub
