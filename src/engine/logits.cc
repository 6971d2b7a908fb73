#include "engine/logits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace samovar {
namespace {

constexpr std::size_t kLanes = 16;

// Largest logit, or NaN if there is a NaN anywhere. Lanes let the compiler use vector registers,
// which makes 150,000 logits a matter of some tens of microseconds.
float largest(std::span<const float> logits) {
  std::array<float, kLanes> most{};
  most.fill(-std::numeric_limits<float>::infinity());
  std::array<int, kLanes> unordered{};
  std::size_t i = 0;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float x = logits[i + lane];
      most[lane] = x > most[lane] ? x : most[lane];
      unordered[lane] |= static_cast<int>(x != x);
    }
  }
  for (; i < logits.size(); ++i) {
    most[0] = logits[i] > most[0] ? logits[i] : most[0];
    unordered[0] |= static_cast<int>(std::isnan(logits[i]));
  }
  if (std::ranges::any_of(unordered, [](int flag) { return flag != 0; })) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  return *std::ranges::max_element(most);
}

}  // namespace

Token most_likely(std::span<const float> logits) {
  const float most = largest(logits);
  if (!std::isfinite(most)) {
    return kBrokenToken;
  }
  return static_cast<Token>(std::ranges::find(logits, most) - logits.begin());
}

void fill_logprobs(std::span<const float> logits, int count, Sampled& result) {
  const double most = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (const float x : logits) {
    sum += std::exp(static_cast<double>(x) - most);
  }
  const double log_total = most + std::log(sum);
  const auto logprob = [&](Token token) {
    return static_cast<float>(logits[static_cast<std::size_t>(token)] - log_total);
  };
  result.logprob = logprob(result.token);

  const auto better = [&](Token a, Token b) {
    const float x = logits[static_cast<std::size_t>(a)];
    const float y = logits[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::vector<Token> best(logits.size());
  for (std::size_t i = 0; i < best.size(); ++i) {
    best[i] = static_cast<Token>(i);
  }
  const auto kept = std::min(best.size(), static_cast<std::size_t>(std::max(count, 0)));
  std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(kept), best.end(),
                    better);
  result.top.clear();
  for (std::size_t i = 0; i < kept; ++i) {
    result.top.push_back({.token = best[i], .logprob = logprob(best[i])});
  }
}

}  // namespace samovar
