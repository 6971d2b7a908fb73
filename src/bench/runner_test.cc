// Goal: a plan is carried out as it says, against all targets in turn, and whatever goes wrong is
// said where it belongs while the rest goes on. Method: targets that answer by a fake clock.
#include "bench/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/bench_doubles.h"

namespace samovar::bench {
namespace {

using test::FakeTarget;

class Running : public ::testing::Test {
 protected:
  Running() : ours("ours", clock), theirs("theirs", clock) {
    FakeTarget::log.clear();
    options.depths = {2000};
    options.rounds = 2;
    options.cold_rounds = {2};
    options.edit_rounds = {1};
    options.restart_rounds = {1};
    options.question_words = 2;
    options.sessions = 3;
  }

  RunResult run() {
    Runner runner({&ours, &theirs}, options,
                  {.clock = clock,
                   .wait =
                       [this](Micros time) {
                         clock.advance(time);
                         return stop_after == 0 || FakeTarget::log.size() < stop_after;
                       },
                   .say = [this](const std::string& line) { said.push_back(line); },
                   .progress = [this](const Progress& now) { progress.push_back(now); }});
    auto result = runner.run();
    EXPECT_TRUE(result) << result.error().describe();
    return result.value_or(RunResult{});
  }

  static std::vector<const Measurement*> of(const RunResult& result, Step step,
                                            const std::string& target) {
    std::vector<const Measurement*> found;
    for (const Measurement& each : result.measurements) {
      if (each.step == step && each.target == target) found.push_back(&each);
    }
    return found;
  }

  FakeClock clock;
  FakeTarget ours;
  FakeTarget theirs;
  PlanOptions options;
  std::size_t stop_after = 0;  // requests
  std::vector<std::string> said;
  std::vector<Progress> progress;
};

TEST_F(Running, EveryStepOfEveryTarget) {
  options.steps = {Step::cold, Step::decode,       Step::resident,     Step::write,   Step::side,
                   Step::edit, Step::restart_warm, Step::restart_cold, Step::sessions};
  const RunResult result = run();
  EXPECT_FALSE(result.failed);
  EXPECT_FALSE(result.stopped);
  for (const char* target : {"ours", "theirs"}) {
    SCOPED_TRACE(target);
    EXPECT_EQ(of(result, Step::cold, target).size(), 2U);
    EXPECT_EQ(of(result, Step::decode, target).size(), 2U);
    EXPECT_EQ(of(result, Step::resident, target).size(), 2U);
    EXPECT_EQ(of(result, Step::side, target).size(), 2U);
    EXPECT_EQ(of(result, Step::edit, target).size(), 1U);
    EXPECT_EQ(of(result, Step::restart_warm, target).size(), 1U);
    EXPECT_EQ(of(result, Step::restart_cold, target).size(), 1U);
    EXPECT_EQ(of(result, Step::sessions, target).size(), 6U) << "two rounds of three";
    for (const Measurement& each : result.measurements) EXPECT_TRUE(each.measured());
    for (const Measurement* each : of(result, Step::write, target)) EXPECT_EQ(each->bytes, 100U);
    const auto* resident = of(result, Step::resident, target).front();
    EXPECT_GT(*resident->reused_tokens, *resident->computed_tokens);
  }
  EXPECT_EQ(ours.restarts, 2);
  EXPECT_EQ(ours.forgotten, 1);
}

TEST_F(Running, TheOrderFlipsEveryRound) {
  options.steps = {Step::resident};
  options.rounds = 4;
  const RunResult result = run();
  int before = -1;
  for (const Measurement* each : of(result, Step::resident, "ours")) {
    EXPECT_NE(each->order, before);
    before = each->order;
  }
  EXPECT_EQ(order_of(0, 3), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(order_of(1, 3), (std::vector<std::size_t>{2, 1, 0}));
}

TEST_F(Running, AllTargetsAreAskedTheSame) {
  options.steps = {Step::cold, Step::resident, Step::edit};
  options.own_replies = false;
  run();
  // Only ours is used to count words; the first of its kind, before all else.
  ASSERT_EQ(ours.asked.size(), theirs.asked.size() + 3);
  EXPECT_TRUE(std::equal(theirs.asked.begin() + 1, theirs.asked.end(), ours.asked.begin() + 4));
}

TEST_F(Running, WhatATargetCannotIsSaidOnce) {
  options.steps = {Step::restart_warm, Step::restart_cold, Step::write};
  options.restart_rounds = {3};
  theirs.lack = {.restart = "no way to restart it", .stored_bytes = "no folder"};
  const RunResult result = run();
  EXPECT_FALSE(result.failed);
  ASSERT_EQ(of(result, Step::restart_warm, "theirs").size(), 1U);
  EXPECT_EQ(of(result, Step::restart_warm, "theirs")[0]->missing, "no way to restart it");
  EXPECT_EQ(of(result, Step::restart_cold, "theirs")[0]->missing, "no way to restart it");
  EXPECT_EQ(of(result, Step::write, "theirs")[0]->missing, "no folder");
  EXPECT_EQ(of(result, Step::restart_warm, "ours").size(), 3U);
}

TEST_F(Running, AContextThatIsTooSmallIsNoFailure) {
  options.steps = {Step::cold};
  options.depths = {2000, 9000};
  theirs.context = 8192;
  const RunResult result = run();
  EXPECT_FALSE(result.failed);
  const auto found = of(result, Step::cold, "theirs");
  ASSERT_EQ(found.size(), 3U) << "two rounds, and once why not";
  EXPECT_TRUE(found[2]->missing.starts_with("its context is 8192 tokens")) << found[2]->missing;
  EXPECT_EQ(of(result, Step::cold, "ours").size(), 4U);
}

// A second run with the same seed sends the same bytes: what it measures is not cold.
TEST_F(Running, AColdPromptThatIsKnownIsNotMeasured) {
  options.steps = {Step::cold};
  options.cold_rounds = {1};
  options.seed = 5;
  run();
  ASSERT_FALSE(ours.asked.empty());
  theirs.knows = ours.asked.back();
  const RunResult again = run();
  EXPECT_TRUE(again.failed);
  EXPECT_TRUE(of(again, Step::cold, "ours")[0]->measured());
  const std::string missing = of(again, Step::cold, "theirs")[0]->missing;
  EXPECT_NE(missing.find("knew"), std::string::npos) << missing;
  EXPECT_NE(missing.find("--seed"), std::string::npos) << missing;
}

TEST_F(Running, StoresAreAtRestBeforeLongRequests) {
  options.steps = {Step::cold};
  theirs.lack.stored_bytes = "no folder";
  run();
  EXPECT_GT(ours.looked, 2);
  EXPECT_EQ(theirs.looked, 0);
  ours.looked = 0;
  options.settle = 0;
  run();
  EXPECT_EQ(ours.looked, 0);
}

TEST_F(Running, QuestionsAndRepliesNeedRoom) {
  options.steps = {Step::decode};
  ours.context = theirs.context = 4096;
  EXPECT_TRUE(of(run(), Step::decode, "ours")[0]->measured());
  options.rounds = 40;
  const RunResult result = run();
  EXPECT_FALSE(result.failed);
  EXPECT_TRUE(of(result, Step::decode, "ours")[0]->missing.starts_with("its context is 4096"));
}

TEST_F(Running, AFailureLeavesTheOthersAlone) {
  options.steps = {Step::cold, Step::resident};
  options.depths = {2000, 4000};
  theirs.failing = [](const std::string& body) { return body.size() > 3300; };
  theirs.failure = "too long";
  const RunResult result = run();
  EXPECT_TRUE(result.failed);
  EXPECT_EQ(of(result, Step::resident, "ours").size(), 4U);
  int failures = 0;
  for (const Measurement& each : result.measurements) failures += each.measured() ? 0 : 1;
  EXPECT_GE(failures, 1);
  EXPECT_LE(failures, 4);
  EXPECT_TRUE(std::ranges::any_of(
      said, [](const std::string& line) { return line.find("too long") != std::string::npos; }));
}

TEST_F(Running, AFieldThatAServerDoesNotKnowIsLeftOut) {
  options.steps = {Step::cold};
  theirs.failing = [](const std::string& body) {
    return body.find("ignore_eos") != std::string::npos;
  };
  theirs.failure = "unknown field ignore_eos";
  const RunResult result = run();
  EXPECT_FALSE(result.failed);
  EXPECT_EQ(of(result, Step::cold, "theirs").size(), 2U);
}

TEST_F(Running, StoppedItKeepsWhatItHas) {
  options.steps = {Step::cold, Step::resident};
  options.rounds = 50;
  stop_after = 20;
  const RunResult result = run();
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.failed);
  EXPECT_GT(result.measurements.size(), 5U);
  EXPECT_LT(result.measurements.size(), 30U);
  for (const Measurement& each : result.measurements) EXPECT_TRUE(each.measured());
}

TEST_F(Running, ServersThatCountNothingAreRefused) {
  class Silent final : public Target {
   public:
    [[nodiscard]] const std::string& name() const override { return name_; }
    [[nodiscard]] const Lacks& lacks() const override { return lacks_; }
    Answer ask(const Ask&, const Stop&) override { return {.pieces = {1}, .finish = "stop"}; }
    Result<TargetFacts> facts(const Stop&) override { return TargetFacts{}; }
    Status restart(const Stop&) override { return {}; }
    Result<std::uint64_t> forget_files() override { return 0; }
    Result<std::map<std::string, std::uint64_t>> stored_files() override { return {}; }

   private:
    std::string name_ = "silent";
    Lacks lacks_;
  } silent;
  options.steps = {Step::cold};
  Runner runner({&silent}, options,
                {.clock = clock,
                 .wait = [](Micros) { return true; },
                 .say = [](const std::string&) {},
                 .progress = [](const Progress&) {}});
  const auto result = runner.run();
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("how many tokens"), std::string::npos);
}

TEST_F(Running, ItSaysHowLongItTakesBeforeItStarts) {
  options.steps = {Step::cold, Step::resident};
  run();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_TRUE(said[0].starts_with("cold prefill at 2k: 2 rounds, about ")) << said[0];
  EXPECT_TRUE(said[1].starts_with("follow-up, resident at 2k: 2 rounds, about ")) << said[1];
  ASSERT_FALSE(progress.empty());
  EXPECT_EQ(progress.back().done, progress.back().total);
  for (const Progress& each : progress) EXPECT_LE(each.done, each.total);
}

TEST(CostModel, LearnsFromWhatItSaw) {
  CostModel costs;
  EXPECT_GT(costs.predict("a", Step::cold, 1000), 0);
  costs.cold("a", 1000, 500);
  EXPECT_NEAR(costs.predict("a", Step::cold, 10000), 500 * std::pow(10, 1.1), 1);
  costs.cold("a", 2000, 1400);
  EXPECT_NEAR(costs.predict("a", Step::cold, 4000), 1400 * 2.8, 1) << "the same power";
  costs.cold("b", 1000, 500);
  costs.cold("b", 1024, 900);
  EXPECT_NEAR(costs.predict("b", Step::cold, 10240), 900 * std::pow(10, 1.1), 1)
      << "lengths that are nearly the same say nothing";
  EXPECT_LT(costs.predict("a", Step::resident, 4000), costs.predict("a", Step::cold, 4000));
  costs.other("a", Step::resident, 4000, 77);
  EXPECT_EQ(costs.predict("a", Step::resident, 4000), 77);
}

}  // namespace
}  // namespace samovar::bench
