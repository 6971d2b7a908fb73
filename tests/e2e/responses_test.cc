// The Responses API over HTTP: a follow-up that names the response before it computes its new
// tokens only, also after a restart; a reply in the background outlives its client and its server.
#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

class ResponsesEndToEnd : public ::testing::Test {
 protected:
  [[nodiscard]] ServerProcess::Words options() const {
    return {"-c", "16384", "--store-dir", folder.path()};
  }
  static Json body(const std::string& input, int tokens) {
    return {{"input", input}, {"max_output_tokens", tokens}, {"temperature", 0}, {"seed", 1}};
  }
  static Reply create(int port, const Json& request) {
    return ask(port, post("/v1/responses", request.dump(), "Connection: close\r\n"));
  }
  static Json fetch(int port, const std::string& id) {
    return get(port, "/v1/responses/" + id).json;
  }
  static bool runs(const Json& response) {
    return response["status"] == "queued" || response["status"] == "in_progress";
  }

  TemporaryFolder folder;
};

TEST_F(ResponsesEndToEnd, AFollowUpComputesItsNewTokensOnlyAlsoAfterARestart) {
  std::string last;
  {
    ServerProcess server(options());
    const Reply first = create(server.port(), body(prose(1500, 1), 24));
    ASSERT_EQ(first.status, 200);
    EXPECT_GT(first.timing("computed_tokens"), 1500);
    EXPECT_EQ(first.json["usage"]["input_tokens_details"]["cached_tokens"], 0);
    last = first.json["id"];
    for (int turn = 0; turn < 2; ++turn) {
      Json request = body("And then?", 24);
      request["previous_response_id"] = last;
      const Reply next = create(server.port(), request);
      ASSERT_EQ(next.status, 200);
      EXPECT_GT(next.json["usage"]["input_tokens"], first.json["usage"]["input_tokens"]);
      EXPECT_LT(next.timing("computed_tokens"), 128);
      EXPECT_EQ(next.json["usage"]["input_tokens_details"]["cached_tokens"],
                next.timing("reused_tokens"));
      last = next.json["id"];
    }
    EXPECT_EQ(server.end(), 0);
  }
  const ServerProcess server(options());
  Json request = body("Go on.", 8);
  request["previous_response_id"] = last;
  const Reply next = create(server.port(), request);
  ASSERT_EQ(next.status, 200);
  EXPECT_LT(next.timing("computed_tokens"), 128);
  EXPECT_EQ(next.json["timings"]["source"], "store");
}

TEST_F(ResponsesEndToEnd, AReplyInTheBackgroundOutlivesItsClient) {
  const ServerProcess server(options());
  Json request = body("Tell a story.", 200);
  request["background"] = true;
  const Reply begun = create(server.port(), request);
  ASSERT_EQ(begun.status, 200);
  const std::string id = begun.json["id"];
  EXPECT_TRUE(runs(begun.json));
  Json response;
  ASSERT_TRUE(eventually([&] { return !runs(response = fetch(server.port(), id)); }));
  EXPECT_NE(response["status"], "failed") << response;
  EXPECT_GT(response["usage"]["output_tokens"], 0);
  RawClient client(server.port());
  client.send("GET /v1/responses/" + id +
              "?stream=true&starting_after=3 HTTP/1.1\r\nHost: localhost\r\n"
              "Connection: close\r\n\r\n");
  const std::string stream = client.receive_all(60);
  EXPECT_EQ(stream.find("\"sequence_number\":3,"), std::string::npos);
  EXPECT_NE(stream.find("\"sequence_number\":4,"), std::string::npos) << stream;
}

TEST_F(ResponsesEndToEnd, ShutdownCutsAReplyInTheBackgroundAndKeepsIt) {
  std::string id;
  {
    ServerProcess server([&] {
      auto words = options();
      words.insert(words.end(), {"--drain-seconds", "0"});
      return words;
    }());
    Json request = body("Tell a long story.", 15000);
    request["background"] = true;
    id = create(server.port(), request).json["id"];
    ASSERT_TRUE(eventually([&] {
      return get(server.port(), "/v1/samovar/turns/" + id).json["usage"]["completion_tokens"] > 8;
    }));
    EXPECT_EQ(server.end(), 0);
  }
  const ServerProcess server(options());
  const Json cut = fetch(server.port(), id);
  EXPECT_EQ(cut["status"], "failed") << cut;
  EXPECT_FALSE(cut["output"].empty());
  EXPECT_EQ(get(server.port(), "/v1/samovar/turns/" + id).json["status"], "incomplete");
}

TEST_F(ResponsesEndToEnd, ACancelledReplySaysSo) {
  const ServerProcess server(options());
  Json request = body("Tell a long story.", 15000);
  request["background"] = true;
  const std::string id = create(server.port(), request).json["id"];
  const Reply cancelled =
      ask(server.port(), post("/v1/responses/" + id + "/cancel", "", "Connection: close\r\n"));
  EXPECT_EQ(cancelled.status, 200);
  EXPECT_EQ(cancelled.json["status"], "cancelled");
  ASSERT_TRUE(eventually([&] {
    return get(server.port(), "/v1/samovar/turns/" + id).json["status"] == "incomplete";
  }));
  EXPECT_EQ(fetch(server.port(), id)["status"], "cancelled");
}

}  // namespace
}  // namespace samovar::testing
