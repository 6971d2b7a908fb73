// Conversations that outlive their server: they go on after a restart as if there had been none.
#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/stored_files.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

constexpr int kTurns = 12;
constexpr int kSplitCost = 128;   // tokens that canonical splits may add to what is new
constexpr int kTokenBytes = 512;  // of K/V, tiny-qwen35moe

// A conversation: the same questions each time, the model's own replies.
class Conversation {
 public:
  explicit Conversation(unsigned seed) : seed_(seed) {}

  // The next turn's request. Turns are of different lengths.
  Json next() {
    const int words = 100 + static_cast<int>(seed_ * 37 + turn_ * 53) % 90;
    messages_.push_back(message("user", "And now? " + prose(words, seed_ * 1000 + turn_++)));
    return request(messages_, 12);
  }
  void take(const Reply& reply) {
    Json answer = reply.json["choices"][0]["message"];
    answer["role"] = "assistant";
    messages_.push_back(answer);
  }
  Reply ask(int port) {
    Reply reply = chat(port, next());
    EXPECT_EQ(reply.status, 200) << reply.json;
    if (reply.status == 200) take(reply);
    return reply;
  }

 private:
  unsigned seed_;
  unsigned turn_ = 0;
  Json messages_ = Json::array();
};

class Restart : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static ServerProcess::Words options(const TemporaryFolder& folder) {
    return {"-c",  "8192",           "--store-dir", folder.path(),  "--store-quiet",
            "0.2", "--store-window", "1",           "--store-size", "200M"};
  }
  [[nodiscard]] static bool hybrid() {
    const std::string model = GetParam();
    return model != "tiny-qwen3" && model != "tiny-gemma3";
  }

  // The replies of a server that is never restarted.
  static std::vector<Reply> reference() {
    const ServerProcess server({"-c", "8192"}, GetParam());
    Conversation conversation(1);
    std::vector<Reply> replies;
    for (int turn = 0; turn < kTurns; ++turn) replies.push_back(conversation.ask(server.port()));
    return replies;
  }

  static void expect_resumed(const Reply& reply, const Reply& reference) {
    EXPECT_EQ(reply.json["timings"]["source"], "store");
    const int prompt = reply.timing("prompt_tokens");
    EXPECT_EQ(prompt, reference.timing("prompt_tokens"));
    EXPECT_EQ(prompt, reply.timing("reused_tokens") + reply.timing("computed_tokens"));
    const int fresh = prompt - reference.timing("matched_tokens");
    EXPECT_LE(reply.timing("computed_tokens"), fresh + kSplitCost) << reply.json["timings"] << "\n"
                                                                   << reference.json["timings"];
  }
};

// Goal: a follow-up after a restart says the same as without one and computes its new tokens only.
// Method: a server for each turn, ended by SIGTERM.
TEST_P(Restart, CleanlyBetweenAllTurns) {
  const std::vector<Reply> expected = reference();
  const TemporaryFolder folder;
  Conversation conversation(1);
  for (std::size_t turn = 0; turn < expected.size(); ++turn) {
    SCOPED_TRACE(turn);
    ServerProcess server(options(folder), GetParam());
    const Reply reply = conversation.ask(server.port());
    ASSERT_EQ(reply.status, 200);
    EXPECT_EQ(reply.text(), expected[turn].text());
    if (turn > 0) expect_resumed(reply, expected[turn]);
    ASSERT_EQ(server.end(), 0);
  }
  EXPECT_EQ(StoredFiles(folder.path()).faults(), std::vector<std::string>{});
}

// Goal: the same after kill -9, once the session was written. Method: a quiet of 0.2 s; the folder
// is watched until it has the checkpoint that the next turn needs.
TEST_P(Restart, KilledBetweenAllTurns) {
  const std::vector<Reply> expected = reference();
  const TemporaryFolder folder;
  Conversation conversation(1);
  for (std::size_t turn = 0; turn < expected.size(); ++turn) {
    SCOPED_TRACE(turn);
    ServerProcess server(options(folder), GetParam());
    const Reply reply = conversation.ask(server.port());
    ASSERT_EQ(reply.status, 200);
    EXPECT_EQ(reply.text(), expected[turn].text());
    if (turn > 0) expect_resumed(reply, expected[turn]);
    if (turn + 1 == expected.size()) break;
    const int low = expected[turn + 1].timing("reused_tokens");
    const int high = expected[turn + 1].timing("matched_tokens");
    const StoredFiles files(folder.path());
    EXPECT_TRUE(eventually([&] { return files.has_checkpoint(low, high, hybrid()); }, 20))
        << "no checkpoint at " << low << " to " << high;
    server.kill_hard();
  }
  EXPECT_EQ(StoredFiles(folder.path()).faults(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(, Restart,
                         ::testing::Values("tiny-qwen35moe", "tiny-qwen35", "tiny-granitehybrid",
                                           "tiny-qwen3", "tiny-gemma3"),
                         [](const auto& model) {
                           std::string name = model.param;
                           return name.substr(name.find('-') + 1);
                         });

// Cuts a prefill of 12k tokens at about 70 %; what its stream said was processed by then.
int interrupt_prefill(int port, Json body) {
  body["return_progress"] = true;
  ChatStreamClient stream(port, body);
  while (auto event = stream.next_json()) {
    if (!event->contains("prompt_progress")) continue;
    const Json& progress = event->at("prompt_progress");
    const int done = progress.at("processed");
    if (done * 10 >= progress.at("total").get<int>() * 7) return done;
  }
  return 0;
}

Json long_request(int max_tokens) {
  return request({message("user", prose(11'000, 7))}, max_tokens);
}

// Goal: what was computed of a prompt before its client left survives the server. Method: cut, end
// the server in order, or as soon as the checkpoint is there by force; ask again.
TEST(RestartAfterCut, GoesOnFromTheLastAnchor) {
  for (const bool killed : {false, true}) {
    SCOPED_TRACE(killed ? "killed" : "ended");
    const TemporaryFolder folder;
    const ServerProcess::Words options = {
        "-c",           "16384", "-np",           "1",   "--store-dir",    folder.path(),
        "--store-size", "400M",  "--store-quiet", "0.2", "--store-window", "1"};
    int cut = 0;
    {
      ServerProcess server(options);
      cut = interrupt_prefill(server.port(), long_request(100));
      ASSERT_GT(cut, 7'000);
      if (killed) {
        const StoredFiles files(folder.path());
        EXPECT_TRUE(eventually([&] { return files.has_checkpoint(cut - 256, cut + 1024, true); }));
        server.kill_hard();
      } else {
        ASSERT_EQ(server.end(), 0);
      }
    }
    const ServerProcess server(options);
    const Reply again = chat(server.port(), long_request(2));
    ASSERT_EQ(again.status, 200) << again.json;
    EXPECT_EQ(again.json["timings"]["source"], "store");
    EXPECT_GE(again.timing("reused_tokens"), cut - 256);
    EXPECT_GT(again.timing("reused_tokens") * 2, again.timing("prompt_tokens"));
    EXPECT_GT(again.timing("computed_tokens"), 1'000) << "the rest was left uncomputed";
  }
}

struct WatchedRestore {
  Json timings;
  std::vector<int> processed;  // prompt tokens in memory, as the client was told
  [[nodiscard]] auto steps() const {
    const int reused = timings.at("reused_tokens");
    return std::ranges::count_if(processed, [reused](int at) { return at < reused; });
  }
};

WatchedRestore watch_restore(const ServerProcess& server, const Json& body) {
  WatchedRestore watched;
  ChatStreamClient stream(server.port(), body);
  while (auto event = stream.next_json()) {
    if (event->contains("prompt_progress")) {
      watched.processed.push_back(event->at("prompt_progress").at("processed"));
    }
    if (event->contains("timings")) watched.timings = event->at("timings");
  }
  EXPECT_TRUE(stream.done());
  return watched;
}

// Goal: a client that asks for progress sees a restore advance, and what it cost. Reports that wait
// for a busy machine to send them are joined, so one restore may show none: another one does.
TEST(RestartStream, SaysWhatTheRestoreDoes) {
  const TemporaryFolder folder;
  const ServerProcess::Words options = {"-c", "8192", "--store-dir", folder.path()};
  Json messages = {message("user", prose(2'500, 3)), message("assistant", prose(600, 4)),
                   message("user", "Begin.")};
  {
    ServerProcess server(options);
    ASSERT_EQ(chat(server.port(), request(messages, 4)).status, 200);
    ASSERT_EQ(server.end(), 0);
  }
  messages.push_back(message("assistant", "Well."));
  messages.push_back(message("user", "Go on."));
  Json body = request(messages, 4);
  body["return_progress"] = true;
  WatchedRestore watched;
  for (int tries = 0; tries < 5; ++tries) {
    ServerProcess server(options);
    watched = watch_restore(server, body);
    ASSERT_FALSE(watched.timings.is_null());
    ASSERT_EQ(watched.timings["source"], "store");
    EXPECT_TRUE(std::ranges::is_sorted(watched.processed)) << Json(watched.processed);
    if (watched.steps() >= 2) break;
    ASSERT_EQ(server.end(), 0);
  }
  EXPECT_GE(watched.steps(), 2) << "of the restore: " << Json(watched.processed);
  const Json& timings = watched.timings;
  EXPECT_GE(timings["restore_bytes"].get<int>(), kTokenBytes * timings["reused_tokens"].get<int>());
  for (const char* part : {"restore_read_ms", "restore_verify_ms", "restore_set_ms"}) {
    EXPECT_GT(timings[part].get<double>(), 0.0) << part;
  }
  EXPECT_GE(timings["restore_ms"].get<double>(), timings["restore_set_ms"].get<double>());
  EXPECT_GE(timings["first_token_ms"].get<double>(), timings["restore_ms"].get<double>());
}

// Goal: more sessions than memory holds are all warm, and small talk pushes none of them out.
// Method: six in turn over cells for two, thrice; then twenty side requests, which are more than
// the folder has room for; then once more.
TEST(Interleaving, SixSessionsInMemoryForTwo) {
  const TemporaryFolder folder;
  ServerProcess server({"-c", "6144", "--store-dir", folder.path(), "--store-size", "14M",
                        "--store-quiet", "0.2", "--store-window", "1"});
  std::vector<Json> sessions;
  std::vector<int> known(6, 0);  // tokens that the session's last turn ended with
  for (unsigned i = 0; i < 6; ++i) {
    sessions.push_back(Json::array({message("system", prose(1700, i + 50))}));
  }
  int from_disk = 0;
  const auto turn = [&](unsigned session, unsigned round) {
    SCOPED_TRACE("session " + std::to_string(session) + ", round " + std::to_string(round));
    Json& messages = sessions[session];
    messages.push_back(message("user", "And? " + prose(60, session * 100 + round)));
    const Reply reply = chat(server.port(), request(messages, 12));
    ASSERT_EQ(reply.status, 200) << reply.json;
    const int prompt = reply.timing("prompt_tokens");
    if (round > 0) {
      EXPECT_LE(reply.timing("computed_tokens"), prompt - known[session] + kSplitCost)
          << reply.json["timings"];
      from_disk += reply.json["timings"]["source"] == "store" ? 1 : 0;
    }
    known[session] = prompt;
    Json answer = reply.json["choices"][0]["message"];
    answer["role"] = "assistant";
    messages.push_back(answer);
  };
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < 6; ++i) turn(i, round);
  }
  EXPECT_EQ(from_disk, 12);
  for (unsigned side = 0; side < 20; ++side) {
    ASSERT_EQ(chat(server.port(), request({message("user", prose(150, side + 900))}, 4)).status,
              200);
  }
  EXPECT_TRUE(server.has("store: evicted")) << "the folder is too large for this test";
  for (unsigned i = 0; i < 6; ++i) turn(i, 3);
}

}  // namespace
}  // namespace samovar::testing
