// Goal: every request is made when its waits are over and never before, sub-agents beside their
// parent, sessions within their limit; and whatever the trace, all turns are made or given up.
#include "replay/schedule.h"

#include <gtest/gtest.h>

#include <map>

#include "replay/generator.h"
#include "replay/histories.h"
#include "replay/trace_testing.h"

namespace samovar::replay {
namespace {

TraceTurn turn(const std::string& id, const std::string& after, std::int64_t wait_ms = 0) {
  TraceTurn line{.id = id, .session = "s", .after = after};
  line.wait_ms = wait_ms;
  line.keep = after.empty() ? 0 : 1;
  line.messages = {{.role = Role::user, .content = "x"}};
  return line;
}

TEST(Schedule, AFollowerWaitsForTheEndAndThenItsPause) {
  Trace trace;
  trace.turns = {turn("a", ""), turn("b", "a", 4000)};
  trace.turns[0].at_ms = 1000;
  Schedule schedule(trace, {.speed = 2}, 0);
  EXPECT_EQ(schedule.next(499'999), std::nullopt);
  EXPECT_EQ(schedule.next_at(), 500'000);
  EXPECT_EQ(schedule.next(500'000), 0U);
  EXPECT_EQ(schedule.next_at(), std::nullopt);
  schedule.ended(0, 3'000'000, true);
  EXPECT_EQ(schedule.next_at(), 5'000'000);  // 4 s at double speed
  EXPECT_EQ(schedule.next(5'000'000), 1U);
  EXPECT_FALSE(schedule.done());
  schedule.ended(1, 6'000'000, true);
  EXPECT_TRUE(schedule.done());
}

TEST(Schedule, PausesThatNobodyLivesToSeeAreStillPauses) {
  Trace trace;
  trace.turns = {turn("a", ""), turn("b", "a", std::int64_t{1} << 52)};
  Schedule schedule(trace, {.speed = 1e-300}, 0);
  EXPECT_EQ(schedule.next(0), 0U);
  schedule.ended(0, kSecond, true);
  EXPECT_EQ(schedule.next(std::int64_t{1} << 56), std::nullopt);
  EXPECT_GT(schedule.next_at(), std::int64_t{1} << 56);
}

TEST(Schedule, SpeedZeroMeansNoPauses) {
  Trace trace;
  trace.turns = {turn("a", ""), turn("b", "a", 4000)};
  trace.turns[0].at_ms = 9'000'000;
  Schedule schedule(trace, {.speed = 0}, 7);
  EXPECT_EQ(schedule.next(7), 0U);
  schedule.ended(0, 8, true);
  EXPECT_EQ(schedule.next(8), 1U);
}

TEST(Schedule, ASubAgentRunsBesideAndIsWaitedFor) {
  Trace trace;
  trace.turns = {turn("a", ""), turn("agent", ""), turn("agent2", "agent", 10), turn("b", "a", 5)};
  trace.turns[1].parent = "a";
  trace.turns[3].joins = {"agent2"};
  Schedule schedule(trace, {}, 0);
  EXPECT_EQ(schedule.next(0), 0U);
  EXPECT_EQ(schedule.next(0), std::nullopt);
  schedule.ended(0, 100, true);
  EXPECT_EQ(schedule.next(100), 1U);
  EXPECT_EQ(schedule.next(1'000'000), std::nullopt);  // "b" waits for the agent
  schedule.ended(1, 200, true);
  EXPECT_EQ(schedule.next(10'200), 2U);
  schedule.ended(2, 20'000, true);
  EXPECT_EQ(schedule.next(24'999), std::nullopt);
  EXPECT_EQ(schedule.next(25'000), 3U);
}

TEST(Schedule, SessionsKeepToTheirLimit) {
  Trace trace;
  trace.turns = {turn("a", ""), turn("b", ""), turn("c", ""), turn("a2", "a")};
  Schedule schedule(trace, {.speed = 0, .sessions = 2}, 0);
  EXPECT_EQ(schedule.next(0), 0U);
  EXPECT_EQ(schedule.next(0), 1U);
  EXPECT_EQ(schedule.next(0), std::nullopt);
  schedule.ended(0, 1, true);
  EXPECT_EQ(schedule.next(1), 3U);  // the same session goes on
  EXPECT_EQ(schedule.next(1), std::nullopt);
  schedule.ended(1, 2, true);
  EXPECT_EQ(schedule.next(2), 2U);
}

TEST(Schedule, WhatFollowsAFailureIsGivenUp) {
  Trace trace;
  trace.turns = {turn("a", ""), turn("b", "a"), turn("c", "b"), turn("d", "")};
  Schedule schedule(trace, {.speed = 0, .sessions = 1}, 0);
  EXPECT_EQ(schedule.next(0), 0U);
  schedule.ended(0, 1, false);
  EXPECT_EQ(schedule.given_up().size(), 2U);
  EXPECT_EQ(schedule.next(1), 3U);
  schedule.ended(3, 2, true);
  EXPECT_TRUE(schedule.done());
}

// Plays a whole trace with replies of random length, failures included.
void play(const Trace& trace, ScheduleOptions options, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Histories histories(trace);
  Schedule schedule(trace, options, 0);
  std::multimap<Micros, std::size_t> running;
  std::vector<std::optional<Micros>> ended(trace.turns.size());
  Micros now = 0;
  std::size_t made = 0;
  while (!schedule.done()) {
    while (const auto next = schedule.next(now)) {
      const TraceTurn& line = trace.turns[*next];
      ++made;
      for (const std::string* id : {&line.after, &line.parent}) {
        if (id->empty()) continue;
        const auto before = ended[histories.index(*id)];
        ASSERT_TRUE(before.has_value()) << line.id;
        ASSERT_GE(now, *before);
      }
      running.emplace(now + static_cast<Micros>(random() % 5'000'000), *next);
    }
    const auto due = schedule.next_at();
    ASSERT_TRUE(due || !running.empty()) << "nothing is due and nothing runs";
    if (running.empty() || (due && *due < running.begin()->first)) {
      now = std::max(now, *due);
      continue;
    }
    const auto [at, turn] = *running.begin();
    running.erase(running.begin());
    now = std::max(now, at);
    ended[turn] = now;
    schedule.ended(turn, now, random() % 20 != 0);
  }
  EXPECT_EQ(made + schedule.given_up().size(), trace.turns.size());
}

TEST(Schedule, EveryTraceComesToAnEnd) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const ScheduleOptions options{.speed = static_cast<double>(seed % 3),
                                  .sessions = static_cast<std::size_t>(seed % 4)};
    play(RandomTrace(seed).make(15), options, seed);
    const auto generated =
        generate_trace({.seed = seed, .sessions = 3, .turns = 12, .scale = 0.001, .agents = 0.3});
    play(*generated, options, seed);
  }
}

}  // namespace
}  // namespace samovar::replay
