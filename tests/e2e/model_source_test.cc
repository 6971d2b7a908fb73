// Goal: `samovar serve -hf` and `samovar models` with a hub: downloaded, served, found again
// offline, resumed after a kill, listed and removed. Method: the binary, a hub on this machine that
// holds tiny models, an empty cache.
#include <gtest/gtest.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"
#include "tests/support/fake_hub.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

namespace stdfs = std::filesystem;
using Words = std::vector<std::string>;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Ended {
  int code = 0;
  std::string text;
};

// `samovar` with these words; stdout and stderr together, no terminal.
Ended samovar(const std::string& words) {
  Ended run;
  const std::string line = std::string(SAMOVAR_BINARY) + "/samovar " + words + " 2>&1 </dev/null";
  FILE* pipe = ::popen(line.c_str(), "r");
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) {
    run.text.append(buffer, count);
  }
  run.code = WEXITSTATUS(::pclose(pipe));
  return run;
}

class ModelSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string model = bytes_of(std::string(SAMOVAR_MODELS) + "/tiny-qwen35moe.gguf");
    ASSERT_FALSE(model.empty()) << "run `make models`";
    hub_.put("tiny-Q8_0.gguf", model);
    ::setenv("HF_ENDPOINT", hub_.url().c_str(), 1);
    ::setenv("HF_HOME", folder_.path().c_str(), 1);
    for (const char* name : {"HF_TOKEN", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE",
                             "MODEL_ENDPOINT"}) {
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    ::unsetenv("HF_ENDPOINT");
    ::unsetenv("HF_HOME");
  }
  static void expect_answers(const ServerProcess& server) {
    const Reply reply = chat(server.port(), request({message("user", "hello")}, 4));
    EXPECT_EQ(reply.status, 200) << reply.head;
  }
  // What it wrote last is read a little later.
  static void expect_says(ServerProcess& server, const std::string& text) {
    EXPECT_TRUE(eventually([&] { return server.has(text); }, 10)) << text;
  }
  // Bytes of the model that came so far.
  [[nodiscard]] std::uintmax_t downloaded() const {
    std::error_code gone;
    const stdfs::directory_iterator blobs(folder_.at("hub/models--test--tiny/blobs"), gone);
    for (const auto& entry : blobs) {
      if (entry.path().extension() == ".incomplete") return stdfs::file_size(entry.path(), gone);
    }
    return 0;
  }

  FakeHub hub_;
  TemporaryFolder folder_;
};

TEST_F(ModelSourceTest, ServesFromTheHubAndAgainOffline) {
  {
    const ServerProcess server(ServerProcess::Source{{"-hf", "test/tiny:Q8_0"}}, {"-c", "1024"});
    expect_answers(server);
  }
  hub_.stop();
  ServerProcess server(ServerProcess::Source{{"-hf", "test/tiny:Q8_0", "--offline"}},
                       {"-c", "1024"});
  expect_answers(server);
  EXPECT_EQ(hub_.content_requests().size(), 1U);
}

TEST_F(ModelSourceTest, UnreachableHubUsesTheCacheAndSaysSo) {
  ASSERT_EQ(samovar("models pull test/tiny").code, 0);
  hub_.stop();
  ServerProcess server(ServerProcess::Source{{"-hf", "test/tiny"}}, {"-c", "1024"});
  expect_answers(server);
  expect_says(server, "using the copy in the cache");
}

TEST_F(ModelSourceTest, SplitModelsAreServedFromTheHubAndFromAnyPart) {
  const std::string make = std::string(SAMOVAR_BINARY) +
                           "/samovar-mkmodel --arch qwen3 --parts 3 " + "--out " + folder_.path() +
                           "/x-Q4_0.gguf >/dev/null";
  ASSERT_EQ(std::system(make.c_str()), 0);
  for (int part = 1; part <= 3; ++part) {
    const std::string name = "x-Q4_0-0000" + std::to_string(part) + "-of-00003.gguf";
    hub_.put("Q4_0/" + name, bytes_of(folder_.at(name)));
  }
  {
    const ServerProcess server(ServerProcess::Source{{"-hf", "test/tiny:q4_0"}}, {"-c", "1024"});
    expect_answers(server);
  }
  {
    const ServerProcess server(
        ServerProcess::Source{{"-m", folder_.at("x-Q4_0-00002-of-00003.gguf")}}, {"-c", "1024"});
    expect_answers(server);
  }
  stdfs::remove(folder_.at("x-Q4_0-00003-of-00003.gguf"));
  ServerProcess refused(ServerProcess::Source{{"-m", folder_.at("x-Q4_0-00001-of-00003.gguf")}}, {},
                        ServerProcess::Expect::refusal);
  expect_says(refused, "x-Q4_0-00003-of-00003.gguf");
  EXPECT_EQ(refused.exit_code(), 2);
}

// Goal: kill -9 in mid-download loses nothing that came, and the next start goes on from there.
TEST_F(ModelSourceTest, KilledDownloadIsResumed) {
  hub_.set_delay_ms(10);
  std::uintmax_t kept = 0;
  {
    ServerProcess killed(ServerProcess::Source{{"-hf", "test/tiny"}}, {},
                         ServerProcess::Expect::listening);
    ASSERT_TRUE(eventually([&] { return downloaded() > 500'000; }));
    EXPECT_EQ(get(killed.port(), "/health").status, 200) << "alive while it downloads";
    EXPECT_EQ(get(killed.port(), "/ready").status, 503);
    killed.kill_hard();
    kept = downloaded();
  }
  const Json list = Json::parse(samovar("models --json").text, nullptr, false);
  EXPECT_EQ(list["models"][0]["complete"], false) << list;
  EXPECT_EQ(list["models"][0]["quant"], "Q8_0");
  EXPECT_EQ(list["models"][0]["bytes"], kept);
  hub_.set_delay_ms(0);
  const ServerProcess server(ServerProcess::Source{{"-hf", "test/tiny"}}, {"-c", "1024"});
  expect_answers(server);
  EXPECT_EQ(hub_.content_requests().back().header("Range"), "bytes=" + std::to_string(kept) + "-");
}

TEST_F(ModelSourceTest, SignalStopsADownloadAndSaysHowFarItIs) {
  hub_.set_delay_ms(10);
  ServerProcess server(ServerProcess::Source{{"-hf", "test/tiny"}}, {},
                       ServerProcess::Expect::listening);
  ASSERT_TRUE(eventually([&] { return downloaded() > 500'000; }));
  server.signal(SIGINT);
  EXPECT_EQ(server.exit_code(), 128 + SIGINT);
  expect_says(server, "stopped at ");
  expect_says(server, "goes on from there");
  EXPECT_GT(downloaded(), 500'000U);
}

// Goal: on a terminal a bar with figures is drawn in one line, and the file's path comes last.
TEST_F(ModelSourceTest, TerminalShowsABar) {
  hub_.set_delay_ms(10);
  const std::string program = std::string(SAMOVAR_BINARY) + "/samovar";
  const winsize size = {24, 100, 0, 0};
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    ::execl(program.c_str(), "samovar", "models", "pull", "test/tiny", nullptr);
    ::_exit(127);
  }
  std::string shown;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(terminal, buffer, sizeof buffer)) > 0;) {
    shown.append(buffer, static_cast<std::size_t>(count));
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  EXPECT_EQ(WEXITSTATUS(status), 0) << shown;
  EXPECT_NE(shown.find("\rtiny-Q8_0.gguf  ["), std::string::npos) << shown;
  EXPECT_NE(shown.find("MiB/s"), std::string::npos) << shown;
  EXPECT_NE(shown.find("100%  11.31 MiB of 11.31 MiB"), std::string::npos) << shown;
  EXPECT_EQ(std::ranges::count(shown, '\n'), 2) << "the bar's line and the path's: " << shown;
}

TEST_F(ModelSourceTest, RefusalsEndTheStartWithTheRemedy) {
  ServerProcess missing(ServerProcess::Source{{"-hf", "test/nothing"}}, {},
                        ServerProcess::Expect::refusal);
  expect_says(missing, "test/nothing is gated or private, or does not exist");
  expect_says(missing, "HF_TOKEN");
  EXPECT_EQ(missing.exit_code(), 1);
  ServerProcess offline(ServerProcess::Source{{"-hf", "test/tiny", "--offline"}}, {},
                        ServerProcess::Expect::refusal);
  expect_says(offline, "nothing of test/tiny is in the cache");
  ServerProcess wrong(ServerProcess::Source{{"-hf", "tiny"}}, {}, ServerProcess::Expect::refusal);
  expect_says(wrong, "--hf-repo");
  EXPECT_EQ(wrong.exit_code(), 2);
}

TEST_F(ModelSourceTest, TokenOfTheEnvironmentOpensGatedModels) {
  hub_.set_gated("secret");
  const Ended refused = samovar("models pull test/tiny");
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.text.find("is gated"), std::string::npos) << refused.text;
  ::setenv("HF_TOKEN", "secret", 1);
  const Ended pulled = samovar("models pull test/tiny");
  ::unsetenv("HF_TOKEN");
  EXPECT_EQ(pulled.code, 0) << pulled.text;
  EXPECT_EQ(pulled.text.find("secret"), std::string::npos);
}

TEST_F(ModelSourceTest, ModelsAreListedAndRemoved) {
  EXPECT_NE(samovar("models").text.find("no model in"), std::string::npos);
  const Ended pulled = samovar("models pull test/tiny:q8_0 --json");
  ASSERT_EQ(pulled.code, 0) << pulled.text;
  const Json list = Json::parse(samovar("models --json").text, nullptr, false);
  ASSERT_EQ(list["models"].size(), 1U) << list;
  EXPECT_EQ(list["models"][0]["name"], "test/tiny");
  EXPECT_EQ(list["models"][0]["quant"], "Q8_0");
  EXPECT_EQ(list["models"][0]["complete"], true);
  EXPECT_TRUE(stdfs::exists(list["models"][0]["path"].get<std::string>()));
  const Ended table = samovar("models ls");
  EXPECT_NE(table.text.find("complete"), std::string::npos) << table.text;
  const Ended asked = samovar("models rm test/tiny:Q8_0");
  EXPECT_EQ(asked.code, 1);
  EXPECT_NE(asked.text.find("--yes"), std::string::npos) << asked.text;
  EXPECT_EQ(samovar("models rm test/tiny:Q8_0 --dry-run").code, 0);
  EXPECT_NE(samovar("models").text.find("Q8_0"), std::string::npos);
  EXPECT_EQ(samovar("models rm Test/TINY:q8_0 --yes").code, 0);
  EXPECT_NE(samovar("models").text.find("no model in"), std::string::npos);
}

}  // namespace
}  // namespace samovar::testing
