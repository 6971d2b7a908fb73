#include "bench/report_charts.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/step_text.h"

namespace samovar::bench {
namespace {

std::vector<ChartPoint> points_of(const Section& section, std::size_t target) {
  std::vector<ChartPoint> points;
  for (const Row& row : section.rows) {
    const Cell& cell = row.cells[target];
    if (!cell.value) continue;
    points.push_back({cell.prompt_tokens.value_or(static_cast<double>(row.depth)),
                      cell.value->median, cell.value->low(), cell.value->high()});
  }
  std::ranges::stable_sort(points, {}, &ChartPoint::x);
  return points;
}

bool has_line(const LineChart& chart) {
  return std::ranges::any_of(chart.series,
                             [](const Series& series) { return series.points.size() > 1; });
}

int dash_of(Step step) {
  if (step == Step::cold) return 0;
  if (step == Step::resident) return 1;
  return step == Step::restart_warm ? 2 : 3;
}

const char* short_name(Step step) {
  if (step == Step::cold) return "cold";
  if (step == Step::resident) return "resident";
  return step == Step::restart_warm ? "after a restart" : "after a restart, from disk";
}

const char* y_title(Unit unit) {
  if (unit == Unit::bytes) return "bytes a turn";
  return unit == Unit::tokens_per_second ? "tokens per second" : "time to the first piece";
}

}  // namespace

std::optional<LineChart> first_piece_chart(const Report& report,
                                           const std::vector<Section>& sections) {
  LineChart chart{.label = "Time to the first piece of the reply over the context's length",
                  .x_title = "context, tokens",
                  .y_title = y_title(Unit::milliseconds)};
  for (std::size_t target = 0; target < report.targets.size(); ++target) {
    for (const Section& section : sections) {
      if (section.step != Step::cold && section.step != Step::resident &&
          section.step != Step::restart_warm && section.step != Step::restart_cold) {
        continue;
      }
      auto points = points_of(section, target);
      if (points.empty()) continue;
      chart.series.push_back({report.targets[target].name + ", " + short_name(section.step),
                              static_cast<int>(target), dash_of(section.step), std::move(points)});
    }
  }
  if (chart.series.size() <= report.targets.size() || !has_line(chart)) return std::nullopt;
  return chart;
}

std::optional<LineChart> section_chart(const Report& report, const Section& section) {
  LineChart chart{.label = fmt::format("{} over the context's length", step_title(section.step)),
                  .x_title = "context, tokens",
                  .y_title = y_title(section.unit),
                  .unit = section.unit};
  for (std::size_t target = 0; target < report.targets.size(); ++target) {
    auto points = points_of(section, target);
    if (points.empty()) continue;
    chart.series.push_back(
        {report.targets[target].name, static_cast<int>(target), 0, std::move(points)});
  }
  if (!has_line(chart)) return std::nullopt;
  return chart;
}

std::optional<BarChart> parts_chart(const Report& report, const Section& section) {
  if (section.unit != Unit::milliseconds) return std::nullopt;
  BarChart chart{.label = fmt::format("Where the time went: {}", step_title(section.step))};
  bool known = false;
  for (const Row& row : section.rows) {
    for (const ReportTarget& target : report.targets) {
      const Measurement* middle =
          middle_of(report, section.step, row.depth, row.sessions, target.name);
      if (middle == nullptr) continue;
      std::vector<Part> parts = parts_of(*middle);
      known = known || parts.size() > 1;
      chart.bars.push_back({fmt::format("{}, {}", target.name, tokens_text(row.depth)),
                            ms_text(*middle->first_ms), std::move(parts)});
    }
  }
  if (!known) return std::nullopt;
  return chart;
}

}  // namespace samovar::bench
