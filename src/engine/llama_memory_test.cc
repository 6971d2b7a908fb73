// Goal: going back, forking and dropping leave exactly the memory they promise, on every kind of
// model. Method: the same tokens, cut at the same places, are computed without any of these
// operations ("cold"), and every logit of a greedy reply is compared. A wrong state shows as wrong
// logits, never as an error.
#include <gtest/gtest.h>

#include "engine/engine_testing.h"

namespace samovar::testing {
namespace {

class LlamaMemoryTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    engine_ = open_or_fail(small_options(GetParam()));
    ASSERT_NE(engine_, nullptr);
  }

  // What a sequence that never did anything else answers. Uses sequence 5 and empties it.
  Reply cold(TokenSpan tokens, int count = 6) {
    EXPECT_EQ(feed(*engine_, 5, tokens), EngineStatus::ok);
    Reply reply = reply_of(*engine_, 5, count);
    engine_->drop(5);
    return reply;
  }

  std::unique_ptr<LlamaEngine> engine_;
};

TEST_P(LlamaMemoryTest, RewoundEqualsColdByteForByte) {
  const Tokens old_prompt = some_tokens(1, 400);
  Tokens new_prompt(old_prompt.begin(), old_prompt.begin() + 192);
  const Tokens tail = some_tokens(2, 100);
  new_prompt.insert(new_prompt.end(), tail.begin(), tail.end());
  const Reply expected = cold(new_prompt);

  ASSERT_EQ(feed(*engine_, 0, TokenSpan(old_prompt).first(192)), EngineStatus::ok);
  const SnapshotPtr anchor = take(*engine_, 0);
  ASSERT_EQ(feed(*engine_, 0, TokenSpan(old_prompt).subspan(192)), EngineStatus::ok);
  reply_of(*engine_, 0, 20);
  ASSERT_EQ(engine_->rewind(0, 192, anchor.get()), EngineStatus::ok);
  EXPECT_EQ(engine_->length(0), 192);
  ASSERT_EQ(feed(*engine_, 0, tail), EngineStatus::ok);
  EXPECT_TRUE(reply_of(*engine_, 0, 6) == expected);
}

TEST_P(LlamaMemoryTest, RewindsToTheSamePlaceManyTimes) {
  const Tokens prompt = some_tokens(3, 128);
  ASSERT_EQ(feed(*engine_, 0, prompt), EngineStatus::ok);
  const SnapshotPtr anchor = take(*engine_, 0);
  const Tokens question = some_tokens(4, 30);
  ASSERT_EQ(feed(*engine_, 0, question), EngineStatus::ok);
  const Reply first = reply_of(*engine_, 0, 6);
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(engine_->rewind(0, 128, anchor.get()), EngineStatus::ok);
    ASSERT_EQ(feed(*engine_, 0, question), EngineStatus::ok);
    EXPECT_TRUE(reply_of(*engine_, 0, 6) == first);
  }
}

TEST_P(LlamaMemoryTest, AForkOfAnEarlierPositionEqualsColdAndLeavesTheSourceAlone) {
  const Tokens prompt = some_tokens(5, 300);
  Tokens branch(prompt.begin(), prompt.begin() + 128);
  const Tokens tail = some_tokens(6, 60);
  branch.insert(branch.end(), tail.begin(), tail.end());
  const Reply expected_branch = cold(branch);
  const Reply expected_source = cold(prompt, 12);

  ASSERT_EQ(feed(*engine_, 0, TokenSpan(prompt).first(128)), EngineStatus::ok);
  const SnapshotPtr anchor = take(*engine_, 0);
  ASSERT_EQ(feed(*engine_, 0, TokenSpan(prompt).subspan(128)), EngineStatus::ok);
  const Reply source = reply_of(*engine_, 0, 6);

  ASSERT_EQ(engine_->fork(0, 1, 128, anchor.get()), EngineStatus::ok);
  EXPECT_EQ(engine_->length(1), 128);
  ASSERT_EQ(feed(*engine_, 1, tail), EngineStatus::ok);
  // Cells of the fork lie behind those of its source, so the order of summation differs from cold.
  EXPECT_TRUE(
      same_up_to_rounding(reply_of(*engine_, 1, 6, expected_branch.tokens), expected_branch));

  // The source continues in the middle of its reply as if nothing had happened.
  EXPECT_EQ(engine_->length(0), 306);
  EXPECT_EQ(source.tokens,
            Tokens(expected_source.tokens.begin(), expected_source.tokens.begin() + 6));
  const DecodeStep next{0, 306, expected_source.tokens[6]};
  ASSERT_EQ(engine_->decode({&next, 1}), EngineStatus::ok);
  const Reply rest = reply_of(*engine_, 0, 5, TokenSpan(expected_source.tokens).subspan(7));
  Reply expected_rest = expected_source;
  expected_rest.rows.erase(expected_rest.rows.begin(), expected_rest.rows.begin() + 7);
  EXPECT_TRUE(same_up_to_rounding(rest, expected_rest));
}

TEST_P(LlamaMemoryTest, ASnapshotDoesNotChangeWhenItsSequenceAdvances) {
  const Tokens prompt = some_tokens(7, 128);
  const Tokens question = some_tokens(8, 40);
  Tokens whole = prompt;
  whole.insert(whole.end(), question.begin(), question.end());
  const Reply expected = cold(whole);

  ASSERT_EQ(feed(*engine_, 0, prompt), EngineStatus::ok);
  const SnapshotPtr anchor = take(*engine_, 0);
  ASSERT_EQ(engine_->fork(0, 1, 128, anchor.get()), EngineStatus::ok);
  ASSERT_EQ(feed(*engine_, 0, some_tokens(9, 300)), EngineStatus::ok);  // the source goes on
  ASSERT_EQ(feed(*engine_, 1, question), EngineStatus::ok);
  EXPECT_TRUE(same_up_to_rounding(reply_of(*engine_, 1, 6, expected.tokens), expected));

  engine_->drop(0);
  ASSERT_EQ(engine_->fork(1, 2, 128, anchor.get()),
            EngineStatus::ok);  // long after the source has gone
  ASSERT_EQ(feed(*engine_, 2, question), EngineStatus::ok);
  EXPECT_TRUE(same_up_to_rounding(reply_of(*engine_, 2, 6, expected.tokens), expected));
}

TEST_P(LlamaMemoryTest, RefusesASnapshotOfAnotherPositionAndChangesNothing) {
  if (engine_->model().rewind == RewindKind::anywhere) {
    GTEST_SKIP() << "this model needs no snapshots";
  }
  const Tokens prompt = some_tokens(10, 200);
  ASSERT_EQ(feed(*engine_, 0, TokenSpan(prompt).first(64)), EngineStatus::ok);
  const SnapshotPtr anchor = take(*engine_, 0);
  ASSERT_EQ(feed(*engine_, 0, TokenSpan(prompt).subspan(64)), EngineStatus::ok);
  EXPECT_EQ(engine_->rewind(0, 100, anchor.get()), EngineStatus::failed);
  EXPECT_EQ(engine_->rewind(0, 100, nullptr), EngineStatus::failed);
  EXPECT_EQ(engine_->fork(0, 1, 100, anchor.get()), EngineStatus::failed);
  EXPECT_EQ(engine_->length(0), 200);
  EXPECT_EQ(engine_->length(1), 0);

  const auto other = open_or_fail(small_options(GetParam()));
  ASSERT_EQ(feed(*other, 0, prompt), EngineStatus::ok);
  EXPECT_EQ(other->rewind(0, 64, anchor.get()), EngineStatus::failed)
      << "a snapshot of another engine";

  const Tokens next = some_tokens(11, 10);
  Tokens whole = prompt;
  whole.insert(whole.end(), next.begin(), next.end());
  ASSERT_EQ(feed(*engine_, 0, next), EngineStatus::ok);
  const Reply kept = reply_of(*engine_, 0, 4);
  engine_->drop(0);
  EXPECT_TRUE(kept == cold(whole, 4));
}

TEST_P(LlamaMemoryTest, AFullMemoryLeavesEverythingAsItWasAndDropFreesIt) {
  const Tokens prompt = some_tokens(12, 128);
  ASSERT_EQ(feed(*engine_, 0, prompt), EngineStatus::ok);
  const Reply expected = cold(prompt, 8);

  const SeqId filler = 1;
  ASSERT_EQ(feed(*engine_, filler, some_tokens(13, engine_->limits().cells - 128 - 10)),
            EngineStatus::ok);
  const Position before = engine_->length(filler);
  EXPECT_EQ(engine_->prefill(filler, before, some_tokens(14, 20), false), EngineStatus::no_cells);
  EXPECT_EQ(engine_->length(filler), before);
  EXPECT_EQ(engine_->prefill(2, 0, some_tokens(14, 20), false), EngineStatus::no_cells);
  EXPECT_EQ(engine_->length(2), 0);
  EXPECT_EQ(engine_->prefill(filler, before, some_tokens(14, 10), false), EngineStatus::ok);

  const DecodeStep no_room{0, 128, expected.tokens[0]};
  EXPECT_EQ(engine_->decode({&no_room, 1}), EngineStatus::no_cells);
  engine_->drop(filler);
  EXPECT_EQ(engine_->length(filler), 0);
  ASSERT_EQ(engine_->decode({&no_room, 1}), EngineStatus::ok);
  Reply expected_rest = expected;
  expected_rest.rows.erase(expected_rest.rows.begin());
  const Reply rest = reply_of(*engine_, 0, 7, TokenSpan(expected.tokens).subspan(1));
  EXPECT_TRUE(same_up_to_rounding(rest, expected_rest));
  EXPECT_EQ(feed(*engine_, 2, some_tokens(15, engine_->limits().cells - 200)), EngineStatus::ok);
}

// Sliding windows let other sequences overwrite what left the window (see llama_memory.h). Method:
// leave a gap between two parts of a conversation; the next prompt fills the gap and runs on into
// the second part, which is outside the window by then, but inside it again after the rewind.
TEST_P(LlamaMemoryTest, RewindsIntoAWindowThatOthersCouldHaveOverwritten) {
  const Tokens prompt = some_tokens(16, 704);
  Tokens again(prompt.begin(), prompt.begin() + 448);
  const Tokens tail = some_tokens(17, 50);
  again.insert(again.end(), tail.begin(), tail.end());
  const Reply expected = cold(again);

  ASSERT_EQ(feed(*engine_, 0, TokenSpan(prompt).first(320)), EngineStatus::ok);
  ASSERT_EQ(feed(*engine_, 1, some_tokens(18, 100)), EngineStatus::ok);
  ASSERT_EQ(feed(*engine_, 0, TokenSpan(prompt).subspan(320, 128)), EngineStatus::ok);
  const SnapshotPtr anchor = take(*engine_, 0);
  ASSERT_EQ(feed(*engine_, 0, TokenSpan(prompt).subspan(448)), EngineStatus::ok);
  engine_->drop(1);
  ASSERT_EQ(feed(*engine_, 2, some_tokens(19, 500)), EngineStatus::ok);

  ASSERT_EQ(engine_->rewind(0, 448, anchor.get()), EngineStatus::ok);
  ASSERT_EQ(feed(*engine_, 0, tail), EngineStatus::ok);
  EXPECT_TRUE(same_up_to_rounding(reply_of(*engine_, 0, 6, expected.tokens), expected));
}

// Without swa_full the window's cells are few and go round quickly: snapshots bring them back.
TEST_P(LlamaMemoryTest, RewindsAndForksWithASmallWindowCache) {
  EngineOptions options = small_options(GetParam());
  options.swa_full = false;
  engine_ = nullptr;
  engine_ = open_or_fail(options);
  ASSERT_NE(engine_, nullptr);
  const Tokens prompt = some_tokens(21, 640);
  Tokens again(prompt.begin(), prompt.begin() + 320);
  const Tokens tail = some_tokens(22, 50);
  again.insert(again.end(), tail.begin(), tail.end());
  const Reply expected = cold(again);

  ASSERT_EQ(feed(*engine_, 0, TokenSpan(prompt).first(320)), EngineStatus::ok);
  const SnapshotPtr anchor = take(*engine_, 0);
  ASSERT_EQ(feed(*engine_, 0, TokenSpan(prompt).subspan(320)), EngineStatus::ok);
  ASSERT_EQ(engine_->fork(0, 1, 320, anchor.get()), EngineStatus::ok);
  ASSERT_EQ(engine_->rewind(0, 320, anchor.get()), EngineStatus::ok);
  for (const SeqId sequence : {0, 1}) {
    ASSERT_EQ(feed(*engine_, sequence, tail), EngineStatus::ok);
    EXPECT_TRUE(same_up_to_rounding(reply_of(*engine_, sequence, 6, expected.tokens), expected));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, LlamaMemoryTest, ::testing::ValuesIn(tiny_models()),
                         model_test_name);

TEST(TinyModels, AreThere) { EXPECT_GE(tiny_models().size(), 5U) << "run `make models`"; }

}  // namespace
}  // namespace samovar::testing
