// Goal: a snapshot that libllama does not accept costs one sequence and nothing else. Method: the
// layer below LlamaEngine, with snapshots whose bytes are damaged in ways that libllama notices.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/engine_testing.h"
#include "engine/llama_context.h"
#include "engine/llama_memory.h"

namespace samovar::testing {
namespace {

class LlamaRestoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const EngineOptions options = small_options(GetParam());
    auto context = LlamaContext::open(options);
    ASSERT_TRUE(context) << context.error().describe();
    context_ = std::move(*context);
    if (context_->shape().rewind == RewindKind::anywhere) {
      GTEST_SKIP() << "this model needs no snapshots";
    }
    memory_ = std::make_unique<LlamaMemory>(context_->raw(), context_->shape(), options.sequences);
  }

  // Appends tokens and returns the most likely next one.
  Token compute(SeqId sequence, const Tokens& tokens) {
    context_->clear_batch();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      context_->add(tokens[i], memory_->length(sequence) + static_cast<Position>(i),
                    memory_->ids(sequence), i + 1 == tokens.size());
    }
    EXPECT_EQ(context_->run_batch(), 0);
    memory_->appended(sequence, static_cast<Position>(tokens.size()));
    const float* row = llama_get_logits_ith(context_->raw(), -1);
    const int size = llama_vocab_n_tokens(context_->vocab());
    return most_likely({row, static_cast<std::size_t>(size)});
  }

  // A copy of the snapshot's first `bytes` bytes, the one at `place` changed.
  std::unique_ptr<LlamaSnapshot> damaged(const Snapshot& snapshot, std::size_t bytes,
                                         std::size_t place) {
    const auto state = dynamic_cast<const LlamaSnapshot&>(snapshot).state();
    SnapshotPool::Buffer buffer = pool_->take(bytes);
    std::memcpy(buffer.data.get(), state.data(), bytes);
    buffer.data[place] ^= 0x5aU;
    return std::make_unique<LlamaSnapshot>(pool_, memory_.get(), snapshot.position(),
                                           std::move(buffer), bytes);
  }

  std::unique_ptr<LlamaContext> context_;
  std::unique_ptr<LlamaMemory> memory_;
  std::shared_ptr<SnapshotPool> pool_ = std::make_shared<SnapshotPool>();
};

TEST_P(LlamaRestoreTest, ADamagedSnapshotEmptiesItsSequenceOnly) {
  const Tokens prompt = some_tokens(1, 60);
  const Tokens other = some_tokens(2, 50);
  const Token expected = compute(1, other);
  memory_->drop(1);
  compute(1, Tokens(other.begin(), other.end() - 1));

  compute(0, prompt);
  const auto snapshot = memory_->snapshot(0);
  ASSERT_TRUE(snapshot);
  const std::size_t bytes = (*snapshot)->bytes();
  struct Damage {
    std::size_t bytes;
    std::size_t place;
  };
  for (const Damage& damage :
       {Damage{bytes, 0}, Damage{bytes / 2, bytes / 2 - 1}, Damage{bytes - 1, bytes - 2}}) {
    compute(0, some_tokens(3, 10));
    const auto bad = damaged(**snapshot, damage.bytes, damage.place);
    EXPECT_EQ(memory_->rewind(0, 60, bad.get()), LlamaMemory::Outcome::lost);
    EXPECT_EQ(memory_->length(0), 0);
    EXPECT_TRUE(memory_->really_empty(0));
    compute(0, prompt);
  }
  EXPECT_EQ(memory_->fork(0, 2, 60, damaged(**snapshot, bytes, 1).get()),
            LlamaMemory::Outcome::lost);
  EXPECT_TRUE(memory_->really_empty(2));

  // The other conversation and the good snapshot are as before.
  EXPECT_EQ(compute(1, {other.back()}), expected);
  const Token next = compute(0, some_tokens(4, 10));
  EXPECT_EQ(memory_->rewind(0, 60, snapshot->get()), LlamaMemory::Outcome::done);
  EXPECT_EQ(compute(0, some_tokens(4, 10)), next);
}

TEST_P(LlamaRestoreTest, ABrokenSequenceIsRepairedByRewindingToItsEnd) {
  const Tokens prompt = some_tokens(5, 60);
  compute(0, prompt);
  const auto snapshot = memory_->snapshot(0);
  ASSERT_TRUE(snapshot);
  const Token next = compute(0, some_tokens(6, 5));
  ASSERT_EQ(memory_->rewind(0, 60, snapshot->get()), LlamaMemory::Outcome::done);

  // As if an engine call had failed half-way: libllama's memory has moved on, our length has not.
  compute(0, some_tokens(7, 20));
  memory_->appended(0, -20);
  memory_->mark_broken(0);
  EXPECT_FALSE(memory_->snapshot(0)) << "no snapshot of a state that is not known";
  ASSERT_EQ(memory_->rewind(0, 60, snapshot->get()), LlamaMemory::Outcome::done);
  EXPECT_FALSE(memory_->broken(0));
  EXPECT_EQ(compute(0, some_tokens(6, 5)), next);
}

INSTANTIATE_TEST_SUITE_P(Models, LlamaRestoreTest, ::testing::ValuesIn(tiny_models()),
                         model_test_name);

}  // namespace
}  // namespace samovar::testing
