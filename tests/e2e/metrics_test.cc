// Goal: what docs/metrics.md promises holds over HTTP. Method: the real binary with a tiny model;
// its /metrics before and after turns of known kinds.
#include <cmath>
#include <cstdlib>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/stored_files.h"
#include "tests/support/exposition.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

using test::Exposition;

std::string scrape_text(int port, const std::string& headers = "") {
  RawClient client(port);
  client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers +
              "\r\n");
  return client.receive_all(30);
}

// The metrics as they stand; nothing that is not well formed gets through.
Exposition scrape(int port) {
  const std::string all = scrape_text(port);
  EXPECT_TRUE(all.starts_with("HTTP/1.1 200")) << all.substr(0, 200);
  EXPECT_NE(all.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            std::string::npos);
  auto exposition = Exposition::parse(all.substr(all.find("\r\n\r\n") + 4));
  EXPECT_TRUE(exposition.has_value()) << exposition.error();
  return exposition.value_or(Exposition());
}

std::string source(const char* name) {
  return std::string("samovar_tokens_reused_total{source=\"") + name + "\"}";
}

// What has changed since an earlier scrape.
struct Change {
  const Exposition& before;
  const Exposition& after;
  double of(const std::string& series) const { return after.value(series) - before.value(series); }
  double sum(const std::string& family) const { return after.sum(family) - before.sum(family); }
};

constexpr const char* kComplete = "samovar_turns_total{end=\"complete\"}";
constexpr const char* kCancelled = "samovar_turns_total{end=\"cancelled\"}";

Json question(unsigned seed, int max_tokens = 8) {
  return request({message("user", prose(400, seed))}, max_tokens);
}

TEST(Metrics, ARepeatedPromptRaisesReusedAndNotComputedSoNoSpeedRises) {
  const ServerProcess server({"-c", "8192"});
  const Exposition start = scrape(server.port());
  const Reply first = chat(server.port(), question(1));
  ASSERT_EQ(first.status, 200);
  const Exposition once = scrape(server.port());
  const Change cold{start, once};
  const int replied = first.json["usage"]["completion_tokens"];
  EXPECT_EQ(cold.of("samovar_tokens_computed_total"), first.timing("prompt_tokens"));
  EXPECT_EQ(cold.sum("samovar_tokens_reused_total"), 0);
  EXPECT_EQ(cold.of("samovar_tokens_generated_total"), replied);
  EXPECT_EQ(cold.of("samovar_decode_step_seconds_count"), replied - 1);
  EXPECT_EQ(cold.of("samovar_tokens_offered_total"), first.timing("prompt_tokens"));

  constexpr int kRepeats = 5;
  for (int i = 0; i < kRepeats; ++i) ASSERT_EQ(chat(server.port(), question(1)).status, 200);
  const Exposition often = scrape(server.port());
  const Change again{once, often};
  const double offered = again.of("samovar_tokens_offered_total");
  const double computed = again.of("samovar_tokens_computed_total");
  EXPECT_EQ(offered, kRepeats * first.timing("prompt_tokens"));
  EXPECT_EQ(offered, again.sum("samovar_tokens_reused_total") + computed) << "I5";
  EXPECT_LE(computed, kRepeats * 128) << "only what is replayed";
  EXPECT_GE(computed, kRepeats) << "at least a token each, or nothing could be sampled";
  EXPECT_EQ(again.of(kComplete), kRepeats);
  for (const char* phase : {"queue", "render", "plan", "prefill", "first_token"}) {
    EXPECT_EQ(again.of(std::string("samovar_turn_") + phase + "_seconds_count"), kRepeats) << phase;
  }
}

TEST(Metrics, AnAbortedTurnIsInTheHistogramsOfWhatItReached) {
  const ServerProcess server({"-c", "32768", "-np", "1", "-ub", "256"});
  const Exposition before = scrape(server.port());
  {
    Json body = request({message("user", prose(6'000, 1))}, 1000);
    body["return_progress"] = true;
    ChatStreamClient stream(server.port(), body);
    while (auto event = stream.next_json()) {
      if (event->contains("prompt_progress") &&
          event->at("prompt_progress").at("processed") >= 1'000) {
        break;
      }
    }
    // It holds the only place.
    EXPECT_EQ(scrape(server.port()).value("samovar_turns_running{phase=\"prefill\"}"), 1);
  }
  Exposition after = scrape(server.port());
  ASSERT_TRUE(eventually([&] {
    after = scrape(server.port());
    return after.value(kCancelled) == 1;
  }));
  const Change change{before, after};
  EXPECT_EQ(change.of("samovar_turn_queue_seconds_count"), 1);
  EXPECT_EQ(change.of("samovar_turn_prefill_seconds_count"), 1);
  EXPECT_EQ(change.of("samovar_turn_first_token_seconds_count"), 0) << "it never got there";
  EXPECT_EQ(change.of("samovar_tokens_generated_total"), 0);
  const double computed = change.of("samovar_tokens_computed_total");
  EXPECT_GE(computed, 1'000);
  EXPECT_GT(change.of("samovar_tokens_offered_total"), computed);
  EXPECT_EQ(change.of(kComplete), 0);
}

TEST(Metrics, AReplyThatIsCutCountsWhatItSaid) {
  const ServerProcess server({"-c", "8192"});
  {
    Json body = question(3, 100'000);
    body["ignore_eos"] = true;
    ChatStreamClient stream(server.port(), body);
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(stream.next_json().has_value());
  }
  Exposition after = scrape(server.port());
  ASSERT_TRUE(eventually([&] {
    after = scrape(server.port());
    return after.value(kCancelled) == 1;
  }));
  EXPECT_EQ(after.value("samovar_turn_first_token_seconds_count"), 1);
  const double generated = after.value("samovar_tokens_generated_total");
  EXPECT_GE(generated, 10);
  EXPECT_EQ(after.value("samovar_decode_step_seconds_count"), generated - 1);
}

// A reply in the background, whose client left long ago, and one that goes on where it was cut.
TEST(Metrics, EveryReplyIsOneTurnWhoeverReadsIt) {
  const ServerProcess server({"-c", "8192"});
  const Json wanted = {
      {"model", "any"}, {"input", prose(200, 9)}, {"max_output_tokens", 12}, {"background", true}};
  const Reply begun =
      ask(server.port(), post("/v1/responses", wanted.dump(), "Connection: close\r\n"));
  ASSERT_EQ(begun.status, 200) << begun.json;
  Exposition after = scrape(server.port());
  ASSERT_TRUE(eventually([&] {
    after = scrape(server.port());
    return after.value(kComplete) == 1;
  }));
  EXPECT_EQ(after.sum("samovar_turns_total"), 1);

  std::string id;
  {
    Json body = question(4, 100'000);
    body["ignore_eos"] = true;
    ChatStreamClient stream(server.port(), body);
    for (int i = 0; i < 20; ++i) {
      const auto event = stream.next_json();
      ASSERT_TRUE(event.has_value());
      id = event->at("id");
    }
  }
  ASSERT_TRUE(eventually([&] { return scrape(server.port()).value(kCancelled) == 1; }));
  const Exposition cut = scrape(server.port());
  const Reply rest = ask(server.port(), post("/v1/samovar/turns/" + id + "/continue",
                                             R"({"max_tokens": 1})", "Connection: close\r\n"));
  ASSERT_EQ(rest.status, 200) << rest.json;
  const Exposition whole = scrape(server.port());
  const Change change{cut, whole};
  EXPECT_EQ(change.of(kComplete), 1);
  EXPECT_EQ(change.of("samovar_tokens_generated_total"), 1);
  EXPECT_EQ(change.of("samovar_tokens_offered_total"),
            change.sum("samovar_tokens_reused_total") + change.of("samovar_tokens_computed_total"));
  EXPECT_EQ(whole.sum("samovar_turns_total"), 3);
  EXPECT_EQ(whole.value("samovar_turn_queue_seconds_count"), 3);
}

TEST(Metrics, RefusedAndMalformedRequestsAreNoTurns) {
  const ServerProcess server({"-c", "1024"});
  EXPECT_EQ(chat(server.port(), request({message("user", prose(3'000, 1))}, 4)).status, 400);
  EXPECT_EQ(chat(server.port(), Json::object()).status, 400);
  const Exposition after = scrape(server.port());
  EXPECT_EQ(after.value("samovar_turns_refused_total{reason=\"too_large\"}"), 1);
  EXPECT_EQ(after.sum("samovar_turns_refused_total"), 1);
  EXPECT_EQ(after.sum("samovar_turns_total"), 0);
  EXPECT_EQ(after.value("samovar_turn_queue_seconds_count"), 0);
  EXPECT_TRUE(std::isnan(after.value("samovar_store_bytes"))) << "there is no store";
}

ServerProcess::Words stored(const TemporaryFolder& folder) {
  return {"-c",  "8192",         "--store-dir", folder.path(), "--store-quiet",
          "0.1", "--store-size", "200M"};
}

TEST(Metrics, AfterARestartCountersStartAtZeroAndDiskHitsAreCountedAsUsed) {
  const TemporaryFolder folder;
  {
    ServerProcess server(stored(folder));
    ASSERT_EQ(chat(server.port(), question(1)).status, 200);
    Exposition written = scrape(server.port());
    EXPECT_TRUE(eventually([&] {
      written = scrape(server.port());
      return written.sum("samovar_store_written_files_total") >= 2 &&
             written.value("samovar_store_queued_bytes") == 0;
    }));
    EXPECT_EQ(written.value("samovar_store_write_seconds_count"),
              written.sum("samovar_store_written_files_total"));
    EXPECT_GT(written.value("samovar_store_bytes"),
              written.sum("samovar_store_written_bytes_total") / 2);
    ASSERT_EQ(server.end(), 0);
  }
  const ServerProcess server(stored(folder));
  const Exposition start = scrape(server.port());
  for (const auto& [name, family] : start.families()) {
    if (family.type == "gauge") continue;
    for (const auto& [series, value] : family.samples) EXPECT_EQ(value, 0) << series;
  }
  EXPECT_GE(start.value("samovar_store_files"), 2) << "what is kept is kept";
  const Reply reply = chat(server.port(), question(1));
  ASSERT_EQ(reply.timing("reused_tokens") > 0, true) << reply.json["timings"];
  const Exposition after = scrape(server.port());
  EXPECT_EQ(after.value(source("disk")), reply.timing("reused_tokens"));
  EXPECT_EQ(after.sum("samovar_tokens_reused_total"), after.value(source("disk")));
  EXPECT_EQ(after.value("samovar_restores_tried_total"), 1);
  EXPECT_EQ(after.value("samovar_restores_accepted_total"), 1);
  EXPECT_EQ(after.sum("samovar_restores_rejected_total"), 0);
  EXPECT_GT(after.value("samovar_restore_bytes_total{result=\"accepted\"}"), 0);
  EXPECT_EQ(after.value("samovar_turn_restore_seconds_count"), 1);
}

TEST(Metrics, ARestoreThatFailsIsRejectedForItsReasonAndIsNoHit) {
  const TemporaryFolder folder;
  {
    ServerProcess server(stored(folder));
    ASSERT_EQ(chat(server.port(), question(1)).status, 200);
    ASSERT_EQ(server.end(), 0);  // writes what is left
  }
  const StoredFiles files(folder.path());
  const auto segments = files.named(".seg");
  ASSERT_FALSE(segments.empty());
  for (const std::string& path : segments) {  // bytes inside, so that only reading tells
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-64, std::ios::end);
    file.write("damaged damaged damaged", 23);
  }
  const ServerProcess server(stored(folder));
  const Reply reply = chat(server.port(), question(1));
  ASSERT_EQ(reply.status, 200);
  EXPECT_EQ(reply.timing("reused_tokens"), 0);
  const Exposition after = scrape(server.port());
  EXPECT_GE(after.value("samovar_restores_rejected_total{reason=\"damaged\"}"), 1);
  EXPECT_EQ(after.value("samovar_restores_tried_total"),
            after.sum("samovar_restores_rejected_total"));
  EXPECT_EQ(after.value("samovar_restores_accepted_total"), 0);
  EXPECT_EQ(after.sum("samovar_tokens_reused_total"), 0);
  EXPECT_EQ(after.value("samovar_tokens_computed_total"), reply.timing("prompt_tokens"));
  EXPECT_GE(after.value("samovar_store_removed_files_total{cause=\"damaged\"}"), 1);
}

TEST(Metrics, AMissIsCountedByItsClass) {
  const ServerProcess server({"-c", "8192"});
  const auto talk = [](const std::string& system) {
    return request({message("system", system + prose(300, 7)), message("user", "Go on.")}, 4);
  };
  ASSERT_EQ(chat(server.port(), talk("You are one who helps. ")).status, 200);
  EXPECT_EQ(scrape(server.port()).sum("samovar_misses_total"), 0) << "a first turn is no miss";
  const Reply reply = chat(server.port(), talk("You are somebody else entirely, quite. "));
  const std::string cause = reply.json["timings"]["miss"]["class"];
  Exposition after = scrape(server.port());
  EXPECT_TRUE(eventually([&] {  // it is told when the turn's record is complete
    after = scrape(server.port());
    return after.sum("samovar_misses_total") == 1;
  }));
  EXPECT_EQ(after.value("samovar_misses_total{class=\"" + cause + "\"}"), 1) << cause;
  const double tokens = after.value("samovar_miss_tokens_total{class=\"" + cause + "\"}");
  EXPECT_GT(tokens, 100);
  EXPECT_LE(tokens, reply.timing("computed_tokens"));
}

TEST(Metrics, AreBehindTheKey) {
  const ServerProcess server({"-c", "1024", "--api-key", "secret"});
  EXPECT_TRUE(scrape_text(server.port()).starts_with("HTTP/1.1 401"));
  const std::string with_key = scrape_text(server.port(), "Authorization: Bearer secret\r\n");
  EXPECT_TRUE(with_key.starts_with("HTTP/1.1 200"));
  EXPECT_NE(with_key.find("samovar_cells 1024\n"), std::string::npos);
}

// Prometheus' own opinion, where it is installed.
TEST(Metrics, PassPromtool) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "promtool is not installed";
  }
  const TemporaryFolder folder;
  const ServerProcess server(stored(folder));
  ASSERT_EQ(chat(server.port(), question(1)).status, 200);
  const std::string all = scrape_text(server.port());
  const std::string file = folder.path() + "/metrics.txt";
  std::ofstream(file) << all.substr(all.find("\r\n\r\n") + 4);
  const std::string said = folder.path() + "/promtool.txt";
  const int status =
      std::system(("promtool check metrics <'" + file + "' >'" + said + "' 2>&1").c_str());
  std::ifstream answer(said);
  const std::string text{std::istreambuf_iterator<char>(answer), {}};
  EXPECT_EQ(status, 0) << text;
  EXPECT_EQ(text, "") << "no complaint";
}

}  // namespace
}  // namespace samovar::testing
