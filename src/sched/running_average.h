// RunningAverage: a rate of the recent past. The newest value has the given weight, the first one
// counts whole. A value type; one thread.
#pragma once

namespace samovar {

class RunningAverage {
 public:
  explicit RunningAverage(double weight) : weight_(weight) {}

  void add(double value) { value_ = value_ == 0.0 ? value : value_ + weight_ * (value - value_); }
  [[nodiscard]] double value() const { return value_; }  // 0: nothing was measured yet

 private:
  double weight_;
  double value_ = 0.0;
};

}  // namespace samovar
