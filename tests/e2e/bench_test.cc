// `samovar bench` as a user runs it: in this process and against a running server. What is checked
// is what was measured, and how many tokens were reused and computed; never how long it took.
#include <nlohmann/json.hpp>

#include <filesystem>

#include "tests/e2e/server_process.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

using Json = nlohmann::json;

constexpr int kSplitCost = 128;  // tokens that canonical splits may add to what is new

struct Ran {
  int code = -1;
  std::string output;  // stdout
};

Ran run(const std::string& words) {
  Ran ran;
  const std::string command = std::string(SAMOVAR_BINARY) + "/samovar bench " + words;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return ran;
  char buffer[4096];
  while (const std::size_t count = fread(buffer, 1, sizeof buffer, pipe)) {
    ran.output.append(buffer, count);
  }
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

std::string model() { return std::string(SAMOVAR_MODELS) + "/tiny-qwen35moe.gguf"; }

Json measurements(const Json& report, const std::string& step, const std::string& target) {
  Json found = Json::array();
  for (const Json& each : report["measurements"]) {
    if (each["step"] == step && each["target"] == target) found.push_back(each);
  }
  return found;
}

// A follow-up computes its question, whatever came before.
void expect_reused(const Json& each) {
  SCOPED_TRACE(each.dump());
  ASSERT_FALSE(each.contains("missing"));
  EXPECT_GT(each["first_ms"].get<double>(), 0);
  const int prompt = each["prompt_tokens"];
  const int reused = each["reused_tokens"];
  const int computed = each["computed_tokens"];
  EXPECT_EQ(reused + computed, prompt);
  EXPECT_LE(computed, 64 + kSplitCost);
}

void expect_cold(const Json& each) {
  SCOPED_TRACE(each.dump());
  const int prompt = each["prompt_tokens"];
  EXPECT_GT(prompt, 800);
  EXPECT_LT(prompt, 1200);
  EXPECT_GT(each["computed_tokens"].get<int>(), prompt - 32) << "no two conversations begin alike";
}

constexpr const char* kSmall =
    "--depth 1k --rounds 2 --cold-rounds 2 --restart-rounds 1 --pause 0 --settle 0 --seed 1 ";

TEST(Bench, FollowUpInThisProcess) {
  const TemporaryFolder folder;
  const Ran ran = run("followup -m " + model() + " " + kSmall + "--json - -- -t 1 -tb 1 -c 8192 " +
                      "--anchor-memory 256M --store-dir " + folder.path() + "/store");
  ASSERT_EQ(ran.code, 0) << ran.output;
  const Json report = Json::parse(ran.output);
  EXPECT_EQ(report["targets"][0]["name"], "samovar");
  EXPECT_EQ(report["targets"][0]["model"], "tiny-qwen35moe.gguf");
  EXPECT_EQ(ran.output.find(folder.path()), std::string::npos) << "no folder in a report";
  const Json cold = measurements(report, "cold", "samovar");
  ASSERT_EQ(cold.size(), 2U);
  for (const Json& each : cold) expect_cold(each);
  for (const auto& [step, count] :
       {std::pair{"resident", 2U}, {"restart_warm", 1U}, {"restart_cold", 1U}}) {
    const Json found = measurements(report, step, "samovar");
    ASSERT_EQ(found.size(), count) << step;
    for (const Json& each : found) {
      expect_reused(each);
      if (std::string(step) != "resident") {
        EXPECT_EQ(each["source"], "store");
      }
    }
  }
}

TEST(Bench, AgainstARunningServerAndWithoutOne) {
  const TemporaryFolder folder;
  const ServerProcess server({"-c", "8192"});
  const std::string against =
      "--against one=http://127.0.0.1:" + std::to_string(server.port()) + "/v1 ";
  const Ran ran = run("all " + against + kSmall + "--edit-rounds 1 --html " + folder.path() +
                      "/r.html --csv " + folder.path() + "/r.csv --json -");
  ASSERT_EQ(ran.code, 0) << ran.output;
  const Json report = Json::parse(ran.output);
  for (const Json& each : measurements(report, "cold", "one")) expect_cold(each);
  for (const char* step : {"resident", "side", "decode"}) {
    const Json found = measurements(report, step, "one");
    ASSERT_EQ(found.size(), 2U) << step;
    for (const Json& each : found) expect_reused(each);
  }
  for (const Json& each : measurements(report, "decode", "one")) {
    EXPECT_EQ(each["reply_tokens"], 64);
    const int pieces = each["pieces"];
    EXPECT_LE(pieces, 64);
    // A busy machine joins pieces on their way, and then there is no rate to be had from them.
    EXPECT_EQ(each.contains("decode_per_second"), pieces * 10 >= 64 * 9) << each.dump();
  }
  const Json edit = measurements(report, "edit", "one");
  ASSERT_EQ(edit.size(), 1U);
  EXPECT_GT(edit[0]["computed_tokens"].get<int>(), 200) << "what follows the edit is new";
  EXPECT_GT(edit[0]["reused_tokens"].get<int>(), 200) << "what stands before it is not";
  EXPECT_EQ(measurements(report, "restart_warm", "one")[0]["missing"],
            "no --restart-cmd was given");
  EXPECT_GT(std::filesystem::file_size(folder.path() + "/r.html"), 1000U);
  EXPECT_GT(std::filesystem::file_size(folder.path() + "/r.csv"), 500U);

  EXPECT_EQ(run("followup --against 127.0.0.1:1 " + std::string(kSmall)).code, 1);
  EXPECT_EQ(run("followup").code, 2);
}

// More sessions than there are cells for: those that had to leave come back from the store.
TEST(Bench, SessionsBeyondMemory) {
  const TemporaryFolder folder;
  const Ran ran =
      run("sessions -m " + model() +
          " --depth 1k --sessions 4 --rounds 1 --pause 0.3 --settle 0 --json - -- -t 1 -tb 1 "
          "-c 3072 --anchor-memory 256M --store-quiet 0.1 --store-dir " +
          folder.path() + "/store");
  ASSERT_EQ(ran.code, 0) << ran.output;
  const Json found = measurements(Json::parse(ran.output), "sessions", "samovar");
  ASSERT_EQ(found.size(), 4U);
  int stored = 0;
  for (const Json& each : found) {
    EXPECT_EQ(each["sessions"], 4);
    expect_reused(each);
    stored += each["source"] == "store" ? 1 : 0;
  }
  EXPECT_GE(stored, 1);
}

TEST(Bench, BytesWritten) {
  const TemporaryFolder folder;
  const Ran ran = run("write -m " + model() +
                      " --depth 1k --rounds 1 --pause 0 --settle 0 --json - -- -t 1 -tb 1 -c 8192 "
                      "--anchor-memory 256M --store-quiet 0.2 --store-dir " +
                      folder.path() + "/store");
  ASSERT_EQ(ran.code, 0) << ran.output;
  const Json found = measurements(Json::parse(ran.output), "write", "samovar");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found[0]["bytes"].get<std::int64_t>(), 0);
}

}  // namespace
}  // namespace samovar::testing
