#include "bench/cost_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace samovar::bench {
namespace {

constexpr double kGuess = 1000;     // ms, before anything is known
constexpr double kExponent = 1.1;   // of one measurement: attention grows with the context
constexpr std::int64_t kApart = 2;  // times as long; nearer lengths say nothing of the exponent
constexpr double kFollowUpShare = 0.01;

}  // namespace

void CostModel::cold(const std::string& target, std::int64_t tokens, double ms) {
  if (tokens > 0 && ms > 0) cold_[target][tokens] = ms;
}

void CostModel::other(const std::string& target, Step step, std::int64_t depth, double ms) {
  others_[{target, step, depth}] = ms;
}

double CostModel::predict(const std::string& target, Step step, std::int64_t depth) const {
  if (const auto known = others_.find({target, step, depth}); known != others_.end()) {
    return known->second;
  }
  const auto found = cold_.find(target);
  if (found == cold_.end() || found->second.empty() || depth <= 0) return kGuess;
  const auto& seen = found->second;
  auto above = seen.lower_bound(depth);
  if (above == seen.end()) above = std::prev(above);
  double exponent = kExponent;
  auto below = above;
  while (below != seen.begin() && below->first * kApart > above->first) --below;
  if (below->first * kApart <= above->first) {
    exponent = std::log(above->second / below->second) /
               std::log(static_cast<double>(above->first) / static_cast<double>(below->first));
    exponent = std::clamp(exponent, 1.0, 2.0);
  }
  const double whole =
      above->second *
      std::pow(static_cast<double>(depth) / static_cast<double>(above->first), exponent);
  switch (step) {
    case Step::cold:
      return whole;
    case Step::restart_warm:  // a server without a store computes all of it again
    case Step::restart_cold:
      return whole + kGuess;
    case Step::edit:
      return whole / 2;
    case Step::decode:
    case Step::write:
      return kGuess + whole * kFollowUpShare;
    default:
      return kGuess / 4 + whole * kFollowUpShare;
  }
}

}  // namespace samovar::bench
