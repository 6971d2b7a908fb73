// What is forgotten while it runs, what is never anybody's session, and who gets to see texts, over
// HTTP.
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

class Purge : public ::testing::Test {
 protected:
  [[nodiscard]] ServerProcess::Words options(const ServerProcess::Words& more = {}) const {
    ServerProcess::Words words = {"-c", "16384", "--store-dir", folder_.path()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static Reply remove(int port, const std::string& path) {
    return ask(port,
               "DELETE " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  }
  // Everything in the files of the ledger.
  [[nodiscard]] std::string ledger_bytes() const {
    std::string bytes;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (!entry.path().filename().string().starts_with("ledger.db")) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      bytes.append(std::istreambuf_iterator<char>(file), {});
    }
    return bytes;
  }
  static Json secret_request(int max_tokens) {
    Json body =
        request({message("user", "the purple zebra crossing " + prose(200, 3))}, max_tokens);
    body["prompt_cache_key"] = "mine";
    body["ignore_eos"] = true;
    body["chat_template_kwargs"] = {{"enable_thinking", false}};
    return body;
  }

  // Deletes `what(id)` while the turn runs and its text is on disk; afterwards nothing knows it.
  void forget_while_running(const std::function<std::string(const std::string& id)>& what) {
    ServerProcess server(options({"--ledger-text"}));
    ChatStreamClient stream(server.port(), secret_request(1500));
    ASSERT_EQ(stream.status(), 200);
    const auto event = stream.next_json();
    ASSERT_TRUE(event.has_value());
    const std::string id = event->at("id");
    const std::string path = "/v1/samovar/turns/" + id;
    ASSERT_TRUE(eventually([&] { return ledger_bytes().find("zebra") != std::string::npos; }));
    ASSERT_EQ(get(server.port(), path).json["status"], "running");
    ASSERT_EQ(remove(server.port(), what(id)).status, 200);
    EXPECT_EQ(get(server.port(), path).status, 404);
    std::string text;
    while (auto more = stream.next_json()) {
      if (more->at("choices").empty()) continue;
      text += more->at("choices")[0]["delta"].value("content", "");
    }
    EXPECT_TRUE(stream.done()) << "the stream was cut";
    EXPECT_GT(text.size(), 1000U) << "the reply did not go on";

    EXPECT_EQ(get(server.port(), path).status, 404);
    EXPECT_EQ(get(server.port(), path + "/explain").status, 404);
    EXPECT_EQ(get(server.port(), "/v1/samovar/turns").json["data"].size(), 0U);
    // It is nobody's turn before, and its reply is nobody's to replay.
    Json next = secret_request(2);
    next["messages"].push_back(message("assistant", text));
    next["messages"].push_back(message("user", "And?"));
    const Reply later = chat(server.port(), next);
    ASSERT_EQ(later.status, 200) << later.json;
    EXPECT_EQ(later.timing("replayed_replies"), 0);
    EXPECT_EQ(later.json["timings"]["miss"]["class"], "first_turn");
    ASSERT_EQ(remove(server.port(), "/v1/samovar/sessions/mine").status, 200);
    EXPECT_EQ(server.end(), 0);
    EXPECT_EQ(ledger_bytes().find("zebra"), std::string::npos);
    EXPECT_EQ(ledger_bytes().find(id), std::string::npos);
  }

  const TemporaryFolder folder_;
};

TEST_F(Purge, ATurnThatRunsIsForgottenAndItsReplyGoesOn) {
  forget_while_running([](const std::string& id) { return "/v1/samovar/turns/" + id; });
}

TEST_F(Purge, ASessionWhoseTurnRunsIsForgottenAndItsReplyGoesOn) {
  forget_while_running([](const std::string&) { return "/v1/samovar/sessions/mine"; });
}

// `user` names a person: all his conversations would be one.
TEST_F(Purge, AUserIsNoSession) {
  const ServerProcess server(options());
  const auto session_of = [&](const std::string& text, const Json& fields) -> std::string {
    Json body = request({message("user", text)}, 2);
    body.update(fields);
    return chat(server.port(), body).json["timings"]["session"];
  };
  const std::string one = session_of("Fix the parser.", {{"user", "ada"}});
  const std::string other = session_of("Bake a cake.", {{"user", "ada"}});
  EXPECT_NE(one, other);
  EXPECT_NE(one, "ada");
  EXPECT_EQ(get(server.port(), "/v1/samovar/turns?session=ada").json["data"].size(), 0U);
  EXPECT_EQ(session_of("Sing.", {{"user", "ada"}, {"prompt_cache_key", "songs"}}), "songs");
}

// Goal: texts of an explanation are the owner's, while the turn is recent; nothing of them is left
// in files, headers or log unless somebody asked for it.
TEST_F(Purge, TextsOfAnExplanationGoWithTheProcess) {
  std::string path;
  {
    ServerProcess server(options());
    Json messages = {
        message("system", "Trace 0b8a4f7e-52c3-4f0a-9c55-0d6f2f4be8a1. " + prose(300, 1)),
        message("user", "First.")};
    ASSERT_EQ(chat(server.port(), request(messages, 2)).status, 200);
    messages[0]["content"] = "Trace 7d31c0aa-91be-4d5e-8f63-b2c40e7719f2. " + prose(300, 1);
    messages.push_back(message("assistant", "Yes."));
    messages.push_back(message("user", "Second."));
    const Reply reply = chat(server.port(), request(messages, 2));
    ASSERT_EQ(reply.status, 200);
    path = "/v1/samovar/turns/" + reply.json["id"].get<std::string>() + "/explain";
    const Json recent = get(server.port(), path).json["first_difference"];
    EXPECT_NE(recent["old"].get<std::string>().find("0b8a4f7e"), std::string::npos);
    EXPECT_NE(recent["new"].get<std::string>().find("7d31c0aa"), std::string::npos);
    EXPECT_EQ(reply.head.find("7d31c0aa"), std::string::npos);
    EXPECT_FALSE(server.has("7d31c0aa"));
    EXPECT_EQ(server.end(), 0);
  }
  EXPECT_EQ(ledger_bytes().find("7d31c0aa"), std::string::npos);
  const ServerProcess server(options());
  const Json later = get(server.port(), path).json;
  EXPECT_EQ(later["class"], "unique_id") << later;
  EXPECT_EQ(later["first_difference"]["old"], nullptr);
  EXPECT_EQ(later["first_difference"]["new"], nullptr);
}

}  // namespace
}  // namespace samovar::testing
