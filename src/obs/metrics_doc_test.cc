// Goal: docs/metrics.md and the table of metrics say the same: each metric with its type, labels,
// definition and formula, and no other. Method: the page's rows are compared with the table's.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "obs/metric_table.h"

namespace samovar {
namespace {

constexpr const char* kPage = SAMOVAR_SOURCE "/docs/metrics.md";

std::vector<std::string> rows_of_the_page() {
  std::ifstream page(kPage);
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    const bool metric = line.starts_with("| `samovar_") || line.starts_with("| `process_");
    if (metric) rows.push_back(line);
  }
  return rows;
}

TEST(MetricsDoc, ItsRowsAreTheTables) {
  std::vector<std::string> expected;
  for (const MetricDefinition& metric : metric_table()) expected.push_back(markdown_row(metric));
  const auto rows = rows_of_the_page();
  for (const std::string& row : expected) {
    EXPECT_EQ(std::ranges::count(rows, row), 1) << "docs/metrics.md lacks this row:\n" << row;
  }
  for (const std::string& row : rows) {
    EXPECT_EQ(std::ranges::count(expected, row), 1) << "no such metric:\n" << row;
  }
}

// Every name that a formula below the tables uses exists.
TEST(MetricsDoc, ItsFormulasUseMetricsThatAreThere) {
  std::set<std::string> names;
  for (const MetricDefinition& metric : metric_table()) {
    names.insert(metric.name);
    if (metric.type != MetricType::histogram) continue;
    for (const char* part : {"_sum", "_count", "_bucket"}) names.insert(metric.name + part);
  }
  std::ifstream file(kPage);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  int found = 0;
  for (std::size_t at = page.find("samovar_"); at != std::string::npos;
       at = page.find("samovar_", at + 1)) {
    const std::size_t end = page.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
    EXPECT_TRUE(names.contains(page.substr(at, end - at))) << page.substr(at, end - at);
    ++found;
  }
  EXPECT_GT(found, 50);
}

}  // namespace
}  // namespace samovar
