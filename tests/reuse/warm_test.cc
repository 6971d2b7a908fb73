// Goal: on real architectures, a follow-up computes its new tokens only, and a resumed prompt gives
// the same greedy bytes as the same prompt cold.
//
// Method: the real engine, chat template and scheduler, without HTTP, on random models with weights
// large enough that a wrong state shows. "New" is what follows the longest prefix shared with
// anything that the engine has computed. "Cold" is a fresh engine that sees only the last prompt.
#include "tests/reuse/session.h"

namespace samovar {
namespace {

class Warm : public ::testing::TestWithParam<std::string> {
 protected:
  // The same prompt on an engine that has seen nothing.
  [[nodiscard]] std::string cold(const ChatRequest& chat, Position cells) const {
    Session fresh(GetParam(), cells);
    return fresh.ok() ? fresh.ask(chat).text : "";
  }
};

INSTANTIATE_TEST_SUITE_P(TinyModels, Warm, ::testing::ValuesIn(testing::tiny_models()),
                         testing::model_test_name);

TEST_P(Warm, FollowUpsComputeTheirNewTokensOnlyAndEqualCold) {
  constexpr Position kCells = 16'384;
  Session session(GetParam(), kCells);
  ASSERT_TRUE(session.ok());
  ChatRequest chat = conversation(6000, 1);
  Answer answer = session.ask(chat);
  EXPECT_GT(answer.offered, 5000);
  for (unsigned turn = 0; turn < 3; ++turn) {
    add_exchange(session, chat, answer, 100 + turn);
    answer = session.ask(chat);
    EXPECT_LE(answer.timings.computed_tokens, answer.fresh + kSplitCost);
    EXPECT_EQ(answer.text, cold(chat, kCells)) << "turn " << turn;
  }
}

TEST_P(Warm, RewindsComputeTheirNewTokensOnlyAndEqualCold) {
  constexpr Position kCells = 16'384;
  Session session(GetParam(), kCells);
  ASSERT_TRUE(session.ok());
  const ChatRequest trunk = conversation(6000, 2);
  const Answer first = session.ask(trunk);

  const Answer again = session.ask(trunk);  // regenerate
  EXPECT_LE(again.timings.computed_tokens, again.fresh + kSplitCost);
  EXPECT_EQ(again.text, first.text);

  ChatRequest edited = trunk;  // edit the question
  edited.messages.back().content = prose(40, 77);
  const Answer edit = session.ask(edited);
  EXPECT_LE(edit.timings.computed_tokens, edit.fresh + kSplitCost);
  EXPECT_EQ(edit.text, cold(edited, kCells));
}

TEST_P(Warm, BranchAndBackKeepsBothBranches) {
  constexpr Position kCells = 16'384;
  Session session(GetParam(), kCells);
  ASSERT_TRUE(session.ok());
  ChatRequest trunk = conversation(6000, 3);
  const Answer first = session.ask(trunk);
  ChatRequest branch = trunk;
  branch.messages.resize(branch.messages.size() / 2);
  branch.messages.push_back({.role = Role::user, .content = prose(120, 88)});
  const Answer other = session.ask(branch);
  EXPECT_LE(other.timings.computed_tokens, other.fresh + kSplitCost);
  EXPECT_EQ(other.text, cold(branch, kCells));

  add_exchange(session, trunk, first, 99);
  const Answer back = session.ask(trunk);
  EXPECT_LE(back.timings.computed_tokens, back.fresh + kSplitCost);
  EXPECT_EQ(back.text, cold(trunk, kCells));
}

// Batching may change rounding (docs/performance.md has the measured drift), never whose memory is
// read.
TEST_P(Warm, EightSessionsAtOnceGiveTheAnswersTheyGiveAlone) {
  constexpr Position kCells = 16'384;
  std::vector<ChatRequest> chats;
  for (unsigned i = 0; i < 8; ++i)
    chats.push_back(conversation(600 + 50 * static_cast<int>(i), 300 + 20 * i));
  Session together(GetParam(), kCells, 8);
  ASSERT_TRUE(together.ok());
  const auto answers = together.ask_together(chats);
  Session alone(GetParam(), kCells, 8);
  ASSERT_TRUE(alone.ok());
  for (std::size_t i = 0; i < chats.size(); ++i) {
    EXPECT_EQ(answers[i].text, alone.ask(chats[i]).text) << "session " << i;
    EXPECT_EQ(answers[i].timings.reply_tokens, kReplyTokens);
  }
}

TEST_P(Warm, ThirtyThousandTokensStayWarm) {
  constexpr Position kCells = 40'960;
  Session session(GetParam(), kCells);
  ASSERT_TRUE(session.ok());
  ChatRequest chat = conversation(30'000, 4);
  const Answer first = session.ask(chat);
  EXPECT_GT(first.offered, 25'000);
  add_exchange(session, chat, first, 200);
  const Answer next = session.ask(chat);
  EXPECT_LE(next.timings.computed_tokens, next.fresh + kSplitCost);
  ChatRequest edited = chat;
  edited.messages.back().content = prose(40, 201);
  const Answer edit = session.ask(edited);
  EXPECT_LE(edit.timings.computed_tokens, edit.fresh + kSplitCost);
  EXPECT_EQ(edit.text, cold(edited, kCells));
}

}  // namespace
}  // namespace samovar
