// Turns that are never lost, over HTTP: a reply that is cut by whatever there is stays fetchable
// and goes on where it ended; text is kept only for those who ask; what is purged is gone.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

namespace fs = std::filesystem;

class LedgerEndToEnd : public ::testing::Test {
 protected:
  [[nodiscard]] ServerProcess::Words options(ServerProcess::Words more = {}) const {
    ServerProcess::Words words = {"-c", "16384", "--store-dir", folder.path()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static Json long_request(const std::string& session) {
    Json body = request({message("user", "Tell a long story. " + prose(60, 3))}, 6000);
    body["prompt_cache_key"] = session;
    return body;
  }
  // Streams until `events` chunks have come; the id of the turn.
  static std::string read_some(ChatStreamClient& stream, int events, std::string& text) {
    std::string id;
    for (int i = 0; i < events; ++i) {
      const auto event = stream.next_json();
      if (!event) break;
      id = (*event)["id"];
      const Json& delta = (*event)["choices"][0]["delta"];
      text += delta.value("reasoning_content", "") + delta.value("content", "");
    }
    return id;
  }
  static Json turn(int port, const std::string& id) {
    return get(port, "/v1/samovar/turns/" + id).json;
  }
  // Without what a reply that was cut inside a character ends with.
  static std::string reply_text(const Json& turn) {
    if (!turn["reply"].is_object()) return "";
    const Json& content = turn["reply"]["content"];
    std::string text = turn["reply"].value("reasoning_content", "") +
                       (content.is_string() ? content.get<std::string>() : "");
    while (text.ends_with("\xEF\xBF\xBD")) text.resize(text.size() - 3);
    return text;
  }
  static std::string whole_text(const Reply& reply) {
    const Json& message = reply.json["choices"][0]["message"];
    return message.value("reasoning_content", "") + message.value("content", "");
  }
  [[nodiscard]] std::string all_bytes() const {
    std::string bytes;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      bytes.append(std::istreambuf_iterator<char>(file), {});
    }
    return bytes;
  }

  TemporaryFolder folder;
};

// Goal: what was streamed before the client left is kept to the last token, can be listed, fetched
// and continued, and the continuation says what an undisturbed reply says.
TEST_F(LedgerEndToEnd, AReplyWhoseClientLeftIsKeptFetchedAndContinued) {
  const ServerProcess server(options());
  Json undisturbed = long_request("other");
  undisturbed["max_tokens"] = 200;
  const Reply whole = chat(server.port(), undisturbed);
  ASSERT_EQ(whole.status, 200);

  std::string seen;
  std::string id;
  {
    ChatStreamClient stream(server.port(), long_request("mine"));
    ASSERT_EQ(stream.status(), 200);
    id = read_some(stream, 20, seen);
  }
  ASSERT_TRUE(eventually([&] { return turn(server.port(), id)["status"] == "incomplete"; }));
  const Json kept = turn(server.port(), id);
  EXPECT_EQ(kept["session"], "mine");
  EXPECT_NE(kept["error"], nullptr);
  const std::string said = reply_text(kept);
  EXPECT_EQ(said.compare(0, seen.size(), seen), 0) << "seen: " << seen << "\nkept: " << said;

  const Json list = get(server.port(), "/v1/samovar/turns?status=incomplete&session=mine").json;
  ASSERT_EQ(list["data"].size(), 1U);
  EXPECT_EQ(list["data"][0]["id"], id);

  const int kept_tokens = kept["usage"]["completion_tokens"];
  const Reply rest =
      ask(server.port(), post("/v1/samovar/turns/" + id + "/continue",
                              R"({"temperature":0,"max_tokens":8})", "Connection: close\r\n"));
  ASSERT_EQ(rest.status, 200) << rest.json;
  const std::string continued = whole_text(rest);
  EXPECT_EQ(continued.compare(0, said.size(), said), 0);
  EXPECT_GT(continued.size(), said.size());
  EXPECT_EQ(rest.json["timings"]["source"], "live");
  EXPECT_EQ(rest.timing("computed_tokens"), 1);
  // What it would have said anyway, as far as both go.
  const std::string expected = whole_text(whole);
  if (kept_tokens < 190) {
    const std::size_t both = std::min(expected.size(), continued.size());
    EXPECT_EQ(expected.substr(0, both), continued.substr(0, both));
  }
  EXPECT_EQ(turn(server.port(), rest.json["id"])["continues"], id);
}

// Goal: a reply that ran when the process was killed is there afterwards, but for the last second.
TEST_F(LedgerEndToEnd, AReplyCutByKillIsKeptAndContinuedAfterwards) {
  std::string seen;
  std::string id;
  {
    ServerProcess server(options());
    ChatStreamClient stream(server.port(), long_request("mine"));
    ASSERT_EQ(stream.status(), 200);
    id = read_some(stream, 30, seen);
    // What has been streamed by now must be on disk a second later.
    std::string later;
    const auto begun = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(1200)) {
      read_some(stream, 1, later);
    }
    server.kill_hard();
  }
  const ServerProcess server(options());
  const Json kept = turn(server.port(), id);
  ASSERT_EQ(kept["status"], "incomplete") << kept;
  const std::string said = reply_text(kept);
  EXPECT_EQ(said.compare(0, seen.size(), seen), 0) << "seen: " << seen << "\nkept: " << said;
  const Reply rest =
      ask(server.port(), post("/v1/samovar/turns/" + id + "/continue",
                              R"({"temperature":0,"max_tokens":8})", "Connection: close\r\n"));
  ASSERT_EQ(rest.status, 200) << rest.json;
  const std::string whole = whole_text(rest);
  EXPECT_EQ(whole.compare(0, said.size(), said), 0)
      << "kept: ..." << said.substr(said.size() - std::min<std::size_t>(said.size(), 60))
      << "\nwhole: " << whole.size() << " bytes, from "
      << std::ranges::mismatch(whole, said).in1 - whole.begin();
}

TEST_F(LedgerEndToEnd, AReplyCutByShutdownIsKept) {
  std::string seen;
  std::string id;
  {
    ServerProcess server(options({"--drain-seconds", "0"}));
    ChatStreamClient stream(server.port(), long_request("mine"));
    ASSERT_EQ(stream.status(), 200);
    id = read_some(stream, 10, seen);
    EXPECT_EQ(server.end(), 0);
  }
  const ServerProcess server(options());
  const Json kept = turn(server.port(), id);
  ASSERT_EQ(kept["status"], "incomplete") << kept;
  EXPECT_EQ(reply_text(kept).compare(0, seen.size(), seen), 0);
}

TEST_F(LedgerEndToEnd, ContinuingWhatCannotBeContinuedSaysWhy) {
  const ServerProcess server(options());
  const auto go_on = [&](const std::string& id, const std::string& body = "{}") {
    return ask(server.port(),
               post("/v1/samovar/turns/" + id + "/continue", body, "Connection: close\r\n"));
  };
  const Reply unknown = go_on("chatcmpl-none");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.json["error"]["param"], "id");
  const Reply done = chat(server.port(), request({message("user", "Hello")}, 4));
  const Reply complete = go_on(done.json["id"]);
  EXPECT_EQ(complete.status, 400);
  const std::string said = complete.json["error"]["message"];
  EXPECT_NE(said.find("complete"), std::string::npos) << said;
  const Reply changed = go_on(done.json["id"], R"({"messages":[]})");
  EXPECT_EQ(changed.status, 400);
  EXPECT_EQ(changed.json["error"]["param"], "messages");
}

// Goal: text is on disk only for those who asked, and the files show it.
TEST_F(LedgerEndToEnd, TextIsKeptOnlyForThoseWhoAsk) {
  {
    ServerProcess server(options());
    const Reply silent =
        chat(server.port(), request({message("user", "the silent zebra crossing")}, 4));
    Json open = request({message("user", "the spoken walrus parade")}, 4);
    open["store"] = true;
    const Reply stored = chat(server.port(), open);
    ASSERT_EQ(stored.status, 200);
    const std::string path = "/v1/chat/completions/" + stored.json["id"].get<std::string>();
    const Reply again = get(server.port(), path);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.json["choices"][0]["message"], stored.json["choices"][0]["message"]);
    EXPECT_EQ(again.json["choices"][0]["finish_reason"],
              stored.json["choices"][0]["finish_reason"]);
    EXPECT_EQ(again.json["usage"], stored.json["usage"]);
    EXPECT_EQ(get(server.port(), "/v1/chat/completions").json["data"].size(), 1U);
    EXPECT_EQ(
        get(server.port(), "/v1/chat/completions/" + silent.json["id"].get<std::string>()).status,
        404);
    const Json record = turn(server.port(), stored.json["id"]);
    EXPECT_EQ(record["request"]["messages"][0]["content"], "the spoken walrus parade");
    EXPECT_EQ(turn(server.port(), silent.json["id"])["request"], nullptr);
    EXPECT_EQ(server.end(), 0);
  }
  EXPECT_EQ(all_bytes().find("zebra"), std::string::npos);
  EXPECT_NE(all_bytes().find("walrus"), std::string::npos);
  const ServerProcess server(options());
  EXPECT_EQ(get(server.port(), "/v1/chat/completions").json["data"].size(), 1U);
}

TEST_F(LedgerEndToEnd, APurgedSessionIsGoneFromTheFiles) {
  ServerProcess server(options({"--ledger-text"}));
  for (const char* session : {"mine", "yours"}) {
    Json body = request({message("user", std::string("belongs to ") + session)}, 4);
    body["prompt_cache_key"] = session;
    ASSERT_EQ(chat(server.port(), body).status, 200);
  }
  const Reply purged = ask(server.port(),
                           "DELETE /v1/samovar/sessions/mine HTTP/1.1\r\nHost: localhost\r\n"
                           "Connection: close\r\n\r\n");
  EXPECT_EQ(purged.status, 200);
  EXPECT_EQ(purged.json["turns"], 1);
  EXPECT_EQ(get(server.port(), "/v1/samovar/turns?session=mine").json["data"].size(), 0U);
  EXPECT_EQ(get(server.port(), "/v1/samovar/turns?session=yours").json["data"].size(), 1U);
  EXPECT_EQ(server.end(), 0);
  EXPECT_EQ(all_bytes().find("belongs to mine"), std::string::npos);
  EXPECT_NE(all_bytes().find("belongs to yours"), std::string::npos);
}

TEST_F(LedgerEndToEnd, BadQueriesNameTheParameter) {
  const ServerProcess server(options());
  for (const auto& [query, name] : std::vector<std::pair<std::string, std::string>>{
           {"limit=0", "limit"}, {"limit=x", "limit"}, {"status=gone", "status"}}) {
    const Reply reply = get(server.port(), "/v1/samovar/turns?" + query);
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.json["error"]["param"], name);
  }
  EXPECT_EQ(get(server.port(), "/v1/samovar/turns/none").status, 404);
  EXPECT_EQ(get(server.port(), "/v1/samovar/turns/none/explain").status, 404);
}

}  // namespace
}  // namespace samovar::testing
