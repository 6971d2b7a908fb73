// Goal: what GET /metrics answers is well-formed, is what the table says, and each report moves its
// own series and no other. Method: the text is read back by a strict parser.
#include "obs/metrics.h"

#include <cmath>
#include <set>
#include <thread>

#include "obs/metric_table.h"
#include "tests/support/exposition.h"

namespace samovar {
namespace {

using test::Exposition;

const std::vector<std::string> kClasses = {"evicted", "history_edited"};

Exposition read(const Metrics& metrics) {
  auto exposition = Exposition::parse(metrics.text());
  EXPECT_TRUE(exposition.has_value()) << exposition.error();
  return exposition.value_or(Exposition());
}

Collected with_store() {
  Collected now;
  now.store.emplace();
  return now;
}

// Series that differ, without the buckets of histograms.
std::map<std::string, double> moved(const Exposition& before, const Exposition& after) {
  std::map<std::string, double> changes;
  for (const auto& [name, family] : after.families()) {
    for (const auto& [series, value] : family.samples) {
      const double change = value - before.value(series);
      if (change != 0 && series.find("_bucket") == std::string::npos) changes[series] = change;
    }
  }
  return changes;
}

class MetricsTest : public testing::Test {
 protected:
  // What the report changes, in a server that has counted nothing before.
  template <class Report>
  std::map<std::string, double> changes(const Report& report) {
    Metrics metrics(kClasses);
    metrics.collect_with([] { return with_store(); });
    const Exposition before = read(metrics);
    report(metrics);
    return moved(before, read(metrics));
  }
};

using Changes = std::map<std::string, double>;

TEST_F(MetricsTest, ExposesEveryMetricOfTheTableWithEveryValueOfItsLabelFromTheStart) {
  Metrics metrics(kClasses);
  metrics.collect_with([] { return with_store(); });
  const Exposition exposition = read(metrics);
  EXPECT_EQ(exposition.families().size(), metric_table().size());
  for (const MetricDefinition& metric : metric_table()) {
    const auto found = exposition.families().find(metric.name);
    ASSERT_NE(found, exposition.families().end()) << metric.name;
    EXPECT_EQ(found->second.type, to_string(metric.type)) << metric.name;
    EXPECT_EQ(found->second.help, metric.help);
    if (metric.type == MetricType::histogram) continue;
    std::set<std::string> expected;
    for (const auto& value : metric.values.empty() ? kClasses : metric.values) {
      expected.insert(metric.label.empty()
                          ? metric.name
                          : metric.name + "{" + metric.label + "=\"" + value + "\"}");
    }
    std::set<std::string> series;
    for (const auto& [name, value] : found->second.samples) {
      series.insert(name);
      EXPECT_EQ(value, 0) << name;
    }
    EXPECT_EQ(series, expected);
  }
}

TEST_F(MetricsTest, TheTableIsInOrderAndItsNamesFollowTheConventions) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < metric_table().size(); ++i) {
    const MetricDefinition& metric = metric_table()[i];
    EXPECT_EQ(static_cast<std::size_t>(metric.id), i) << metric.name;
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_EQ(metric.name.ends_with("_total"), metric.type == MetricType::counter) << metric.name;
    EXPECT_TRUE(metric.type != MetricType::histogram || metric.name.ends_with("_seconds"));
    EXPECT_FALSE(metric.help.empty() || metric.formula.empty()) << metric.name;
    EXPECT_EQ(metric.help.find(". "), std::string::npos) << "one sentence: " << metric.help;
    EXPECT_TRUE(metric.help.ends_with('.')) << metric.help;
    for (const char* rate : {"per_second", "_rate", "ratio", "average"}) {
      EXPECT_EQ(metric.name.find(rate), std::string::npos) << "rates are the reader's to compute";
    }
  }
}

TEST_F(MetricsTest, WithoutAStoreItsStateIsNotThereAndBeforeAnythingIsCollectedNoStateIs) {
  Metrics metrics(kClasses);
  EXPECT_TRUE(std::isnan(read(metrics).value("samovar_cells")));
  EXPECT_EQ(read(metrics).value("samovar_tokens_generated_total"), 0);
  metrics.collect_with([] { return Collected{.cells = 7}; });
  EXPECT_EQ(read(metrics).value("samovar_cells"), 7);
  EXPECT_TRUE(std::isnan(read(metrics).value("samovar_store_bytes")));
  metrics.collect_with({});
  EXPECT_TRUE(std::isnan(read(metrics).value("samovar_cells")));
}

TEST_F(MetricsTest, BucketsReachHalfAnHour) {
  for (const MetricDefinition& metric : metric_table()) {
    if (metric.type != MetricType::histogram) continue;
    EXPECT_TRUE(std::ranges::is_sorted(buckets(metric.id), std::less_equal{})) << metric.name;
    EXPECT_EQ(buckets(metric.id).back(), 1800) << metric.name;
  }
  Metrics metrics(kClasses);
  metrics.decode_step(1'799 * kSecond);
  metrics.decode_step(1'801 * kSecond);
  const Exposition exposition = read(metrics);
  EXPECT_EQ(exposition.value("samovar_decode_step_seconds_bucket{le=\"300\"}"), 0);
  EXPECT_EQ(exposition.value("samovar_decode_step_seconds_bucket{le=\"1800\"}"), 1);
  EXPECT_EQ(exposition.value("samovar_decode_step_seconds_bucket{le=\"+Inf\"}"), 2);
  EXPECT_EQ(exposition.value("samovar_decode_step_seconds_sum"), 3600);
}

TEST_F(MetricsTest, ATurnIsInTheHistogramsOfThePhasesItReachedAndInTheTokens) {
  const EndedTurn whole{.end = TurnEnd::complete,
                        .render = 1 * kSecond,
                        .queue = 2 * kSecond,
                        .plan = 3 * kSecond,
                        .restore = 4 * kSecond,
                        .prefill = 5 * kSecond,
                        .first_token = 16 * kSecond,
                        .offered = 100,
                        .reused = 70,
                        .from = ReusedFrom::disk,
                        .computed = 30,
                        .rewarmed = 20};
  EXPECT_EQ(changes([&](Meter& meter) { meter.turn_ended(whole); }),
            (Changes{{"samovar_turns_total{end=\"complete\"}", 1},
                     {"samovar_turn_render_seconds_count", 1},
                     {"samovar_turn_render_seconds_sum", 1},
                     {"samovar_turn_queue_seconds_count", 1},
                     {"samovar_turn_queue_seconds_sum", 2},
                     {"samovar_turn_plan_seconds_count", 1},
                     {"samovar_turn_plan_seconds_sum", 3},
                     {"samovar_turn_restore_seconds_count", 1},
                     {"samovar_turn_restore_seconds_sum", 4},
                     {"samovar_turn_prefill_seconds_count", 1},
                     {"samovar_turn_prefill_seconds_sum", 5},
                     {"samovar_turn_first_token_seconds_count", 1},
                     {"samovar_turn_first_token_seconds_sum", 16},
                     {"samovar_tokens_offered_total", 100},
                     {"samovar_tokens_reused_total{source=\"disk\"}", 70},
                     {"samovar_tokens_computed_total", 30},
                     {"samovar_tokens_rewarmed_reused_total", 20}}));
  const EndedTurn in_the_queue{.end = TurnEnd::cancelled, .queue = 2 * kSecond, .offered = 100};
  EXPECT_EQ(changes([&](Meter& meter) { meter.turn_ended(in_the_queue); }),
            (Changes{{"samovar_turns_total{end=\"cancelled\"}", 1},
                     {"samovar_turn_render_seconds_count", 1},
                     {"samovar_turn_queue_seconds_count", 1},
                     {"samovar_turn_queue_seconds_sum", 2},
                     {"samovar_tokens_offered_total", 100}}));
}

TEST_F(MetricsTest, EveryOtherReportMovesItsOwnSeries) {
  EXPECT_EQ(changes([](Meter& meter) { meter.turn_refused(Refusal::queue_full); }),
            (Changes{{"samovar_turns_refused_total{reason=\"queue_full\"}", 1}}));
  EXPECT_EQ(changes([](Meter& meter) { meter.missed("evicted", 12); }),
            (Changes{{"samovar_misses_total{class=\"evicted\"}", 1},
                     {"samovar_miss_tokens_total{class=\"evicted\"}", 12}}));
  EXPECT_EQ(changes([](Meter& meter) { meter.missed("none", 12); }), Changes{});
  EXPECT_EQ(changes([](Meter& meter) { meter.token_generated(); }),
            (Changes{{"samovar_tokens_generated_total", 1}}));
  EXPECT_EQ(changes([](Meter& meter) { meter.restore_tried(); }),
            (Changes{{"samovar_restores_tried_total", 1}}));
  EXPECT_EQ(changes([](Meter& meter) { meter.restore_accepted(1000, 2 * kSecond); }),
            (Changes{{"samovar_restores_accepted_total", 1},
                     {"samovar_restore_bytes_total{result=\"accepted\"}", 1000},
                     {"samovar_restore_seconds_total{result=\"accepted\"}", 2}}));
  EXPECT_EQ(
      changes([](Meter& meter) { meter.restore_rejected(RestoreFault::damaged, 10, 3 * kSecond); }),
      (Changes{{"samovar_restores_rejected_total{reason=\"damaged\"}", 1},
               {"samovar_restore_bytes_total{result=\"rejected\"}", 10},
               {"samovar_restore_seconds_total{result=\"rejected\"}", 3}}));
  EXPECT_EQ(
      changes([](Meter& meter) { meter.file_written(4 * kSecond); }),
      (Changes{{"samovar_store_write_seconds_count", 1}, {"samovar_store_write_seconds_sum", 4}}));
}

TEST_F(MetricsTest, WhatIsCollectedStandsUnderItsNameAndCause) {
  Metrics metrics(kClasses);
  Collected now = with_store();
  now.restoring = 1;
  now.decoding = 3;
  now.sequences_evicted = {1, 2, 3, 4};
  now.rewarm_time = 1'500'000;
  now.store->bytes_written = {10, 20};
  now.store->files_removed = {1, 2, 3, 4, 5, 6};
  metrics.collect_with([&] { return now; });
  const Exposition exposition = read(metrics);
  EXPECT_EQ(exposition.value("samovar_turns_running{phase=\"restore\"}"), 1);
  EXPECT_EQ(exposition.value("samovar_turns_running{phase=\"decode\"}"), 3);
  EXPECT_EQ(exposition.value("samovar_sequences_evicted_total{cause=\"rewarm\"}"), 3);
  EXPECT_EQ(exposition.value("samovar_rewarm_seconds_total"), 1.5);
  EXPECT_EQ(exposition.value("samovar_store_written_bytes_total{kind=\"snapshot\"}"), 20);
  EXPECT_EQ(exposition.value("samovar_store_removed_files_total{cause=\"superseded\"}"), 3);
  EXPECT_EQ(exposition.value("samovar_store_removed_files_total{cause=\"gone\"}"), 6);
}

TEST_F(MetricsTest, ReportsOfManyThreadsAreAllCountedWhileOthersRead) {
  Metrics metrics(kClasses);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&metrics] {
      for (int k = 0; k < 2000; ++k) {
        metrics.token_generated();
        metrics.decode_step(kMillisecond);
        if (k % 500 != 0) continue;
        EXPECT_TRUE(Exposition::parse(metrics.text()).has_value());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(read(metrics).value("samovar_tokens_generated_total"), 8000);
  EXPECT_EQ(read(metrics).value("samovar_decode_step_seconds_count"), 8000);
}

// The parser itself must not let things pass.
TEST(ExpositionParser, RefusesWhatIsNotTheFormat) {
  const std::string head = "# HELP a b\n# TYPE a counter\n";
  EXPECT_TRUE(Exposition::parse(head + "a 1\n"));
  EXPECT_FALSE(Exposition::parse(head + "a 1"));
  EXPECT_FALSE(Exposition::parse(head + "a one\n"));
  EXPECT_FALSE(Exposition::parse(head + "b 1\n"));
  EXPECT_FALSE(Exposition::parse(head + "a 1\na 1\n"));
  EXPECT_FALSE(Exposition::parse(head + "a{x=1} 1\n"));
  EXPECT_FALSE(Exposition::parse(head + "a 1\n" + head + "a 1\n"));
  EXPECT_FALSE(Exposition::parse(head));
  const std::string histogram = "# HELP h b\n# TYPE h histogram\n";
  EXPECT_FALSE(Exposition::parse(histogram + "h_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n"));
  EXPECT_FALSE(Exposition::parse(
      histogram + "h_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n"));
}

}  // namespace
}  // namespace samovar
