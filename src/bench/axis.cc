#include "bench/axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace samovar::bench {
namespace {

constexpr std::array kSteps = {1.0, 2.0, 5.0};
constexpr std::size_t kMarksMost = 9;
constexpr double kSlack = 1e-9;

// 1, 2, 5, 10, ... from the last one not above `least` to the first one not below `most`.
std::vector<double> one_two_five(double least, double most) {
  std::vector<double> marks;
  const int from = static_cast<int>(std::floor(std::log10(least)));
  const int to = static_cast<int>(std::ceil(std::log10(most))) + 1;
  for (int power = from; power <= to; ++power) {
    for (const double step : kSteps) marks.push_back(step * std::pow(10.0, power));
  }
  const auto above = [](double limit) {
    return [limit](double mark) { return mark > limit * (1 + kSlack); };
  };
  auto first = std::ranges::find_if(marks, above(least));
  if (first != marks.begin()) --first;
  auto last = std::ranges::find_if(first, marks.end(),
                                   [&](double mark) { return mark >= most * (1 - kSlack); });
  if (last != marks.end()) ++last;
  std::vector<double> kept(first, last);
  if (kept.size() < 2) kept.push_back(kept.front() * 10);
  return kept;
}

}  // namespace

Axis Axis::logarithmic(double least, double most, double begin, double end) {
  Axis axis;
  axis.logarithmic_ = true;
  axis.begin_ = begin;
  axis.end_ = end;
  axis.marks_ = one_two_five(std::max(least, 1e-6), std::max({most, least, 1e-6}));
  axis.low_ = axis.marks_.front();
  axis.high_ = axis.marks_.back();
  // Over many powers of ten, those alone.
  if (axis.marks_.size() > kMarksMost) {
    std::erase_if(axis.marks_, [](double mark) {
      const double power = std::log10(mark);
      return std::abs(power - std::round(power)) > kSlack;
    });
  }
  return axis;
}

Axis Axis::linear(double most, double begin, double end) {
  Axis axis;
  axis.begin_ = begin;
  axis.end_ = end;
  const double rough = std::max(most, 1e-6) / 5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double each : {5.0, 2.0, 1.0}) {
    if (each * power >= rough * (1 - kSlack)) step = each * power;
  }
  for (int i = 0; axis.marks_.empty() || axis.marks_.back() < most * (1 - kSlack); ++i) {
    axis.marks_.push_back(step * i);
  }
  if (axis.marks_.size() < 2) axis.marks_.push_back(step);
  axis.high_ = axis.marks_.back();
  return axis;
}

double Axis::place(double value) const {
  double share = 0;
  if (logarithmic_) {
    share = value <= 0 ? 0 : std::log(value / low_) / std::log(high_ / low_);
  } else {
    share = (value - low_) / (high_ - low_);
  }
  return std::lerp(begin_, end_, std::clamp(share, 0.0, 1.0));
}

}  // namespace samovar::bench
