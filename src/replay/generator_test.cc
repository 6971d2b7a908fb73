// Goal: a generated trace is the same for the same seed, and has the shape that the studies
// publish: their quantiles, within what chance allows for so many turns.
#include "replay/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/statistics.h"
#include "replay/distributions.h"
#include "replay/pseudo_text.h"
#include "replay/trace_info.h"
#include "replay/trace_reader.h"

namespace samovar::replay {
namespace {

double part_within(const std::vector<double>& values, double most) {
  const auto within = std::ranges::count_if(values, [&](double v) { return v <= most; });
  return static_cast<double>(within) / static_cast<double>(values.size());
}

TEST(Generator, TheSameSeedMakesTheSameTrace) {
  const GeneratorOptions options{.seed = 7, .sessions = 3, .turns = 30, .scale = 0.02};
  const auto trace = generate_trace(options);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(write_trace(*trace), write_trace(*generate_trace(options)));
  GeneratorOptions other = options;
  other.seed = 8;
  EXPECT_NE(write_trace(*trace), write_trace(*generate_trace(other)));
}

TEST(Generator, ItsTracesAreReadBack) {
  const auto trace = generate_trace(
      {.seed = 3, .sessions = 5, .turns = 40, .scale = 0.02, .agents = 0.2, .cuts = 0.5});
  ASSERT_TRUE(trace.has_value());
  const std::string text = write_trace(*trace);
  const auto again = read_trace(text);
  ASSERT_TRUE(again.has_value()) << again.error().describe();
  EXPECT_EQ(write_trace(*again), text);
  const TraceInfo info = trace_info(*again);
  EXPECT_EQ(info.sessions, 5U);
  EXPECT_GT(info.sub_agents, 5U);
  EXPECT_GT(info.cuts, 2U);
}

// Sizes stay far below the point where histories are compacted.
TEST(Generator, RequestsAppendWhatStudiesMeasured) {
  const auto trace =
      generate_trace({.seed = 1, .sessions = 30, .turns = 150, .context = 10'000'000});
  ASSERT_TRUE(trace.has_value());
  const TraceInfo info = trace_info(*trace);
  EXPECT_GT(info.appended.count, 4'000U);
  EXPECT_NEAR(info.appended.p50, 795, 100);  // TraceLab: 793, 796
  EXPECT_GT(info.appended.p90, 3'700);       // TraceLab: 3.7k and 6.1k
  EXPECT_LT(info.appended.p90, 6'100);
  EXPECT_NEAR(info.appended.p99, 12'800, 2'000);  // TraceLab: 12.8k
  EXPECT_NEAR(info.users_part, 0.028, 0.012);     // TraceLab: 2.8 %
}

TEST(Generator, PausesAreThoseBehindPublishedHitRates) {
  const auto trace =
      generate_trace({.seed = 2, .sessions = 60, .turns = 150, .scale = 0.01, .agents = 0});
  ASSERT_TRUE(trace.has_value());
  std::vector<double> seconds;
  std::vector<double> people;
  for (const TraceTurn& turn : trace->turns) {
    if (turn.after.empty()) continue;
    seconds.push_back(static_cast<double>(turn.wait_ms) / 1000);
    if (turn.wait == WaitKind::think) people.push_back(seconds.back());
  }
  EXPECT_NEAR(part_within(seconds, 60), 0.854, 0.02);
  EXPECT_NEAR(part_within(seconds, 300), 0.94, 0.015);
  EXPECT_NEAR(part_within(seconds, 3'600), 0.986, 0.008);
  // Tools are seldom as slow as people.
  std::ranges::sort(people);
  std::ranges::sort(seconds);
  EXPECT_GT(bench::quantile(people, 0.5), 5 * bench::quantile(seconds, 0.5));
}

TEST(Generator, CompactsALongHistory) {
  const auto trace = generate_trace({.seed = 4,
                                     .sessions = 2,
                                     .turns = 120,
                                     .scale = 0.05,
                                     .start_tokens = 2'000,
                                     .context = 20'000,
                                     .tools_per_user = 3});
  ASSERT_TRUE(trace.has_value());
  const TraceInfo info = trace_info(*trace);
  EXPECT_GT(info.rewrites, 2U);
}

TEST(Generator, SubAgentsRunBetweenTheTurnThatStartsThemAndTheOneThatWaits) {
  const auto trace =
      generate_trace({.seed = 5, .sessions = 2, .turns = 40, .scale = 0.01, .agents = 0.5});
  ASSERT_TRUE(trace.has_value());
  std::set<std::string> parents;
  std::size_t joined = 0;
  for (const TraceTurn& turn : trace->turns) {
    if (!turn.parent.empty()) parents.insert(turn.parent);
    if (turn.joins.empty()) continue;
    ++joined;
    EXPECT_TRUE(parents.contains(turn.after)) << turn.id;
  }
  EXPECT_GT(joined, 5U);
}

TEST(Generator, OptionsOutOfRangeAreNamed) {
  EXPECT_EQ(generate_trace({.sessions = 0}).error().field, "--sessions");
  EXPECT_EQ(generate_trace({.scale = 0}).error().field, "--scale");
  EXPECT_EQ(generate_trace({.agents = 2}).error().field, "--agents");
}

TEST(Distributions, AreWhatTheirQuantilesSay) {
  EXPECT_NEAR(at_part(appended_tokens(), 0.5), 795, 0.5);
  EXPECT_NEAR(at_part(appended_tokens(), 0.99), 12'800, 1);
  EXPECT_NEAR(at_part(gap_seconds(), 0.94), 300, 0.01);
  std::mt19937_64 random(1);
  double sum = 0;
  for (int i = 0; i < 20'000; ++i) sum += geometric(random, 12);
  EXPECT_NEAR(sum / 20'000, 12, 0.4);
}

TEST(PseudoText, HasAboutTheTokensThatWereAskedFor) {
  std::mt19937_64 random(1);
  EXPECT_EQ(estimate_tokens(pseudo_text(500, random)), 500U);
}

}  // namespace
}  // namespace samovar::replay
