// Goal: the plan is what is really allocated afterwards, and a plan that does not fit says what
// would. Method: plan and open the tiny models at several sizes and compare with libllama's own
// accounting.
#include "engine/memory_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "engine/engine_testing.h"

namespace samovar::testing {
namespace {

class MemoryPlanTest : public ::testing::TestWithParam<std::string> {};

void expect_close(std::uint64_t planned, std::uint64_t allocated, const char* what) {
  EXPECT_NEAR(static_cast<double>(planned), static_cast<double>(allocated),
              0.01 * static_cast<double>(allocated))
      << what;
}

TEST_P(MemoryPlanTest, PlansWhatIsAllocated) {
  for (const auto& [cells, sequences, type] :
       {std::tuple{2048, 4, "f16"}, std::tuple{16384, 9, "q8_0"}}) {
    EngineOptions options = small_options(GetParam());
    options.cells = cells;
    options.sequences = sequences;
    options.parallel = 2;
    options.ubatch = 256;
    options.type_k = type;
    options.type_v = type;
    const auto plan = plan_memory(options);
    ASSERT_TRUE(plan) << plan.error().describe();
    const auto engine = open_or_fail(options);
    ASSERT_NE(engine, nullptr);
    ASSERT_EQ(feed(*engine, 0, some_tokens(1, 600), 256), EngineStatus::ok);
    const LlamaEngine::Allocated allocated = engine->allocated();
    expect_close(plan->weights, allocated.weights, "weights");
    expect_close(plan->kv + plan->state, allocated.memory, "K/V and state");
    expect_close(plan->compute, allocated.compute, "compute");
    EXPECT_EQ(plan->cells, engine->limits().cells);
    EXPECT_EQ(plan->states > 0, plan->state_each > 0);
  }
}

TEST_P(MemoryPlanTest, RefusesWhatDoesNotFitAndNamesWhatWould) {
  EngineOptions options = small_options(GetParam());
  const auto whole = plan_memory(options);
  ASSERT_TRUE(whole);
  options.memory_bytes = whole->total() + (std::uint64_t{4} << 20);
  options.cells = 1 << 20;
  const auto refused = plan_memory(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "-c");
  ASSERT_TRUE(refused.error().remedy.starts_with("-c ")) << refused.error().remedy;
  const Position proposed = std::atoi(refused.error().remedy.c_str() + 3);
  EXPECT_GE(proposed, 2048);

  options.cells = proposed;
  const auto fits = plan_memory(options);
  ASSERT_TRUE(fits) << fits.error().describe();
  options.cells = proposed + proposed / 4;
  EXPECT_FALSE(plan_memory(options)) << "the proposal is not far below what fits";
}

TEST_P(MemoryPlanTest, ProposesFewerAnchorsBeforeAShorterContext) {
  EngineOptions options = small_options(GetParam());
  options.anchor_memory_bytes = std::uint64_t{64} << 20;
  const auto whole = plan_memory(options);
  ASSERT_TRUE(whole);
  if (whole->anchors == 0) {
    GTEST_SKIP() << "this model needs no snapshots";
  }
  options.memory_bytes = whole->total() - (std::uint64_t{20} << 20);
  const auto refused = plan_memory(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "--anchor-memory");
  const std::string& remedy = refused.error().remedy;
  ASSERT_TRUE(remedy.starts_with("--anchor-memory ")) << remedy;
  const int proposed = std::atoi(remedy.c_str() + std::string("--anchor-memory ").size());
  EXPECT_NEAR(proposed, 44, 2);
  options.anchor_memory_bytes = static_cast<std::uint64_t>(proposed) << 20;
  EXPECT_TRUE(plan_memory(options));
}

TEST_P(MemoryPlanTest, ChoosesTheContextFromTheBudget) {
  EngineOptions options = small_options(GetParam());
  const auto whole = plan_memory(options);
  ASSERT_TRUE(whole);
  options.cells = 0;
  options.memory_bytes = whole->total() + (std::uint64_t{8} << 20);
  const auto chosen = plan_memory(options);
  ASSERT_TRUE(chosen) << chosen.error().describe();
  EXPECT_TRUE(chosen->cells_chosen);
  EXPECT_GE(chosen->cells, 2048);
  EXPECT_LE(chosen->cells, chosen->trained_context);
  EXPECT_LE(chosen->total(), options.memory_bytes);
  EXPECT_NE(chosen->table().find("chosen"), std::string::npos);
}

TEST_P(MemoryPlanTest, SaysSoWhenNothingFits) {
  EngineOptions options = small_options(GetParam());
  options.memory_bytes = 1 << 20;
  const auto refused = plan_memory(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "--memory");
  EXPECT_FALSE(refused.error().remedy.empty());
}

INSTANTIATE_TEST_SUITE_P(Models, MemoryPlanTest, ::testing::ValuesIn(tiny_models()),
                         model_test_name);

}  // namespace
}  // namespace samovar::testing
