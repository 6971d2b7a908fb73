// Goal: `samovar chat` and `samovar serve` together: what was cut, killed or retried is computed
// once. Method: both binaries, a tiny model, a pseudo terminal.
#include <gtest/gtest.h>

#include <regex>

#include "tests/e2e/chat_terminal.h"
#include "tests/e2e/server_process.h"

namespace samovar::testing {
namespace {

// The figures of the turn line that was shown last, as {reused, computed}.
std::pair<int, int> last_figures(const std::string& output) {
  static const std::regex line("reused ([0-9,]+) · computed ([0-9,]+)");
  std::pair<int, int> figures = {-1, -1};
  for (std::sregex_iterator it(output.begin(), output.end(), line), end; it != end; ++it) {
    const auto number = [&](int group) {
      std::string digits = (*it)[group];
      std::erase(digits, ',');
      return std::stoi(digits);
    };
    figures = {number(1), number(2)};
  }
  return figures;
}

std::string url_of(const ServerProcess& server) {
  return "http://127.0.0.1:" + std::to_string(server.port());
}

std::string long_text() {
  std::string text = "Remember this:";
  for (int i = 0; i < 250; ++i) text += " word" + std::to_string(i * 37 % 101);
  return text;
}

TEST(ChatWithServer, FollowUpsRetriesAndResumedTurnsReuseThePrompt) {
  const ServerProcess server({"-c", "16384"});
  const ChatState state;
  const ChatTerminal::Words options = {"--url",        url_of(server), "--session", "one",
                                       "--max-tokens", "24",           "--temp",    "0",
                                       "--system",     long_text()};
  {
    ChatTerminal chat(state, options);
    ASSERT_TRUE(chat.prompts());
    chat.say("Hello");
    ASSERT_TRUE(chat.sees("computed "));
    ASSERT_TRUE(chat.prompts());
    EXPECT_EQ(last_figures(chat.output()).first, 0);
    chat.say("And now?");
    ASSERT_TRUE(chat.sees("first token "));
    ASSERT_TRUE(chat.prompts());
    const auto [reused, computed] = last_figures(chat.output());
    EXPECT_GT(reused, 300);
    EXPECT_LT(computed, reused / 2);
    chat.say("/retry");
    ASSERT_TRUE(chat.sees("first token "));
    ASSERT_TRUE(chat.prompts());
    EXPECT_GT(last_figures(chat.output()).first, reused / 2);
    chat.kill_hard();
  }
  ChatTerminal chat(state, options);
  ASSERT_TRUE(chat.sees("4 messages"));
  ASSERT_TRUE(chat.prompts());
  chat.say("Once more");
  ASSERT_TRUE(chat.sees("first token "));
  ASSERT_TRUE(chat.prompts());
  const auto [reused, computed] = last_figures(chat.output());
  EXPECT_GT(reused, 300);
  EXPECT_LT(computed, reused / 2);
  chat.type("\x04");
  EXPECT_EQ(chat.exit_code(), 0);
}

TEST(ChatWithServer, AReplyThatWasStoppedIsPartOfTheNextPrompt) {
  const ServerProcess server({"-c", "32768"});
  const ChatState state;
  ChatTerminal chat(state, {"--url", url_of(server), "--session", "one", "--temp", "0"});
  ASSERT_TRUE(chat.prompts());
  chat.say(long_text());
  // Without a limit the tiny model goes on until it is stopped.
  ASSERT_TRUE(eventually(
      [&] { return state.transcript("one").find("\"kind\":\"piece\"") != std::string::npos; }));
  chat.type("\x03");
  ASSERT_TRUE(chat.sees("kept in the conversation"));
  ASSERT_TRUE(chat.prompts());
  const Piped next = run_piped(
      state,
      {"--url", url_of(server), "--session", "two", "--temp", "0", "--max-tokens", "8", "Another"},
      nullptr);
  EXPECT_EQ(next.code, 0) << next.errors;
  chat.say("/stats");
  ASSERT_TRUE(chat.sees("2 messages in the conversation"));
  ASSERT_TRUE(chat.prompts());
  chat.type("\x04");
  ASSERT_EQ(chat.exit_code(), 0);
  const Piped more = run_piped(
      state,
      {"--url", url_of(server), "--session", "one", "--temp", "0", "--max-tokens", "8", "Go on"},
      nullptr);
  EXPECT_EQ(more.code, 0) << more.errors;
  const auto [reused, computed] = last_figures(more.errors);
  EXPECT_GT(reused, 300);
  EXPECT_LT(computed, reused);
}

// Goal: a prompt that changed by itself, here a clock in the system text, is explained.
TEST(ChatWithServer, WhyNamesWhatBrokeThePrefix) {
  const ServerProcess server({"-c", "16384"});
  const ChatState state;
  const auto options = [&](const std::string& clock) {
    return ChatTerminal::Words{
        "--url",        url_of(server), "--session", "one",
        "--max-tokens", "12",           "--temp",    "0",
        "--thinking",   "off",          "--system",  long_text() + " It is " + clock + " now."};
  };
  {
    ChatTerminal chat(state, options("12:00:01"));
    ASSERT_TRUE(chat.prompts());
    chat.say("Hello");
    ASSERT_TRUE(chat.sees("first token "));
    ASSERT_TRUE(chat.prompts());
    chat.type("\x04");
    ASSERT_EQ(chat.exit_code(), 0);
  }
  ChatTerminal chat(state, options("12:07:44"));
  ASSERT_TRUE(chat.prompts());
  chat.say("And you?");
  EXPECT_TRUE(chat.sees("miss: time_or_date, /why"));
  ASSERT_TRUE(chat.prompts());
  chat.say("/why");
  EXPECT_TRUE(chat.sees("[time_or_date]"));
  EXPECT_TRUE(chat.sees("message 0 (system), content"));
  EXPECT_TRUE(chat.sees("tokens computed again"));
  EXPECT_TRUE(chat.sees("remedy"));
}

}  // namespace
}  // namespace samovar::testing
