// One long reply beside a crowd: thousands of connections that stall, hundreds of short replies.
#include <sys/resource.h>

#include <memory>
#include <vector>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"

namespace samovar::testing {
namespace {

constexpr int kStalled = 2'000;
constexpr int kStreams = 200;
constexpr int kLongTokens = 1'500;

// The server raises its own limit of open files; this test needs as many.
bool may_open(rlim_t count) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, count));
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur >= count;
}

Json exactly(const std::string& text, int tokens) {
  Json body = request({message("user", text)}, tokens);
  body["ignore_eos"] = true;
  return body;
}

// A streamed reply as far as it was read.
struct Reading {
  explicit Reading(int port, const Json& body) : stream(port, body) {}

  bool next() {
    const auto event = stream.next_json();
    if (!event) return false;
    if (!event->contains("choices") || event->at("choices").empty()) return true;
    const Json& choice = event->at("choices")[0];
    text += choice["delta"].value("content", "");
    text += choice["delta"].value("reasoning_content", "");
    if (choice["finish_reason"].is_string()) finish_reason = choice["finish_reason"];
    return true;
  }
  void finish() {
    while (next()) {
    }
  }

  ChatStreamClient stream;
  std::string text;
  std::string finish_reason;
};

class Crowd : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!may_open(kStalled + kStreams + 500)) {
      GTEST_SKIP() << "the limit of open files is too low";
    }
  }

  // Connections that send one byte and no more, and then one that is answered all the same.
  static std::vector<std::unique_ptr<RawClient>> stall(int port) {
    std::vector<std::unique_ptr<RawClient>> stalled;
    for (int i = 0; i < kStalled; ++i) {
      stalled.push_back(std::make_unique<RawClient>(port));
      EXPECT_TRUE(stalled.back()->connected()) << i;
      stalled.back()->send("P");
    }
    EXPECT_EQ(get(port, "/health").status, 200);
    return stalled;
  }

  static std::vector<std::unique_ptr<Reading>> ask_all(int port) {
    std::vector<std::unique_ptr<Reading>> crowd;
    for (int i = 0; i < kStreams; ++i) {
      const Json body = exactly("number " + std::to_string(i), 4);
      crowd.push_back(std::make_unique<Reading>(port, body));
    }
    return crowd;
  }

  static void expect_complete(Reading& one) {
    EXPECT_EQ(one.stream.status(), 200);
    one.finish();
    EXPECT_TRUE(one.stream.done());
    EXPECT_EQ(one.finish_reason, "length");
  }

  const Json long_ = exactly("tell me a long story", kLongTokens);
};

// Goal: a running reply goes on while a crowd is served beside it, and is complete.
TEST_F(Crowd, LongReplyGoesOnWhileEverybodyIsServed) {
  ServerProcess server({"-c", "65536", "-np", "4", "--queue", "256"});
  Reading reply(server.port(), long_);
  ASSERT_TRUE(reply.next());
  const auto stalled = stall(server.port());
  const auto crowd = ask_all(server.port());
  for (const auto& one : crowd) {
    expect_complete(*one);
    ASSERT_TRUE(reply.next()) << "it has many more tokens than the crowd has replies";
  }
  expect_complete(reply);
  EXPECT_EQ(get(server.port(), "/health").status, 200);
}

// Goal: a crowd changes nothing of a reply. Method: one reply at a time, for computed together with
// others its tokens could differ by rounding; the crowd's streams are open and wait meanwhile.
TEST_F(Crowd, LongReplyIsWhatItIsAlone) {
  ServerProcess server({"-c", "65536", "-np", "1", "--queue", "256"});
  Reading alone(server.port(), long_);
  expect_complete(alone);
  Reading reply(server.port(), long_);
  ASSERT_TRUE(reply.next());
  const auto stalled = stall(server.port());
  const auto crowd = ask_all(server.port());
  for (const auto& one : crowd) EXPECT_EQ(one->stream.status(), 200);
  expect_complete(reply);
  EXPECT_EQ(reply.text, alone.text);
  for (const auto& one : crowd) expect_complete(*one);
}

}  // namespace
}  // namespace samovar::testing
