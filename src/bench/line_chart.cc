#include <fmt/format.h>

#include <algorithm>

#include "base/size_text.h"
#include "bench/axis.h"
#include "bench/chart.h"
#include "bench/step_text.h"
#include "bench/svg.h"

namespace samovar::bench {
namespace {

constexpr double kWidth = 460;
constexpr double kHeight = 300;
constexpr double kLeft = 72;
constexpr double kRight = 14;
constexpr double kTop = 10;
constexpr double kBottom = 42;
constexpr double kLegendLine = 17;

std::string mark_text(double value, Unit unit) {
  if (unit == Unit::bytes) return format_bytes(static_cast<std::uint64_t>(value));
  if (unit == Unit::tokens_per_second) return fmt::format("{:g}", value);
  if (value >= 1000) return fmt::format("{:g} s", value / 1000);
  return fmt::format("{:g} ms", value);
}

std::string point_text(const Series& series, const ChartPoint& point, Unit unit) {
  const auto words = [unit](double value) {
    if (unit == Unit::milliseconds) return ms_text(value);
    return unit == Unit::bytes ? format_bytes(static_cast<std::uint64_t>(value))
                               : rate_text(value) + " tok/s";
  };
  return fmt::format("{}, {:.0f} tokens: {} ({} to {})", series.name, point.x, words(point.y),
                     words(point.low), words(point.high));
}

struct Frame {
  Axis x;
  Axis y;
  double bottom = 0;
};

Frame frame_of(const LineChart& chart, double top) {
  double x_least = 0;
  double x_most = 0;
  double y_least = 0;
  double y_most = 0;
  bool first = true;
  for (const Series& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      x_least = first ? point.x : std::min(x_least, point.x);
      x_most = first ? point.x : std::max(x_most, point.x);
      y_least = first ? point.low : std::min(y_least, point.low);
      y_most = first ? point.high : std::max(y_most, point.high);
      first = false;
    }
  }
  const double bottom = top + kHeight - kTop - kBottom;
  return {Axis::logarithmic(x_least, x_most, kLeft, kWidth - kRight),
          chart.unit == Unit::milliseconds ? Axis::logarithmic(y_least, y_most, bottom, top)
                                           : Axis::linear(y_most, bottom, top),
          bottom};
}

void draw_axes(Svg& svg, const LineChart& chart, const Frame& frame, double top) {
  for (const double mark : frame.y.marks()) {
    const double y = frame.y.place(mark);
    svg.line({kLeft, y}, {kWidth - kRight, y}, "grid");
    svg.text({kLeft - 6, y + 4}, mark_text(mark, chart.unit), Anchor::end, "mark");
  }
  for (const double mark : frame.x.marks()) {
    const double x = frame.x.place(mark);
    svg.line({x, top}, {x, frame.bottom}, "grid");
    svg.text({x, frame.bottom + 15}, tokens_text(static_cast<std::int64_t>(mark)), Anchor::middle,
             "mark");
  }
  svg.line({kLeft, frame.bottom}, {kWidth - kRight, frame.bottom}, "axis");
  svg.text({(kLeft + kWidth - kRight) / 2, frame.bottom + 33}, chart.x_title, Anchor::middle,
           "label");
  svg.turned_text({12, (top + frame.bottom) / 2}, chart.y_title);
}

void draw_series(Svg& svg, const Series& series, const Frame& frame, Unit unit) {
  const std::string colour = fmt::format("c{}", series.colour);
  std::vector<Point> line;
  std::vector<Point> band;
  for (const ChartPoint& point : series.points) {
    line.push_back({frame.x.place(point.x), frame.y.place(point.y)});
    band.push_back({frame.x.place(point.x), frame.y.place(point.high)});
  }
  for (auto point = series.points.rbegin(); point != series.points.rend(); ++point) {
    band.push_back({frame.x.place(point->x), frame.y.place(point->low)});
  }
  if (line.size() > 1) {
    svg.polygon(band, "band " + colour);
    svg.polyline(line, fmt::format("line {} d{}", colour, series.dash));
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    const ChartPoint& point = series.points[i];
    svg.line({line[i].x, frame.y.place(point.low)}, {line[i].x, frame.y.place(point.high)},
             "spread " + colour);
    svg.circle(line[i], 3.5, "dot " + colour, point_text(series, point, unit));
  }
}

// A line of its own for each: names are long.
void draw_legend(Svg& svg, const LineChart& chart) {
  double y = kTop + 4;
  for (const Series& series : chart.series) {
    const std::string colour = fmt::format("c{}", series.colour);
    svg.line({kLeft, y}, {kLeft + 30, y}, fmt::format("line {} d{}", colour, series.dash));
    svg.circle({kLeft + 15, y}, 3.5, "dot " + colour, "");
    svg.text({kLeft + 38, y + 4}, series.name, Anchor::start, "mark");
    y += kLegendLine;
  }
}

}  // namespace

std::string draw(const LineChart& chart) {
  const double legend = kLegendLine * static_cast<double>(chart.series.size()) + 6;
  Svg svg(kWidth, kHeight + legend, chart.label);
  draw_legend(svg, chart);
  const double top = kTop + legend;
  const Frame frame = frame_of(chart, top);
  draw_axes(svg, chart, frame, top);
  for (const Series& series : chart.series) draw_series(svg, series, frame, chart.unit);
  return svg.finish();
}

}  // namespace samovar::bench
