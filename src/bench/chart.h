// The two kinds of charts of a report, as SVG: medians over the context's length with their spread,
// and bars that show where time went. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "bench/summary.h"

namespace samovar::bench {

struct ChartPoint {
  double x = 0;
  double y = 0;  // median
  double low = 0;
  double high = 0;
};

struct Series {
  std::string name;
  int colour = 0;                  // which target: 0 and up
  int dash = 0;                    // which step: 0 solid, 1, 2, 3 dashed
  std::vector<ChartPoint> points;  // by x
};

struct LineChart {
  std::string label;  // for those who cannot see it
  std::string x_title;
  std::string y_title;
  Unit unit = Unit::milliseconds;  // of y; times are logarithmic, all else begins at 0
  std::vector<Series> series;      // not all empty
};

[[nodiscard]] std::string draw(const LineChart& chart);

struct Bar {
  std::string name;
  std::string total;  // in words, behind it
  std::vector<Part> parts;
};

// Each bar is a whole; its parts are shares of it.
struct BarChart {
  std::string label;
  std::vector<Bar> bars;
};

[[nodiscard]] std::string draw(const BarChart& chart);

}  // namespace samovar::bench
