// Goal: what `samovar replay` asks a running server and which exit code it ends with: the model's
// whole id is sent, a signal ends it with 128 + signal wherever it stands.
// Method: a server of the test's own on loopback; the signal comes from its handler.
#include <gtest/gtest.h>

#include <unistd.h>
#include <csignal>

#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/replay_command.h"
#include "http/server.h"
#include "tests/support/temporary_folder.h"

namespace samovar::app {
namespace {

class ReplayRunTest : public ::testing::Test {
 protected:
  ReplayRunTest() {
    std::ofstream(at("trace")) << R"({"samovar_trace":1})" << '\n'
                               << R"({"id":"a","messages":[{"role":"user","content":"x"}]})" << '\n'
                               << R"({"id":"b","after":"a",)"
                               << R"("messages":[{"role":"user","content":"y"}]})" << '\n';
    // No thread but the command's own may take the signal.
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    auto bound =
        HttpServer::bind({}, [this](const HttpRequest& request) { return answer(request); });
    server_ = std::move(*bound);
    server_->start();
  }
  ~ReplayRunTest() override { server_->stop(0); }

  [[nodiscard]] std::string at(const std::string& name) const { return folder_.at(name); }
  int replay(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {at("trace"), "--against", server_->url(), "--speed", "0"};
    words.insert(words.end(), more.begin(), more.end());
    return replay_command(words);
  }
  void interrupt() {
    if (!interrupted_.exchange(true)) ::kill(::getpid(), SIGINT);
  }

  HttpResponse answer(const HttpRequest& request) {
    HttpResponse response;
    if (request.path == "/health") {
      if (!loading) return response;
      response.status = 503;
      interrupt();
    } else if (request.path == "/v1/models") {
      response.body = R"({"object":"list","data":[{"id":"Qwen/Qwen3-8B"}]})";
    } else if (request.path == "/v1/chat/completions") {
      const auto body = nlohmann::json::parse(request.body);
      const std::scoped_lock lock(mutex_);
      models.push_back(body["model"]);
      if (body["model"] == "Qwen/Qwen3-8B") return reply();
      response.status = 404;
    } else {
      response.status = 404;
    }
    return response;
  }

  HttpResponse reply() {
    HttpResponse response;
    response.content_type = "text/event-stream";
    response.body =
        "data: "
        "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"r\"},\"finish_reason\":null}]}\n\n"
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
        "data: [DONE]\n\n";
    if (!endless) return response;
    response.stream = [this](BodyWriter& writer) {
      if (pieces.empty()) interrupt();
      while (!pieces.empty() && writer.write(pieces)) ++written;
      while (!writer.client_gone()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    return response;
  }

  bool loading = false;
  bool endless = false;
  std::string pieces;  // of an endless reply, again and again; empty: the signal comes instead
  std::atomic<int> written = 0;
  std::vector<std::string> models;  // asked for

 private:
  testing::TemporaryFolder folder_;
  std::mutex mutex_;
  std::atomic<bool> interrupted_ = false;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(ReplayRunTest, AsksForTheModelByItsWholeId) {
  EXPECT_EQ(replay({"--json", at("report")}), 0);
  EXPECT_EQ(models, (std::vector<std::string>{"Qwen/Qwen3-8B", "Qwen/Qwen3-8B"}));
  std::ifstream in(at("report"));
  const auto report = nlohmann::json::parse(in);
  EXPECT_EQ(report["runs"][0]["summary"]["whole"], 2);
}

TEST_F(ReplayRunTest, AReportThatCannotBeWrittenIsRefusedBeforeAnythingIsAsked) {
  std::ofstream(at("report")) << "mine";
  EXPECT_EQ(replay({"--json", at("report")}), 2);
  EXPECT_EQ(replay({"--csv", at("nowhere/report")}), 2);
  EXPECT_TRUE(models.empty());
}

TEST_F(ReplayRunTest, AReplyThatWasCutIsCutAgainAfterAsManyPieces) {
  std::ofstream(at("trace"))
      << R"({"samovar_trace":1})" << '\n'
      << R"({"id":"a","messages":[{"role":"user","content":"x"}],"reply":{"cut":true,"tokens":3,)"
      << R"("message":{"role":"assistant","content":"r"}}})" << '\n';
  endless = true;
  pieces = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"r\"}}]}\n\n";
  EXPECT_EQ(replay({"--json", at("report")}), 0);
  EXPECT_GE(written, 3);
  std::ifstream in(at("report"));
  const auto report = nlohmann::json::parse(in);
  EXPECT_EQ(report["runs"][0]["turns"][0]["outcome"], "cut");
}

TEST_F(ReplayRunTest, ASignalWhileAReplyRunsEndsItWith130) {
  endless = true;
  EXPECT_EQ(replay(), 130);
  EXPECT_EQ(models.size(), 1U);
}

TEST_F(ReplayRunTest, ASignalWhileTheServerLoadsEndsItWith130) {
  loading = true;
  EXPECT_EQ(replay(), 130);
  EXPECT_TRUE(models.empty());
}

}  // namespace
}  // namespace samovar::app
