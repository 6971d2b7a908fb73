// Median and spread of a few measurements. Quantiles are interpolated linearly between the values
// around them, so the median of an even count is the middle of two. Pure; any thread. An empty
// sample has no summary; values that are not finite must not come in.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace samovar::bench {

// In the unit of the values. The spread that tables show is `low` to `high`, the quartiles; with
// fewer than five values, which have no quartiles to speak of, the least and the greatest.
struct Summary {
  std::size_t count = 0;
  double median = 0;
  double p25 = 0;
  double p75 = 0;
  double p90 = 0;
  double p99 = 0;
  double min = 0;
  double max = 0;

  [[nodiscard]] double low() const { return count < 5 ? min : p25; }
  [[nodiscard]] double high() const { return count < 5 ? max : p75; }
};

[[nodiscard]] std::optional<Summary> summarise(std::vector<double> values);

// `sorted` is not empty and ascending; `share` is 0 to 1.
[[nodiscard]] double quantile(std::span<const double> sorted, double share);

}  // namespace samovar::bench
