// What breaks a prefix in the field, each as a conversation over HTTP: the tokens that were
// computed again and the class that the server names for it. No text of a prompt may reach a header
// or the log.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kSmall = 128;  // tokens that canonical splits may cost

// A conversation that a test changes between its turns.
struct Talk {
  explicit Talk(int server_port) : port(server_port) {}

  Reply say(const std::string& text, int max_tokens = 12) {
    messages.push_back(message("user", text));
    return send(max_tokens);
  }
  Reply send(int max_tokens = 12) {
    Json body = request(messages, max_tokens);
    if (!tools.is_null()) body["tools"] = tools;
    for (const auto& [name, value] : extra.items()) body[name] = value;
    last = chat(port, body);
    EXPECT_EQ(last.status, 200) << last.json;
    return last;
  }
  // Takes the reply into the history, as clients do.
  void keep(bool with_reasoning = true) {
    Json answer = last.json["choices"][0]["message"];
    if (!with_reasoning) answer.erase("reasoning_content");
    if (answer["content"].is_string() && answer["content"].get<std::string>().empty() &&
        !with_reasoning) {
      answer["content"] = "ok";
    }
    messages.push_back(answer);
  }
  // The history as a client would have it whose model's replies are plain text.
  void keep_as(const std::string& text) { messages.push_back(message("assistant", text)); }

  [[nodiscard]] std::string cause() const { return last.json["timings"]["miss"]["class"]; }
  [[nodiscard]] int lost() const { return last.json["timings"]["miss"]["tokens_lost"]; }
  [[nodiscard]] Json explanation() const {
    return get(port, "/v1/samovar/turns/" + last.json["id"].get<std::string>() + "/explain").json;
  }

  int port;
  Json messages = Json::array();
  Json tools;
  Json extra = {{"chat_template_kwargs", {{"enable_thinking", false}}}};
  Reply last;
};

Json tool(const std::string& name, unsigned seed) {
  return {
      {"type", "function"},
      {"function",
       {{"name", name},
        {"description", prose(60, seed)},
        {"parameters",
         {{"type", "object"},
          {"properties", {{"path", {{"type", "string"}}}, {"count", {{"type", "integer"}}}}}}}}}};
}

class Miss : public ::testing::Test {
 protected:
  Miss() : server({"-c", "32768"}) {}

  // Two turns whose first system message is `first` and then `second`; the second must name
  // `expected` there.
  Talk with_system(const std::string& first, const std::string& second) {
    Talk talk(server.port());
    talk.messages.push_back(message("system", first));
    talk.say("The first question. " + prose(100, 5));
    talk.keep_as("The first answer. " + prose(50, 6));
    talk.messages[0]["content"] = second;
    talk.say("The second question.");
    return talk;
  }

  ServerProcess server;
};

TEST_F(Miss, AFollowUpThatAppendsMissesNothing) {
  Talk talk(server.port());
  talk.messages.push_back(message("system", prose(400, 1)));
  talk.say("First. " + prose(50, 2));
  EXPECT_EQ(talk.cause(), "first_turn");
  talk.keep();
  talk.say("Second.");
  EXPECT_EQ(talk.cause(), "none") << talk.last.json["timings"];
  EXPECT_LE(talk.lost(), kSmall);
  EXPECT_NE(talk.last.head.find("x-samovar-miss: none"), std::string::npos) << talk.last.head;
}

TEST_F(Miss, AUniqueIdAtTheTopIsNamed) {
  const Talk talk = with_system("Request 0b8a4f7e-52c3-4f0a-9c55-0d6f2f4be8a1. " + prose(600, 1),
                                "Request 7d31c0aa-91be-4d5e-8f63-b2c40e7719f2. " + prose(600, 1));
  EXPECT_EQ(talk.cause(), "unique_id");
  EXPECT_GT(talk.lost(), 600);
  const Json why = talk.explanation();
  EXPECT_EQ(why["first_difference"]["message"], 0);
  EXPECT_EQ(why["first_difference"]["role"], "system");
  EXPECT_NE(why["first_difference"]["old"].get<std::string>().find("0b8a4f7e"), std::string::npos);
  EXPECT_NE(why["first_difference"]["new"].get<std::string>().find("7d31c0aa"), std::string::npos);
  EXPECT_FALSE(why["remedy"].get<std::string>().empty());
}

// Only the owner, who asks for it, gets to see text.
TEST_F(Miss, NoTextReachesHeadersLogOrTimings) {
  const Talk talk = with_system("Zanzibar 0b8a4f7e-52c3-4f0a-9c55-0d6f2f4be8a1 " + prose(300, 1),
                                "Zanzibar 7d31c0aa-91be-4d5e-8f63-b2c40e7719f2 " + prose(300, 1));
  for (const char* secret : {"Zanzibar", "0b8a4f7e", "7d31c0aa"}) {
    EXPECT_EQ(talk.last.head.find(secret), std::string::npos);
    EXPECT_EQ(talk.last.json["timings"].dump().find(secret), std::string::npos);
    EXPECT_FALSE(server.has(secret));
  }
  EXPECT_NE(talk.last.head.find("x-samovar-miss: unique_id; tokens="), std::string::npos)
      << talk.last.head;
}

TEST_F(Miss, AClockInTheSystemPromptIsNamed) {
  const Talk talk =
      with_system(prose(300, 1) + "Current time: 2026-11-30 10:15:00. " + prose(300, 2),
                  prose(300, 1) + "Current time: 2026-11-30 10:16:30. " + prose(300, 2));
  EXPECT_EQ(talk.cause(), "time_or_date");
}

TEST_F(Miss, ACounterIsNamed) {
  const Talk talk =
      with_system("Files open: 17. " + prose(400, 1), "Files open: 18. " + prose(400, 1));
  EXPECT_EQ(talk.cause(), "counter_or_hash");
}

TEST_F(Miss, AGitStatusThatChangedIsAnEditedSystemPrompt) {
  const Talk talk =
      with_system(prose(400, 1) + "\nStatus:\n M src/main.cc\n\nRecent commits:\n",
                  prose(400, 1) + "\nStatus:\n M src/main.cc\n?? notes.txt\n\nRecent commits:\n");
  EXPECT_EQ(talk.cause(), "system_text_edited");
}

TEST_F(Miss, WhiteSpaceAloneIsNamed) {
  const Talk talk = with_system("Be brief.  " + prose(400, 1), "Be brief. " + prose(400, 1));
  EXPECT_EQ(talk.cause(), "whitespace");
}

// Goal: the billing stamp of a known client costs nothing, and its neutralisation is reported.
TEST_F(Miss, ABillingStampIsNeutralisedAndReported) {
  const auto stamp = [](const std::string& hash) {
    return "x-anthropic-billing-header: cc_version=2.1.37.c0f; cc_entrypoint=cli; cch=" + hash +
           ";\nYou are an agent. " + prose(500, 1);
  };
  const Talk talk = with_system(stamp("a1b2c"), stamp("d3e4f"));
  EXPECT_EQ(talk.cause(), "none") << talk.last.json["timings"];
  EXPECT_LE(talk.last.timing("computed_tokens"), 200 + kSmall);
  EXPECT_EQ(talk.last.json["timings"]["neutralised"][0], "claude-code-billing");
  EXPECT_NE(talk.last.head.find("x-samovar-neutralised: claude-code-billing"), std::string::npos);
}

TEST_F(Miss, ToolsInAnotherOrderAreNamed) {
  Talk talk(server.port());
  talk.tools = {tool("read", 1), tool("write", 2), tool("search", 3)};
  talk.say("First. " + prose(100, 4));
  talk.keep_as("Yes.");
  talk.tools = {tool("write", 2), tool("read", 1), tool("search", 3)};
  talk.say("Second.");
  EXPECT_EQ(talk.cause(), "tool_order");
  EXPECT_GT(talk.lost(), 200);
}

TEST_F(Miss, AToolWhoseSchemaChangedIsNamedWithItsName) {
  Talk talk(server.port());
  talk.tools = {tool("read", 1), tool("write", 2)};
  talk.say("First. " + prose(100, 4));
  talk.keep_as("Yes.");
  talk.tools[1]["function"]["parameters"]["properties"]["mode"] = {{"type", "string"}};
  talk.say("Second.");
  EXPECT_EQ(talk.cause(), "tool_schema_changed");
  EXPECT_EQ(talk.explanation()["first_difference"]["tool"], "write");
}

TEST_F(Miss, AToolThatCameIsNamed) {
  Talk talk(server.port());
  talk.tools = {tool("read", 1), tool("write", 2)};
  talk.say("First. " + prose(100, 4));
  talk.keep_as("Yes.");
  talk.tools.insert(talk.tools.begin(), tool("fetch", 9));
  talk.say("Second.");
  EXPECT_EQ(talk.cause(), "tools_added_or_removed");
}

TEST_F(Miss, AnEditedQuestionIsNamed) {
  Talk talk(server.port());
  talk.messages.push_back(message("system", prose(100, 1)));
  talk.say("First question. " + prose(200, 2));
  talk.keep_as("First answer. " + prose(200, 3));
  talk.say("Second question. " + prose(200, 4));
  talk.keep_as("Second answer.");
  talk.messages[1]["content"] = "Quite another question. " + prose(200, 7);
  talk.say("Third question.");
  EXPECT_EQ(talk.cause(), "history_edited");
  EXPECT_EQ(talk.explanation()["first_difference"]["message"], 1);
}

TEST_F(Miss, ACompactedHistoryIsNamed) {
  Talk talk(server.port());
  talk.messages.push_back(message("system", prose(100, 1)));
  for (unsigned i = 0; i < 4; ++i) {
    talk.say("Question " + std::to_string(i) + ". " + prose(120, 10 + i));
    talk.keep_as("Answer. " + prose(120, 20 + i));
  }
  Json compacted = Json::array();
  compacted.push_back(talk.messages[0]);
  compacted.push_back(message("user", "Summary of the conversation so far: " + prose(60, 99)));
  for (std::size_t i = 6; i < talk.messages.size(); ++i) compacted.push_back(talk.messages[i]);
  talk.messages = compacted;
  talk.messages.push_back(message("user", "Go on."));
  talk.send();
  EXPECT_EQ(talk.cause(), "history_compacted");
}

TEST_F(Miss, AnAlteredReplyIsNamed) {
  Talk talk(server.port());
  talk.extra["ignore_eos"] = true;
  talk.say("First question. " + prose(50, 2), 40);
  talk.keep();
  talk.say("Second question. " + prose(300, 3));
  talk.keep();
  std::string altered = talk.messages[1]["content"];
  talk.messages[1]["content"] = "Certainly! " + altered;
  talk.say("Third question.");
  ASSERT_EQ(talk.cause(), "reply_altered") << talk.last.json["timings"];
  EXPECT_EQ(talk.explanation()["first_difference"]["message"], 1);
  EXPECT_GT(talk.lost(), 250);
}

// Goal: a client that lost an interrupted reply is told so, with the id under which it is kept.
TEST_F(Miss, ADroppedInterruptedReplyIsNamedWithTheKeptOne) {
  Talk talk(server.port());
  talk.messages.push_back(message("system", prose(200, 1)));
  talk.messages.push_back(message("user", "Tell a long story."));
  std::string id;
  {
    Json body = request(talk.messages, 4000);
    body["chat_template_kwargs"] = {{"enable_thinking", false}};
    ChatStreamClient stream(server.port(), body);
    ASSERT_EQ(stream.status(), 200);
    for (int i = 0; i < 200; ++i) {
      const auto event = stream.next_json();
      ASSERT_TRUE(event.has_value());
      id = (*event)["id"];
    }
  }
  ASSERT_TRUE(eventually([&] {
    return get(server.port(), "/v1/samovar/turns/" + id).json["status"] == "incomplete";
  }));
  // What was cut is read and kept just after that, off the engine's and the client's way.
  ASSERT_TRUE(
      eventually([&] { return get(server.port(), "/v1/samovar/state").json["turns"].empty(); }));
  talk.say("Stop. Something else.");
  EXPECT_EQ(talk.cause(), "reply_missing") << talk.last.json["timings"];
  EXPECT_EQ(talk.explanation()["kept_reply"], id);
}

TEST_F(Miss, AnOptionThatTheTemplateShowsIsNamed) {
  Talk talk(server.port());
  talk.messages.push_back(message("system", prose(300, 1)));
  talk.say("First.");
  talk.keep_as("Yes. " + prose(100, 2));
  talk.extra["tool_choice"] = "auto";
  talk.tools = {tool("read", 1)};
  talk.say("Second.");
  EXPECT_EQ(talk.cause(), "tools_added_or_removed");
}

// Goal: with everything resident gone and no store, what is lost was evicted, and it is said.
TEST(MissWithoutStore, AnEvictedSessionIsNamed) {
  const ServerProcess server({"-c", "4096", "--sequences", "4", "-np", "1"});
  Talk talk(server.port());
  talk.messages.push_back(message("system", prose(500, 1)));
  talk.say("First question.");
  talk.keep();
  for (unsigned i = 0; i < 4; ++i) {
    Talk other(server.port());
    other.messages.push_back(message("system", prose(1200, 50 + i)));
    other.say("A question of somebody else.");
  }
  talk.say("Second question.");
  EXPECT_EQ(talk.cause(), "evicted") << talk.last.json["timings"];
  EXPECT_GT(talk.lost(), 400);
}

class MissWithStore : public ::testing::Test {
 protected:
  // One turn with a server that ends and leaves it in the store; what a client then has.
  [[nodiscard]] Json stored_conversation() const {
    ServerProcess server({"-c", "8192", "--store-dir", folder.path()});
    Talk talk(server.port());
    talk.messages.push_back(message("system", prose(800, 1)));
    talk.say("First question.");
    talk.keep_as("An answer.");
    EXPECT_EQ(server.end(), 0);
    return talk.messages;
  }

  TemporaryFolder folder;
};

TEST_F(MissWithStore, ARestartCostsNothingAndMissesNothing) {
  const Json messages = stored_conversation();
  const ServerProcess server({"-c", "8192", "--store-dir", folder.path()});
  Talk talk(server.port());
  talk.messages = messages;
  talk.say("Second question.");
  EXPECT_EQ(talk.last.json["timings"]["source"], "store");
  EXPECT_EQ(talk.cause(), "none") << talk.last.json["timings"];
}

TEST_F(MissWithStore, FilesThatWereTakenAwayAreAMissThatIsExplained) {
  const Json messages = stored_conversation();
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    if (entry.is_directory()) fs::remove_all(entry.path());
  }
  const ServerProcess server({"-c", "8192", "--store-dir", folder.path()});
  Talk talk(server.port());
  talk.messages = messages;
  talk.say("Second question.");
  EXPECT_TRUE(talk.cause() == "evicted" || talk.cause() == "never_stored") << talk.cause();
  EXPECT_GT(talk.lost(), 600);
}

TEST_F(MissWithStore, DamagedFilesAreNamedAsAFailedRestore) {
  const Json messages = stored_conversation();
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.path().extension() != ".seg" && entry.path().extension() != ".snap") continue;
    const int file = open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(file, 0);
    const auto size = static_cast<off_t>(fs::file_size(entry.path()));
    char byte = 0;
    ASSERT_EQ(pread(file, &byte, 1, size - 9), 1);
    byte = static_cast<char>(byte ^ 0x40);
    ASSERT_EQ(pwrite(file, &byte, 1, size - 9), 1);
    close(file);
  }
  const ServerProcess server({"-c", "8192", "--store-dir", folder.path()});
  Talk talk(server.port());
  talk.messages = messages;
  talk.say("Second question.");
  EXPECT_EQ(talk.cause(), "restore_failed") << talk.last.json["timings"];
}

TEST_F(MissWithStore, AnotherModelIsNamed) {
  const Json messages = stored_conversation();
  const ServerProcess server({"-c", "8192", "--store-dir", folder.path()}, "tiny-qwen35");
  Talk talk(server.port());
  talk.messages = messages;
  talk.say("Second question.");
  EXPECT_EQ(talk.cause(), "model_changed") << talk.last.json["timings"];
}

}  // namespace
}  // namespace samovar::testing
