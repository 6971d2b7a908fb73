// Goal: on real architectures and templates, what a template drops from earlier turns, a clock in
// the system prompt and a reminder that moves cost next to nothing, and never change a byte of a
// reply.
//
// Method: as warm_test.cc: the real engine, chat template and scheduler; "cold" is a fresh engine
// that sees only the last prompt. Re-warms run between turns as the server has them run.
#include "tests/reuse/session.h"
#include "tests/support/temporary_folder.h"

namespace samovar {
namespace {

constexpr Position kCells = 16'384;

class Rewarm : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static std::unique_ptr<Session> start(const std::string& folder = {}) {
    return std::make_unique<Session>(GetParam(), kCells, 2, folder, 4096);
  }
  [[nodiscard]] static std::string cold(const ChatRequest& chat) { return start()->ask(chat).text; }

  // Templates of the others have no reasoning to drop.
  [[nodiscard]] static bool reasons() { return GetParam().contains("qwen"); }

  testing::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(TinyModels, Rewarm, ::testing::ValuesIn(testing::tiny_models()),
                         testing::model_test_name);

// A tool loop with reasoning before every call.
ChatRequest tool_loop(int steps, unsigned seed) {
  ChatRequest chat;
  chat.tools = {{.name = "read",
                 .description = "Reads a file",
                 .parameters = R"({"type":"object","properties":{"path":{"type":"string"}}})"}};
  chat.messages = {{.role = Role::system, .content = prose(150, seed)},
                   {.role = Role::user, .content = prose(40, seed + 1)}};
  for (int i = 0; i < steps; ++i) {
    const unsigned at = seed + 10 + 2 * static_cast<unsigned>(i);
    const std::string id = "call_" + std::to_string(i);
    chat.messages.push_back(
        {.role = Role::assistant,
         .reasoning = prose(70, at),
         .tool_calls = {{.id = id, .name = "read", .arguments = R"({"path":"a.txt"})"}}});
    chat.messages.push_back(
        {.role = Role::tool, .content = prose(80, at + 1), .tool_call_id = id, .name = "read"});
  }
  return chat;
}

TEST_P(Rewarm, TheTurnAfterALoopComputesItsNewTokensOnlyAndEqualsCold) {
  if (!reasons()) GTEST_SKIP() << "its template drops nothing";
  const auto session = start();
  ChatRequest chat = tool_loop(8, 1);
  const Answer answer = session->ask(chat);
  ASSERT_TRUE(session->rewarm(chat, answer));
  // Both lines are there: the last answer may be asked for again.
  const Answer again = session->ask(chat);
  EXPECT_LE(again.timings.computed_tokens, kSplitCost);
  EXPECT_EQ(again.text, answer.text);
  session->rewarm(chat, again);
  Answer last = again;
  for (unsigned turn = 0; turn < 3; ++turn) {
    add_exchange(*session, chat, last, 900 + turn);
    last = session->ask(chat);
    EXPECT_LT(last.fresh, 150) << "the history was not warmed";
    EXPECT_LE(last.timings.computed_tokens, last.fresh + kSplitCost);
    EXPECT_GT(last.timings.rewarmed_tokens, turn == 0 ? 500 : -1);
    EXPECT_EQ(last.text, cold(chat)) << "turn " << turn;
    session->rewarm(chat, last);
  }
}

TEST_P(Rewarm, WhatWasWarmedComesBackAfterARestart) {
  if (!reasons()) GTEST_SKIP() << "its template drops nothing";
  ChatRequest chat = tool_loop(8, 2);
  {
    const auto session = start(folder_.path());
    const Answer answer = session->ask(chat);
    ASSERT_TRUE(session->rewarm(chat, answer));
    add_exchange(*session, chat, answer, 910);
    session->save();
  }
  const Answer next = start(folder_.path())->ask(chat);
  EXPECT_EQ(next.timings.source, ReuseSource::store);
  EXPECT_LE(next.timings.computed_tokens, 150 + kSplitCost);
  EXPECT_EQ(next.text, cold(chat));
}

// A system prompt of about 3,000 tokens with the time at its end.
void set_clock(ChatRequest& chat, unsigned minute) {
  chat.messages[0].content = prose(1500, 77) + "\nThe time is 12:" + std::to_string(10 + minute);
}

TEST_P(Rewarm, AClockAtTheEndOfTheSystemPromptCostsWhatFollowsItFromTheThirdTurnOn) {
  constexpr Position kUbatch = 512;
  const auto session = start();
  ChatRequest chat = conversation(1000, 5);
  set_clock(chat, 0);
  Answer answer = session->ask(chat);
  for (unsigned turn = 1; turn < 4; ++turn) {
    add_exchange(*session, chat, answer, 920 + turn);
    set_clock(chat, turn);
    answer = session->ask(chat);
    EXPECT_GT(answer.timings.matched_tokens, 2000);
    const Position least = turn > 1 ? answer.timings.matched_tokens - kUbatch : -1;
    EXPECT_GT(answer.timings.reused_tokens, least) << "turn " << turn;
    EXPECT_EQ(answer.text, cold(chat)) << "turn " << turn;
  }
}

TEST_P(Rewarm, AClockCostsTheSameAfterARestart) {
  constexpr Position kUbatch = 512;
  ChatRequest chat = conversation(1000, 6);
  Position clock_at = 0;
  {
    const auto session = start(folder_.path());
    set_clock(chat, 0);
    Answer answer = session->ask(chat);
    add_exchange(*session, chat, answer, 930);
    set_clock(chat, 1);
    answer = session->ask(chat);
    clock_at = answer.timings.matched_tokens;
    add_exchange(*session, chat, answer, 931);
    session->save();
  }
  set_clock(chat, 2);
  const Answer next = start(folder_.path())->ask(chat);
  EXPECT_EQ(next.timings.source, ReuseSource::store);
  EXPECT_GT(next.timings.reused_tokens, clock_at - kUbatch);
  EXPECT_EQ(next.text, cold(chat));
}

TEST_P(Rewarm, AReminderThatMovesToTheNewestMessageCostsThatMessage) {
  const auto session = start();
  const std::string reminder = "\n<system-reminder>" + prose(20, 88) + "</system-reminder>";
  ChatRequest chat = conversation(3000, 7);
  chat.messages.back().content += reminder;
  Answer answer = session->ask(chat);
  for (unsigned turn = 0; turn < 2; ++turn) {
    std::string& last = chat.messages.back().content;
    last.resize(last.size() - reminder.size());
    add_exchange(*session, chat, answer, 940 + turn);
    chat.messages.back().content += reminder;
    answer = session->ask(chat);
    // From the start of the message that it moved away from: about 100 tokens before the
    // difference.
    EXPECT_LE(answer.timings.computed_tokens, answer.fresh + 100 + kSplitCost);
    EXPECT_EQ(answer.text, cold(chat)) << "turn " << turn;
  }
}

}  // namespace
}  // namespace samovar
