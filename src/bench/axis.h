// Axis: from values to places on a line, and where its marks stand: 1, 2, 5 times powers of ten on
// a logarithmic one, round steps from 0 on a linear one. A value; any thread.
#pragma once

#include <vector>

namespace samovar::bench {

class Axis {
 public:
  // From `least` to `most` of the data, which may be equal; logarithmic: both above 0.
  static Axis logarithmic(double least, double most, double begin, double end);
  // From 0.
  static Axis linear(double most, double begin, double end);

  [[nodiscard]] double place(double value) const;  // between begin and end, or at one of them
  [[nodiscard]] const std::vector<double>& marks() const { return marks_; }

 private:
  bool logarithmic_ = false;
  double low_ = 0;
  double high_ = 1;
  double begin_ = 0;
  double end_ = 1;
  std::vector<double> marks_;
};

}  // namespace samovar::bench
