#include <fmt/format.h>

#include <algorithm>

#include "bench/chart.h"
#include "bench/step_text.h"
#include "bench/svg.h"

namespace samovar::bench {
namespace {

constexpr double kWidth = 460;
constexpr double kBar = 14;
constexpr double kBarPitch = 40;
constexpr double kTotalRoom = 60;
constexpr double kLegend = 26;

// The same part has the same colour in every chart.
int colour_of(const std::string& part) {
  static const std::vector<std::string> parts = {"render",  "queue",   "plan",
                                                 "restore", "prefill", "rest"};
  const auto found = std::ranges::find(parts, part);
  return static_cast<int>(found - parts.begin());
}

std::vector<std::string> parts_in(const BarChart& chart) {
  std::vector<std::string> names;
  for (const Bar& bar : chart.bars) {
    for (const Part& part : bar.parts) {
      if (std::ranges::find(names, part.name) == names.end()) names.push_back(part.name);
    }
  }
  std::ranges::stable_sort(names, {}, colour_of);
  return names;
}

void draw_bar(Svg& svg, const Bar& bar, double y) {
  double all = 0;
  for (const Part& part : bar.parts) all += part.ms;
  svg.text({0, y + 10}, bar.name, Anchor::start, "mark");
  double x = 0;
  const double room = kWidth - kTotalRoom;
  for (const Part& part : bar.parts) {
    const double width = all <= 0 ? 0 : room * part.ms / all;
    svg.rect({x, y + 15}, width, kBar, fmt::format("part p{}", colour_of(part.name)),
             fmt::format("{}: {}", part.name, ms_text(part.ms)));
    x += width;
  }
  svg.text({room + 6, y + 26}, bar.total, Anchor::start, "mark");
}

}  // namespace

std::string draw(const BarChart& chart) {
  Svg svg(kWidth, kLegend + kBarPitch * static_cast<double>(chart.bars.size()), chart.label);
  double x = 0;
  for (const std::string& name : parts_in(chart)) {
    svg.rect({x, 4}, 11, 11, fmt::format("part p{}", colour_of(name)), "");
    svg.text({x + 15, 14}, name, Anchor::start, "mark");
    x += 28 + 6.6 * static_cast<double>(name.size());
  }
  double y = kLegend;
  for (const Bar& bar : chart.bars) {
    draw_bar(svg, bar, y);
    y += kBarPitch;
  }
  return svg.finish();
}

}  // namespace samovar::bench
