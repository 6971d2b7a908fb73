// Goal: what leaves the engine's memory is counted once, by its true cause. Method: Memory by hand,
// one cause at a time.
#include "sched/memory.h"

#include "prefix/rewarm_plan.h"
#include "tests/support/fake_engine.h"
#include "tests/support/turns.h"

namespace samovar {
namespace {

class EvictionCauses : public testing::Test {
 protected:
  void fill(SeqId sequence, int size) {
    ASSERT_EQ(
        memory.prefill(sequence, words(size, static_cast<unsigned>(sequence) + 1), true, true),
        EngineStatus::ok);
  }
  EvictionCounts counts(std::uint64_t turn, std::uint64_t cells, std::uint64_t rewarm,
                        std::uint64_t engine_error) {
    return {turn, cells, rewarm, engine_error};
  }

  FakeClock clock;
  FakeEngine engine{{.rewind = RewindKind::anywhere, .ubatch = 512}, clock};
  Memory memory{engine, clock, 1 << 20};
};

TEST_F(EvictionCauses, ATurnThatStarts) {
  fill(0, 100);
  fill(1, 100);
  Plan plan{.target = 2, .evict = {0, 1}};
  EXPECT_EQ(memory.apply(plan), EngineStatus::ok);
  EXPECT_EQ(memory.evictions_by_cause(), counts(2, 0, 0, 0));
  EXPECT_EQ(memory.evictions(), 2);
}

TEST_F(EvictionCauses, CellsThatRunningTurnsNeed) {
  fill(0, 100);
  fill(1, 200);
  EXPECT_TRUE(memory.evict_one());
  EXPECT_TRUE(memory.evict_one());
  EXPECT_FALSE(memory.evict_one()) << "nothing is left";
  EXPECT_EQ(memory.evictions_by_cause(), counts(0, 2, 0, 0));
}

TEST_F(EvictionCauses, ARewarm) {
  fill(0, 100);
  fill(1, 200);
  Plan plan{.source = ReuseSource::live,
            .from = 1,
            .target = 1,
            .prompt_tokens = 250,
            .resume_at = 200,
            .evict = {0}};
  EXPECT_EQ(memory.apply_rewarm(plan, {}), EngineStatus::ok);
  EXPECT_EQ(memory.evictions_by_cause(), counts(0, 0, 1, 0));
}

TEST_F(EvictionCauses, AnEngineThatFails) {
  FakeEngine failing({.rewind = RewindKind::anywhere, .ubatch = 512, .failure_rate = 1.0}, clock);
  FakeEngine* const broken = &failing;
  Memory other{*broken, clock, 1 << 20};
  Plan plan{.source = ReuseSource::anchor, .from = 0, .target = 0, .resume_at = 0};
  EXPECT_NE(other.apply(plan), EngineStatus::ok);
  EXPECT_EQ(other.evictions_by_cause(), counts(0, 0, 0, 1));
}

TEST_F(EvictionCauses, WhatIsDiscardedWithItsTurnIsNoEviction) {
  fill(0, 100);
  memory.discard(0);
  fill(1, 100);
  memory.clear();
  EXPECT_EQ(memory.evictions(), 0);
}

}  // namespace
}  // namespace samovar
