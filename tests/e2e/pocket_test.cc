// Goal: a newcomer without a model talks with one at once, is told what it is and how to get
// another. Method: `samovar serve` and `samovar chat` without a model and without a server.
#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/chat_terminal.h"
#include "tests/e2e/raw_client.h"
#include "tests/e2e/server_process.h"

namespace samovar::testing {
namespace {

constexpr const char* kRealModel = "samovar serve -hf unsloth/Qwen3.5-4B-GGUF:Q4_K_M";

TEST(PocketInTheBox, IsServedWithoutAModel) {
  ServerProcess server(ServerProcess::Source{});
  EXPECT_TRUE(server.has("serving Pocket at "));
  EXPECT_TRUE(eventually([&] { return server.has(kRealModel); }));
  EXPECT_FALSE(server.has("warning")) << "nothing frightens a newcomer";
  const Reply reply = chat(server.port(), request({message("user", "Hello!")}, 60));
  ASSERT_EQ(reply.status, 200) << reply.json;
  EXPECT_NE(reply.text().find("Hello"), std::string::npos) << reply.text();
}

// Where a server of somebody's is at the usual address, the chat talks with that one.
bool usual_port_taken() { return RawClient(8080).connected(); }

TEST(PocketInTheBox, IsWhoAChatWithoutAServerTalksWith) {
  if (usual_port_taken()) GTEST_SKIP() << "something is served at port 8080";
  const ChatState state;
  {
    ChatTerminal chat(state, {"--session", "one"});
    ASSERT_TRUE(chat.sees("you talk with Pocket"));
    ASSERT_TRUE(chat.sees(kRealModel));
    ASSERT_TRUE(chat.prompts());
    chat.say("Hello! My name is Nora.");
    ASSERT_TRUE(chat.sees("Noted: your name is Nora."));
    ASSERT_TRUE(chat.prompts());
    for (const char* line : {"What is Samovar?", "What can you do?", "What is 3 + 4?",
                             "What is the capital of France?", "How do I list my sessions?"}) {
      chat.say(line);
      ASSERT_TRUE(chat.sees("first token "));
      ASSERT_TRUE(chat.prompts());
    }
    chat.say("/quit");
    EXPECT_EQ(chat.exit_code(), 0);
  }
  ChatTerminal again(state, {"--session", "one"});
  ASSERT_TRUE(again.prompts());
  again.say("What is my name?");
  ASSERT_TRUE(again.sees("Your name is Nora."));
  ASSERT_TRUE(again.sees("first token "));
  static const std::regex kReused("reused ([0-9,]+) ");
  std::smatch found;
  const std::string shown = again.output();
  ASSERT_TRUE(std::regex_search(shown, found, kReused));
  EXPECT_GT(std::stoi(found[1]), 100) << "kept on disk from one chat to the next";
}

TEST(PocketInTheBox, IsNotTakenForAServerThatWasMeant) {
  if (usual_port_taken()) GTEST_SKIP() << "something is served at port 8080";
  const ChatState state;
  using Words = ChatTerminal::Words;
  for (const Words& words : {Words{"--url", "127.0.0.1:1", "Hello"}, Words{"--model", "x", "Hello"},
                             Words{"Hello"} /* a script reads the reply */}) {
    const Piped ran = run_piped(state, words, nullptr);
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.output, "");
    EXPECT_NE(ran.errors.find("127.0.0.1:"), std::string::npos) << ran.errors;
    EXPECT_EQ(ran.errors.find("Pocket"), std::string::npos) << ran.errors;
  }
}

TEST(PocketInTheBox, DoesNotGoOnWithAnothersConversation) {
  if (usual_port_taken()) GTEST_SKIP() << "something is served at port 8080";
  const ChatState state;
  const std::string folder = state.path() + "/samovar/chats";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/big.jsonl")
      << R"({"kind":"chat","format":1,"at":1,"model":"Qwen3.5-35B","url":"http://127.0.0.1:8080"})"
      << "\n";
  ChatTerminal chat(state, {"--session", "big", "Hello"});
  ASSERT_TRUE(chat.sees("127.0.0.1:8080"));
  EXPECT_EQ(chat.exit_code(), 1);
  EXPECT_EQ(chat.output().find("Pocket"), std::string::npos);
}

}  // namespace
}  // namespace samovar::testing
