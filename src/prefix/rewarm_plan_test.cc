// Goal: every decision of the re-warm planner, as a table of what is resident -> what the plan
// says.
#include "prefix/rewarm_plan.h"

#include "prefix/plan_testing.h"

namespace samovar {
namespace {

// The line of a session: 4,000 tokens, of which the re-warm shares 1,000, with an anchor at 900.
constexpr Position kShared = 1000;
constexpr Position kAnchor = 900;
constexpr Position kWanted = 3000;  // 2,100 to compute, worth half of that

class RewarmPlan : public ::testing::Test {
 protected:
  void boot(int sequences, Position cells = 100'000) {
    world = std::make_unique<World>(sequences, cells);
    world->resident(0, departing(kShared, 4000), {kAnchor, 3900}, 3900);
  }
  // An idle session of others.
  ResidentView& other(SeqId id, int size, double weight = 1.0) {
    world->resident(id, departing(0, size, 1000 * (id + 500)), {}, size, weight);
    return world->residents[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::optional<Plan> plan() const {
    Prompt prompt;
    prompt.tokens = count_up(kWanted);
    const auto cuts = canonical_cuts(prompt, kUbatch, 96);
    return make_rewarm_plan({.prompt = prompt,
                             .until = kWanted,
                             .cuts = cuts,
                             .rewind = world->rewind,
                             .residents = world->residents,
                             .anchors = world->anchors,
                             .cells = world->ledger});
  }

  std::unique_ptr<World> world;
};

TEST_F(RewarmPlan, ForksTheLineIntoAFreeSequence) {
  boot(3);
  const auto found = plan();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source, ReuseSource::fork);
  EXPECT_EQ(found->from, 0);
  EXPECT_EQ(found->target, 1);
  EXPECT_EQ(found->resume_at, kAnchor);
  EXPECT_TRUE(found->evict.empty());
}

TEST_F(RewarmPlan, NothingToGoOnFromOrSomethingRunningIsNoPlan) {
  boot(3);
  world->residents[0].running = true;
  EXPECT_FALSE(plan());
  world = std::make_unique<World>(3);
  EXPECT_FALSE(plan());
}

TEST_F(RewarmPlan, ExtendsWhatItHasBegunAndHasNothingToDoWhenAllIsThere) {
  boot(3);
  world->resident(1, count_up(2000), {}, 2000).residents[1].guest = true;
  auto found = plan();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source, ReuseSource::live);
  EXPECT_EQ(found->target, 1);
  EXPECT_EQ(found->compute(), 1000);
  boot(3);
  world->resident(1, count_up(kWanted), {}, kWanted);
  found = plan();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->compute(), 0);
}

TEST_F(RewarmPlan, TheLastFreeSequenceIsTakenIfWhatGoesNextIsWorthLessAndStored) {
  boot(3);
  ResidentView& session = other(1, 800);
  EXPECT_FALSE(plan()) << "the next turn would evict it, unwritten";
  session.saved = true;
  EXPECT_TRUE(plan());
}

TEST_F(RewarmPlan, TheLastFreeSequenceIsTakenIfTheGuestItselfGoesNext) {
  boot(3);
  other(1, 1100);
  ASSERT_TRUE(plan());
  EXPECT_TRUE(plan()->evict.empty());
}

TEST_F(RewarmPlan, TheLineItForksIsNoneThatMayGo) {
  boot(2);
  EXPECT_TRUE(plan()) << "alone, with one more sequence";
  boot(1);
  world->residents[0].saved = true;
  EXPECT_FALSE(plan());
}

TEST_F(RewarmPlan, TakesTheSequenceOfWhatIsWorthLessAndStored) {
  boot(3);
  other(1, 5000).saved = true;
  ResidentView& small = other(2, 1000);
  EXPECT_FALSE(plan()) << "worth less, but not stored";
  small.saved = true;
  const auto found = plan();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->target, 2);
  EXPECT_EQ(found->evict, std::vector<SeqId>{2});
  small.weight = 1.1;  // worth more than half of 2,100 tokens
  EXPECT_FALSE(plan());
}

TEST_F(RewarmPlan, ASpareLineGoesUnstored) {
  boot(2);
  ResidentView& spare = other(1, 1000);
  spare.spare = true;
  ASSERT_TRUE(plan());
  EXPECT_EQ(plan()->evict, std::vector<SeqId>{1});
}

TEST_F(RewarmPlan, WhatAnEarlierRewarmOfTheLineLeftIsReplacedFirst) {
  boot(4);
  world->resident(1, departing(kAnchor, 9000), {}, 9000);
  world->residents[1].guest = true;
  world->residents[1].twin = 0;
  auto found = plan();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from, 0);
  EXPECT_EQ(found->target, 1);
  EXPECT_EQ(found->evict, std::vector<SeqId>{1}) << "although two are free";
  // Where it shares as much, it is cut back in place.
  world->anchors.add(1, {.position = kAnchor, .snapshot = std::make_shared<NoState>(kAnchor)});
  found = plan();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source, ReuseSource::anchor);
  EXPECT_EQ(found->target, 1);
  EXPECT_TRUE(found->evict.empty());
}

TEST_F(RewarmPlan, AnEighthOfTheCellsStaysFree) {
  boot(3, 6970);
  EXPECT_FALSE(plan());
  boot(3, 6971);
  EXPECT_TRUE(plan());
}

TEST_F(RewarmPlan, MakesRoomOnlyOfWhatIsWorthLessTogether) {
  boot(5, 7000);
  for (SeqId id = 1; id < 3; ++id) other(id, 600).saved = true;
  EXPECT_FALSE(plan()) << "1,200 tokens for what is worth 1,050";
  boot(5, 7800);
  for (SeqId id = 1; id < 3; ++id) other(id, 500).saved = true;
  const auto found = plan();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->evict.size(), 1U);
}

// --- what re-warms change for the planner of turns ---

TEST(PlannerTwins, WhatATwinHoldsTooIsNotLostWithALine) {
  World world(3);
  world.resident(0, departing(2000, 4000), {}, 4000);
  world.resident(1, departing(2000, 4500, 200'000), {}, 4500).residents[1].shared = 2000;
  world.resident(2, departing(0, 3000, 300'000), {}, 3000);
  const auto plan = world.plan(departing(0, 500, 400'000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->evict, std::vector<SeqId>{1});
}

}  // namespace
}  // namespace samovar
