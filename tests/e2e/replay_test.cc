// Goal: what a server records can be replayed, redacted too, against a fresh server, with equal
// outputs at temperature 0 and hardly any token computed beyond the new ones.
// Method: `samovar` as processes: a server with --record serves a small generated trace, its file
// is looked into, redacted and replayed.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/e2e/server_process.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

using Json = nlohmann::json;

class ReplayTest : public ::testing::Test {
 protected:
  struct Outcome {
    int code = -1;
    std::string text;  // stdout and stderr
  };

  static Outcome samovar(const std::string& words) {
    Outcome outcome;
    FILE* pipe = popen((std::string(SAMOVAR_BINARY) + "/samovar " + words + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return outcome;
    char buffer[4096];
    while (const std::size_t count = fread(buffer, 1, sizeof buffer, pipe)) {
      outcome.text.append(buffer, count);
    }
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }

  static std::string against(const ServerProcess& server) {
    return " --against http://127.0.0.1:" + std::to_string(server.port());
  }
  [[nodiscard]] std::string at(const char* name) const { return folder.at(name); }
  [[nodiscard]] std::string content(const char* name) const {
    std::ifstream file(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // A trace that leaves no room for chance: one session at a time, no sub-agents, nothing cut.
  void generate(int turns = 5) const {
    const Outcome made =
        samovar("trace generate --seed 11 --sessions 2 --scale 0.012 --turns " +
                std::to_string(turns) + " --tools-per-user 2 --agents 0 --cuts 0 -o " + at("made"));
    ASSERT_EQ(made.code, 0) << made.text;
  }

  const std::vector<std::string> small = {"-c", "8192", "-np", "2"};
  TemporaryFolder folder;
};

TEST_F(ReplayTest, WhatAServerRecordsIsReplayedWithEqualOutputs) {
  generate();
  {
    std::vector<std::string> words = small;
    words.insert(words.end(), {"--record", at("recorded")});
    ServerProcess server(words);
    EXPECT_TRUE(server.has("recording every turn in " + at("recorded") + ", with its text"));
    const Outcome first =
        samovar("replay " + at("made") + against(server) + " --speed 0 --concurrency 1");
    EXPECT_EQ(first.code, 0) << first.text;
    EXPECT_EQ(server.end(), 0);
  }
  struct stat info = {};
  ASSERT_EQ(stat(at("recorded").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  const Json told =
      Json::parse(samovar("trace info --json " + at("recorded")).text, nullptr, false);
  ASSERT_TRUE(told.is_object());
  EXPECT_EQ(told["turns"], 10);
  EXPECT_EQ(told["sessions"], 2);
  EXPECT_EQ(told["prompt_tokens"]["count"], 10);

  ServerProcess fresh(small);
  const Outcome again =
      samovar("replay " + at("recorded") + against(fresh) +
              " --speed 0 --concurrency 1 --runs 2 --require-equal --json " + at("report"));
  EXPECT_EQ(again.code, 0) << again.text;
  const Json report = Json::parse(content("report"));
  ASSERT_EQ(report["runs"].size(), 2U);
  const Json& run = report["runs"][0];
  EXPECT_EQ(run["summary"]["whole"], 10);
  for (const Json& turn : run["turns"]) {
    ASSERT_TRUE(turn["computed_tokens"].is_number()) << turn;
    if (turn["beyond_by"] != "counts") continue;
    EXPECT_LE(turn["beyond_tokens"], 128) << turn;
  }
  EXPECT_EQ(report["runs"][1]["summary"]["equality"]["equal"], 10);
  // The same model gives the same replies as when it was recorded.
  std::istringstream lines(content("recorded"));
  std::size_t replayed = 0;
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line);
    if (!json.contains("reply")) continue;
    EXPECT_EQ(json["figures"]["prompt"], run["turns"][replayed]["prompt_tokens"]) << line;
    EXPECT_EQ(json["reply"]["tokens"], run["turns"][replayed]["reply_tokens"]);
    ++replayed;
  }
  EXPECT_EQ(replayed, 10U);
}

TEST_F(ReplayTest, ARedactedTraceIsReplayedToo) {
  generate();
  const std::string word = "zqsecretword";
  std::string made = content("made");
  const std::size_t place = made.find(R"("content":")") + 11;
  made.insert(place, word + " ");
  std::ofstream(at("made"), std::ios::binary) << made;
  {
    std::vector<std::string> words = small;
    words.insert(words.end(), {"--record", at("recorded"), "--record-redact"});
    ServerProcess server(words);
    EXPECT_TRUE(server.has("without its text"));
    EXPECT_EQ(samovar("replay " + at("made") + against(server) + " --speed 0").code, 0);
    EXPECT_EQ(server.end(), 0);
  }
  EXPECT_EQ(content("recorded").find(word), std::string::npos);
  const Outcome redacted = samovar("trace redact " + at("made") + " " + at("redacted"));
  ASSERT_EQ(redacted.code, 0) << redacted.text;
  EXPECT_EQ(content("redacted").find(word), std::string::npos);

  ServerProcess fresh(small);
  for (const char* name : {"recorded", "redacted"}) {
    const Outcome again =
        samovar("replay " + at(name) + against(fresh) + " --speed 0 --concurrency 1 --json -");
    EXPECT_EQ(again.code, 0) << again.text;
    const Json report = Json::parse(again.text.substr(again.text.find("{\n")), nullptr, false);
    ASSERT_TRUE(report.is_object()) << again.text;
    EXPECT_EQ(report["runs"][0]["summary"]["whole"], 10) << name;
  }
}

TEST_F(ReplayTest, LimitsDecideAboutTheExitCode) {
  generate(2);
  const std::string own = " -- -m " SAMOVAR_MODELS "/tiny-qwen35moe.gguf -c 8192 -t 1 -tb 1";
  const Outcome kept = samovar("replay " + at("made") + " --speed 0 --max-beyond 100000" + own);
  EXPECT_EQ(kept.code, 0) << kept.text;
  EXPECT_NE(kept.text.find("beyond     "), std::string::npos) << kept.text;
  EXPECT_EQ(samovar("replay " + at("made") + " --speed 0").code, 2);  // no server
  const Outcome nobody = samovar("replay " + at("made") + " --against http://127.0.0.1:1");
  EXPECT_EQ(nobody.code, 1) << nobody.text;
  std::ofstream(at("wrong")) << "{\"samovar_trace\":1}\n{\"id\":1}\n{\"id\":2}\n";
  const Outcome wrong = samovar("trace info " + at("wrong"));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.text.find("line 2: a string is expected here (id)"), std::string::npos)
      << wrong.text;
}

TEST_F(ReplayTest, ARecordingThatOthersCanReadIsRefused) {
  std::ofstream(at("open")) << "";
  chmod(at("open").c_str(), 0644);
  ServerProcess server({"--record", at("open")}, "tiny-qwen35moe", ServerProcess::Expect::refusal);
  EXPECT_NE(server.exit_code(), 0);
  EXPECT_TRUE(server.has("--record"));
}

}  // namespace
}  // namespace samovar::testing
