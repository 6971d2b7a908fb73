// Goal: every decision of the planner, as a table of what is resident -> what the plan says.
#include "prefix/plan_testing.h"

namespace samovar {
namespace {

// --- restoring from the store ---

TEST(PlannerStore, ACheckpointOnDiskIsRestoredIntoAnEmptySequence) {
  const auto plan = World(2).on_disk(900, 1e4, 100).plan(count_up(1000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::store);
  EXPECT_EQ(plan->resume_at, 900);
  EXPECT_EQ(plan->compute(), 100);
  EXPECT_TRUE(plan->evict.empty());
  EXPECT_DOUBLE_EQ(plan->predicted_us, 1e4 + 100 * 100);
}

TEST(PlannerStore, WhatIsResidentIsNeverReadFromDisk) {
  const auto plan =
      World(2).resident(0, count_up(900), {512}, 900).on_disk(900, 10, 100).plan(count_up(1000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::live);
}

TEST(PlannerStore, RestoresOnlyWhereThatIsFasterThanComputing) {
  EXPECT_EQ(World(2).on_disk(900, 1e6, 100).plan(count_up(1000))->source, ReuseSource::none);
  EXPECT_EQ(World(2).on_disk(900, 1e4, 100).plan(count_up(1000))->source, ReuseSource::store);
  EXPECT_EQ(World(2).on_disk(900, 1e6, 0).plan(count_up(1000))->source, ReuseSource::store)
      << "no rate is known yet";
}

TEST(PlannerStore, ADeeperCheckpointTakesThePlaceOfItsOwnShorterPrefix) {
  const auto plan = World(3)
                        .resident(0, departing(5, 3000), {1000}, 3000)
                        .resident(1, count_up(600), {500}, 600)
                        .on_disk(5000, 1e3, 100)
                        .plan(count_up(6000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::store);
  EXPECT_EQ(plan->target, 1);
  EXPECT_EQ(plan->evict, std::vector<SeqId>{1});
}

TEST(PlannerStore, ARestoreNeedsCellsForTheWholePrompt) {
  World world(2, 4000);
  world.resident(0, departing(5, 2000), {1000}, 2000).on_disk(2900, 1e3, 100);
  const auto plan = world.plan(count_up(3000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::store);
  EXPECT_EQ(plan->evict, std::vector<SeqId>{0});
  World running(2, 4000);
  running.resident(0, departing(5, 2000), {1000}, 2000, 1.0, true).on_disk(2900, 1e3, 100);
  const auto blocked = running.plan(count_up(3000));
  ASSERT_FALSE(blocked);
  EXPECT_EQ(blocked.error(), PlanBlocked::no_cells);
}

TEST(PlannerStore, DescribesWhatComesFromDisk) {
  const auto plan = World(2).on_disk(900, 1e4, 100).plan(count_up(1000));
  EXPECT_EQ(plan->describe(),
            "store: 900 of 1000 tokens from disk (shares 0 with what is resident), compute 100 in "
            "sequence 0, ~0.02 s");
}

// --- resident reuse ---

TEST(Planner, NothingResidentComputesEverythingInAnEmptySequence) {
  const auto plan = World(2).plan(count_up(1000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::none);
  EXPECT_EQ(plan->compute(), 1000);
}

TEST(Planner, PromptThatExtendsAnIdleSequenceGoesOnLive) {
  const auto plan = World(2).resident(0, count_up(900), {512}, 900).plan(count_up(1000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::live);
  EXPECT_EQ(plan->resume_at, 900);
  EXPECT_EQ(plan->target, 0);
}

TEST(Planner, IdenticalPromptLeavesOneTokenToCompute) {
  const auto plan = World(2).resident(0, count_up(1000), {512, 900}, 900).plan(count_up(1000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::anchor);
  EXPECT_EQ(plan->resume_at, 900);
}

TEST(Planner, AnchorExactlyAtTheEndOfThePromptIsNotUsed) {
  const auto plan = World(2).resident(0, count_up(1200), {512, 1000}, 900).plan(count_up(1000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->resume_at, 512);
}

TEST(Planner, HybridResumesOnlyAtAnAnchorBeforeTheDifference) {
  const auto plan =
      World(2).resident(0, count_up(2000), {512, 1024, 1536}, 1000).plan(departing(1500, 2000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->resume_at, 1024);
  EXPECT_EQ(plan->snapshot->position(), 1024);
  EXPECT_EQ(plan->matched, 1500);
}

TEST(Planner, PlainModelResumesAtTheNearbyCutOrAtTheDifference) {
  World near(2, 100'000, RewindKind::anywhere);
  const auto at_cut = near.resident(0, count_up(2000), {}, 1000).plan(departing(1100, 2000));
  ASSERT_TRUE(at_cut);
  EXPECT_EQ(at_cut->resume_at, 1024);
  EXPECT_TRUE(at_cut->canonical);
  World far(2, 100'000, RewindKind::anywhere);
  const auto inside = far.resident(0, count_up(2000), {}, 1000).plan(departing(1400, 2000));
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->resume_at, 1400);
  EXPECT_FALSE(inside->canonical);
}

TEST(Planner, DepartureInsideTheReplyRewindsInPlace) {
  const auto plan =
      World(2).resident(0, count_up(5000), {1024, 2048}, 2048).plan(departing(2100, 3000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::anchor);
  EXPECT_EQ(plan->target, 0);
}

TEST(Planner, DepartureInsideTheHistoryForksWhileASequenceIsFree) {
  const auto plan =
      World(2).resident(0, count_up(5000), {1024, 2048}, 4900).plan(departing(2100, 3000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::fork);
  EXPECT_EQ(plan->from, 0);
  EXPECT_EQ(plan->target, 1);
}

TEST(Planner, ForkReplacesAnIdleSequenceThatIsWorthLessThanTheTail) {
  const auto plan = World(2)
                        .resident(0, count_up(5000), {1024, 2048}, 4900)
                        .resident(1, count_up(100, 500'000), {}, 90)
                        .plan(departing(2100, 3000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::fork);
  EXPECT_EQ(plan->evict, (std::vector<SeqId>{1}));
}

TEST(Planner, TailWorthLessThanEverythingElseIsRewoundInPlace) {
  const auto plan = World(2)
                        .resident(0, count_up(2200), {1024, 2048}, 2150)
                        .resident(1, count_up(9000, 500'000), {}, 8900)
                        .plan(departing(2100, 3000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::anchor);
  EXPECT_TRUE(plan->evict.empty());
}

TEST(Planner, RunningSequenceIsForkedNeverRewound) {
  const auto plan = World(2)
                        .resident(0, count_up(5000), {1024, 2048}, 2048, 1.0, true)
                        .plan(departing(2100, 3000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::fork);
  EXPECT_EQ(plan->target, 1);
}

TEST(Planner, UnrelatedShortPromptTakesAnEmptySequence) {
  const auto plan = World(3)
                        .resident(0, count_up(50'000), {1024}, 49'000)
                        .resident(1, count_up(100, 700'000), {}, 90)
                        .plan(count_up(50, 900'000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->target, 2);
  EXPECT_TRUE(plan->evict.empty());
}

TEST(Planner, LeastValuableIdleSequenceGoesWhenNoneIsEmpty) {
  const auto plan = World(3)
                        .resident(0, count_up(50'000), {1024}, 49'000)
                        .resident(1, count_up(100, 700'000), {}, 90)
                        .resident(2, count_up(3000, 800'000), {}, 90)
                        .plan(count_up(50, 900'000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->evict, (std::vector<SeqId>{1}));
  EXPECT_EQ(plan->target, 1);
}

TEST(Planner, LongIdleSessionLosesValue) {
  const auto plan = World(2)
                        .resident(0, count_up(50'000), {1024}, 49'000, 0.0001)
                        .resident(1, count_up(100, 700'000), {}, 90, 1.0)
                        .plan(count_up(50, 900'000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->target, 0);
}

TEST(Planner, MakesRoomForCellsButSparesWhatIsNotNeeded) {
  // 10,000 cells, 9,500 used. The small ones go first, but they do not suffice; the middle one does
  // alone, so the small ones are spared.
  World world(5, 10'000);
  world.resident(0, count_up(300, 100'000), {}, 300)
      .resident(1, count_up(200, 200'000), {}, 200)
      .resident(2, count_up(4000, 300'000), {}, 4000)
      .resident(3, count_up(5000, 400'000), {}, 5000);
  const auto plan = world.plan(count_up(3000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->evict, (std::vector<SeqId>{2}));
}

TEST(Planner, WaitsWhenOnlyRunningSequencesHoldTheCells) {
  World world(3, 10'000);
  world.resident(0, count_up(9000, 100'000), {}, 9000, 1.0, true);
  const auto plan = world.plan(count_up(3000));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error(), PlanBlocked::no_cells);
}

TEST(Planner, ReservedCellsOfRunningTurnsAreNotGivenAway) {
  World world(3, 10'000);
  EXPECT_TRUE(world.plan(count_up(3000), 6000));
  EXPECT_FALSE(world.plan(count_up(3000), 7500));
}

TEST(Planner, WaitsWhenEverySequenceRuns) {
  World world(1);
  world.resident(0, count_up(10, 100'000), {}, 10, 1.0, true);
  const auto plan = world.plan(count_up(300));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error(), PlanBlocked::no_sequence);
}

TEST(Planner, ForkThatFindsNoRoomBecomesARewind) {
  World world(2, 6000);
  world.resident(0, count_up(5000), {1024, 2048}, 4900);
  const auto plan = world.plan(departing(2100, 5500));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::anchor);
  EXPECT_EQ(plan->target, 0);
}

TEST(Planner, SharingAFewTemplateTokensIsNoReuse) {
  World world(2, 100'000, RewindKind::anywhere);
  const auto plan = world.resident(0, count_up(500), {}, 500).plan(departing(9, 400));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, ReuseSource::none);
  EXPECT_EQ(plan->matched, 9);
}

TEST(Planner, EveryPlanCanBePrinted) {
  const auto plan =
      World(2).resident(0, count_up(5000), {1024, 2048}, 4900).plan(departing(2100, 3000));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->describe(),
            "fork: 2048 of 3000 tokens from sequence 0 (shares 2100), compute 952 in sequence 1");
}

}  // namespace
}  // namespace samovar
