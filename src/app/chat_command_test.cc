// Goal: every word after `samovar chat`, and what the environment says, means what the help says.
#include "app/chat_command.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace samovar::app {
namespace {

using Words = std::vector<std::string>;

ChatSurroundings home() {
  ChatSurroundings around;
  around.home = "/home/me";
  around.terminal = "xterm";
  around.input_terminal = around.output_terminal = true;
  return around;
}

client::ChatOptions parse(const Words& words, const ChatSurroundings& around = home()) {
  auto request = parse_chat(words, around);
  if (!request) ADD_FAILURE() << request.error().describe();
  return request ? request->options : client::ChatOptions{};
}

std::string refusal(const Words& words, const ChatSurroundings& around = home()) {
  const auto request = parse_chat(words, around);
  if (request) ADD_FAILURE() << "was accepted";
  return request ? "" : request.error().describe();
}

TEST(ChatOptions, DefaultsTalkToTheLocalServer) {
  const client::ChatOptions options = parse({});
  EXPECT_EQ(options.url, "http://127.0.0.1:8080");
  EXPECT_EQ(options.folder, "/home/me/.local/state/samovar/chats");
  EXPECT_FALSE(options.message);
  EXPECT_FALSE(options.system);
  EXPECT_FALSE(options.settings.thinking);
  EXPECT_FALSE(options.settings.temperature);
  EXPECT_TRUE(options.colour);
  EXPECT_TRUE(options.output_terminal);
}

// Pocket takes the place of nothing that was named.
TEST(ChatOptions, AServerOrAModelIsNamedOrNot) {
  const auto named = [](const Words& words) { return parse_chat(words, home())->server_named; };
  EXPECT_FALSE(named({}));
  EXPECT_FALSE(named({"--session", "one", "--temp", "0", "Hello"}));
  EXPECT_TRUE(named({"--url", "http://127.0.0.1:8080"}));
  EXPECT_TRUE(named({"--model", "Qwen3.5-35B"}));
}

TEST(ChatOptions, EveryOptionArrives) {
  const client::ChatOptions options =
      parse({"--url",      "h:1", "--model",      "m", "--session",  "s",     "--system", "Sys",
             "--thinking", "off", "--max-tokens", "5", "--temp",     "0",     "--top-p",  "0.5",
             "--top-k",    "3",   "--seed",       "7", "--no-color", "Hello", "there"});
  EXPECT_EQ(options.url, "h:1");
  EXPECT_EQ(options.settings.model, "m");
  EXPECT_EQ(options.session, "s");
  EXPECT_EQ(options.system, "Sys");
  EXPECT_EQ(options.settings.thinking, false);
  EXPECT_EQ(options.settings.max_tokens, 5);
  EXPECT_EQ(options.settings.temperature, 0.0);
  EXPECT_EQ(options.settings.top_p, 0.5);
  EXPECT_EQ(options.settings.top_k, 3);
  EXPECT_EQ(options.settings.seed, 7);
  EXPECT_EQ(options.message, "Hello there");
  EXPECT_FALSE(options.colour);
}

TEST(ChatOptions, FilesAndTheEnvironment) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.at("words");
  std::ofstream(file) << "from a file\n";
  EXPECT_EQ(parse({"--system-file", file}).system, "from a file");
  std::ofstream(file) << "secret\n";
  ChatSurroundings around = home();
  around.key = "other";
  EXPECT_EQ(parse({}, around).key, "other");
  EXPECT_EQ(parse({"--key-file", file}, around).key, "secret") << "the command line wins";
  around.state_home = "/state";
  EXPECT_EQ(parse({}, around).folder, "/state/samovar/chats");
  around.state_home = "relative";
  EXPECT_EQ(parse({}, around).folder, "/home/me/.local/state/samovar/chats");
  around.no_colour = true;
  EXPECT_FALSE(parse({}, around).colour);
  around.terminal = "dumb";
  EXPECT_FALSE(parse({}, around).output_terminal);
}

TEST(ChatOptions, MistakesNameTheRemedy) {
  EXPECT_NE(refusal({"--thinking", "maybe"}).find("samovar chat --help"), std::string::npos);
  EXPECT_NE(refusal({"--max-tokens", "0"}).find("--max-tokens"), std::string::npos);
  EXPECT_NE(refusal({"--nonsense"}).find("--nonsense"), std::string::npos);
  EXPECT_NE(refusal({"--key-file", "/nowhere/key"}).find("cannot read"), std::string::npos);
  EXPECT_NE(refusal({"--system", "a", "--system-file", "b"}).find("--system"), std::string::npos);
  ChatSurroundings around = home();
  around.home.reset();
  EXPECT_NE(refusal({}, around).find("set HOME"), std::string::npos);
  around = home();
  around.key = "a\nX-Evil: 1";
  EXPECT_NE(refusal({}, around).find("API key"), std::string::npos);
}

TEST(ChatOptions, HasHelp) {
  const auto request = parse_chat({"--help"}, home());
  ASSERT_TRUE(request);
  EXPECT_NE(request->help.find("--session"), std::string::npos);
}

}  // namespace
}  // namespace samovar::app
