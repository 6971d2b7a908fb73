#include "bench/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace samovar::bench {

double quantile(std::span<const double> sorted, double share) {
  assert(!sorted.empty());
  const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

std::optional<Summary> summarise(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  Summary summary;
  summary.count = values.size();
  summary.median = quantile(values, 0.5);
  summary.p25 = quantile(values, 0.25);
  summary.p75 = quantile(values, 0.75);
  summary.p90 = quantile(values, 0.9);
  summary.p99 = quantile(values, 0.99);
  summary.min = values.front();
  summary.max = values.back();
  return summary;
}

}  // namespace samovar::bench
