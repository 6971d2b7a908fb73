// Goal: computing keeps the contract of Engine on every kind of model: lengths, outputs, several
// sequences in one call, and errors that stay where they happen. Method: small prompts, compared
// with what a sequence answers alone.
#include "engine/llama_engine.h"

#include <gtest/gtest.h>

#include "engine/engine_testing.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

class LlamaEngineTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    engine_ = open_or_fail(small_options(GetParam()));
    ASSERT_NE(engine_, nullptr);
  }

  std::unique_ptr<LlamaEngine> engine_;
};

TEST_P(LlamaEngineTest, DescribesModelAndLimits) {
  EXPECT_FALSE(engine_->model().name.empty());
  EXPECT_FALSE(engine_->model().architecture.empty());
  EXPECT_GT(engine_->model().parameters, 0U);
  EXPECT_GT(engine_->model().trained_context, 0);
  EXPECT_EQ(engine_->limits().cells, 2048);
  EXPECT_EQ(engine_->limits().sequences, 6);
  EXPECT_EQ(engine_->limits().ubatch, 64);

  ASSERT_EQ(feed(*engine_, 0, some_tokens(1, 200)), EngineStatus::ok);
  if (engine_->model().rewind == RewindKind::anywhere) {
    EXPECT_EQ(engine_->limits().snapshot_bytes, 0U);
    EXPECT_EQ(take(*engine_, 0), nullptr);
  } else {
    EXPECT_NEAR(static_cast<double>(engine_->limits().snapshot_bytes),
                static_cast<double>(take(*engine_, 0)->bytes()), 1024.0);
    EXPECT_EQ(take(*engine_, 0)->position(), 200);
  }
}

TEST_P(LlamaEngineTest, ComputesTheSameTwice) {
  const Tokens prompt = some_tokens(2, 100);
  ASSERT_EQ(feed(*engine_, 0, prompt), EngineStatus::ok);
  const Reply first = reply_of(*engine_, 0, 8);
  EXPECT_EQ(engine_->length(0), 108);
  engine_->drop(0);
  ASSERT_EQ(feed(*engine_, 3, prompt), EngineStatus::ok);
  EXPECT_TRUE(reply_of(*engine_, 3, 8) == first);
}

TEST_P(LlamaEngineTest, DecodesSeveralSequencesAsEachWouldAlone) {
  constexpr SeqId kCount = 5;
  constexpr int kSteps = 6;
  std::vector<Tokens> prompts;
  std::vector<Reply> alone;
  for (SeqId i = 0; i < kCount; ++i) {
    prompts.push_back(some_tokens(static_cast<std::uint32_t>(10 + i), 40 + 17 * i));
    ASSERT_EQ(feed(*engine_, i, prompts.back()), EngineStatus::ok);
    alone.push_back(reply_of(*engine_, i, kSteps));
    engine_->drop(i);
  }
  for (SeqId i = 0; i < kCount; ++i) {
    ASSERT_EQ(feed(*engine_, i, prompts[static_cast<std::size_t>(i)]), EngineStatus::ok);
  }
  std::vector<Reply> together(kCount);
  for (std::size_t step = 0; step + 1 < kSteps; ++step) {
    std::vector<DecodeStep> steps;
    for (SeqId i = kCount - 1; i >= 0; --i) {  // any order
      steps.push_back({i, engine_->length(i), alone[static_cast<std::size_t>(i)].tokens[step]});
    }
    ASSERT_EQ(engine_->decode(steps), EngineStatus::ok);
    for (std::size_t output = 0; output < steps.size(); ++output) {
      const auto row = engine_->logits(static_cast<int>(output));
      together[static_cast<std::size_t>(steps[output].sequence)].rows.emplace_back(row.begin(),
                                                                                   row.end());
    }
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    alone[i].rows.erase(alone[i].rows.begin());  // the prompt's own row
    EXPECT_TRUE(same_up_to_rounding(together[i], alone[i])) << "sequence " << i;
  }
}

TEST_P(LlamaEngineTest, OperationsOnEmptySequencesLeaveOthersAlone) {
  const Tokens prompt = some_tokens(20, 90);
  ASSERT_EQ(feed(*engine_, 0, prompt), EngineStatus::ok);
  const Reply expected = reply_of(*engine_, 0, 4);
  engine_->drop(0);
  ASSERT_EQ(feed(*engine_, 0, prompt), EngineStatus::ok);
  engine_->drop(4);  // an empty one
  ASSERT_EQ(engine_->fork(0, 1, 0, nullptr), EngineStatus::ok);
  EXPECT_EQ(engine_->length(1), 0);
  ASSERT_EQ(engine_->rewind(1, 0, nullptr), EngineStatus::ok);
  EXPECT_TRUE(reply_of(*engine_, 0, 4) == expected);
}

TEST_P(LlamaEngineTest, GivesBytesOfTokensAndKnowsTheEnd) {
  const llama_model* raw = engine_->raw_model();
  EXPECT_NE(raw, nullptr);
  int ends = 0;
  for (Token token = 0; token < engine_->model().vocab_size; ++token) {
    if (engine_->is_end(token)) {
      ++ends;
      EXPECT_EQ(engine_->piece(token, false), "");
      EXPECT_FALSE(engine_->piece(token, true).empty());
    }
  }
  EXPECT_GE(ends, 1);
  EXPECT_FALSE(engine_->piece(100, false).empty());
  EXPECT_EQ(engine_->piece(-1, true), "");
  EXPECT_EQ(engine_->piece(engine_->model().vocab_size, true), "");
}

INSTANTIATE_TEST_SUITE_P(Models, LlamaEngineTest, ::testing::ValuesIn(tiny_models()),
                         model_test_name);

TEST(LlamaEngineOpen, ExplainsWhatIsWrong) {
  EngineOptions options = small_options("/nowhere/model.gguf");
  auto engine = LlamaEngine::open(options);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().field, "-m");
  EXPECT_NE(engine.error().message.find("/nowhere/model.gguf"), std::string::npos);

  options = small_options(tiny_models().front());
  options.type_k = "q9";
  engine = LlamaEngine::open(options);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().field, "-ctk");
  EXPECT_NE(engine.error().remedy.find("q8_0"), std::string::npos);

  options = small_options(tiny_models().front());
  options.sequences = 1000;
  engine = LlamaEngine::open(options);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().field, "--sequences");
}

TEST(LlamaEngineOpen, RefusesAFileThatIsNoModel) {
  const TemporaryFile file("hello");
  const auto engine = LlamaEngine::open(small_options(file.path()));
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().field, "-m");
}

}  // namespace
}  // namespace samovar::testing
