#include "replay/distributions.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace samovar::replay {
namespace {

constexpr std::array kAppended = {Quantile{0.0, 30},      Quantile{0.1, 140},
                                  Quantile{0.5, 795},     Quantile{0.9, 4'900},
                                  Quantile{0.99, 12'800}, Quantile{1.0, 24'000}};
constexpr std::array kUser = {Quantile{0.0, 12}, Quantile{0.5, 220}, Quantile{0.9, 1'800},
                              Quantile{0.99, 4'800}, Quantile{1.0, 10'000}};
constexpr std::array kGap = {Quantile{0.0, 0.2},  Quantile{0.5, 5},       Quantile{0.854, 60},
                             Quantile{0.94, 300}, Quantile{0.986, 3'600}, Quantile{1.0, 86'400}};
constexpr std::array kReply = {Quantile{0.0, 20}, Quantile{0.5, 150}, Quantile{0.9, 700},
                               Quantile{0.99, 2'500}, Quantile{1.0, 6'000}};

}  // namespace

double at_part(std::span<const Quantile> quantiles, double part) {
  part = std::clamp(part, 0.0, 1.0);
  std::size_t above = 1;
  while (above + 1 < quantiles.size() && quantiles[above].part < part) ++above;
  const Quantile& low = quantiles[above - 1];
  const Quantile& high = quantiles[above];
  const double along = (part - low.part) / (high.part - low.part);
  return low.value * std::exp(along * std::log(high.value / low.value));
}

std::span<const Quantile> appended_tokens() { return kAppended; }
std::span<const Quantile> user_tokens() { return kUser; }
std::span<const Quantile> gap_seconds() { return kGap; }
std::span<const Quantile> reply_tokens() { return kReply; }

double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11U) * 0x1.0p-53; }

int geometric(std::mt19937_64& random, double mean) {
  if (mean <= 1) return 1;
  const double drawn = std::log1p(-uniform(random)) / std::log1p(-1 / mean);
  return 1 + static_cast<int>(std::min(drawn, 10'000.0));
}

double gap_part(std::mt19937_64& random, bool person, double people) {
  const double share = std::clamp(people, 0.0, 0.5);
  const double border = 1 - 2 * share;  // above it one of two requests is a person's
  if (person) return border + (1 - border) * uniform(random);
  const bool below = uniform(random) < border / (1 - share);
  const double where = uniform(random);
  return below ? border * where : border + (1 - border) * where;
}

}  // namespace samovar::replay
