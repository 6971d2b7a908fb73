// The server as an operator and a client library meet it: refusals, limits, keys, and how it ends.
#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"

namespace samovar::testing {
namespace {

Json endless() {
  Json body = request({message("user", "go on")}, 100'000);
  body["ignore_eos"] = true;
  return body;
}

void expect_error(const Reply& reply, int status, const std::string& param) {
  EXPECT_EQ(reply.status, status) << reply.json;
  ASSERT_TRUE(reply.json.contains("error")) << reply.head;
  const Json& error = reply.json["error"];
  EXPECT_FALSE(error.value("message", "").empty()) << reply.json;
  EXPECT_FALSE(error.value("type", "").empty()) << reply.json;
  if (param.empty()) return;
  EXPECT_EQ(error["param"], param) << reply.json;
}

// Goal: every refusal is in OpenAI's form and names its field.
TEST(Service, RefusalsNameTheField) {
  const ServerProcess server({"-c", "2048"});
  const int port = server.port();
  const auto raw = [port](const std::string& body) {
    return ask(port, post("/v1/chat/completions", body, "Connection: close\r\n"));
  };
  expect_error(raw("{not json"), 400, "");
  expect_error(raw("{}"), 400, "messages");
  expect_error(raw(R"({"messages":[{"role":"user","content":"x"}],"temperature":-1})"), 400,
               "temperature");
  expect_error(raw(R"({"messages":[{"role":"queen","content":"x"}]})"), 400, "messages[0].role");
  expect_error(get(port, "/v1/nothing"), 404, "");
  expect_error(ask(port,
                   "PUT /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                   "Content-Length: 0\r\nConnection: close\r\n\r\n"),
               405, "");
  expect_error(get(port, "/v1/models", "Host: evil.example\r\n"), 403, "Host");
  EXPECT_EQ(get(port, "/health").status, 200);
  EXPECT_EQ(get(port, "/ready").status, 200);
  EXPECT_EQ(get(port, "/v1/models").json["data"][0]["id"], "tiny-qwen35moe");
}

// Goal: a prompt that can never fit is refused at once, with both numbers.
TEST(Service, PromptThatCannotFitIsRefusedWithBothNumbers) {
  const ServerProcess server({"-c", "1024"});
  const Reply reply = chat(server.port(), request({message("user", prose(3'000, 1))}, 4));
  expect_error(reply, 400, "messages");
  EXPECT_EQ(reply.json["error"]["code"], "context_length_exceeded");
  const std::string text = reply.json["error"]["message"];
  EXPECT_NE(text.find("1024"), std::string::npos) << text;
}

// Goal: one turn runs, one waits, the third is told when to come back; then the place is free
// again.
TEST(Service, FullQueueAnswers429WithRetryAfter) {
  const ServerProcess server({"-c", "8192", "-np", "1", "--queue", "1"});
  ChatStreamClient running(server.port(), endless());
  ASSERT_TRUE(running.next_json().has_value());
  ChatStreamClient waiting(server.port(), endless());
  ASSERT_EQ(waiting.status(), 200);
  const Reply refused = chat(server.port(), endless());
  expect_error(refused, 429, "");
  EXPECT_NE(refused.head.find("Retry-After: "), std::string::npos) << refused.head;
  running.raw().close();
  waiting.raw().close();
  EXPECT_TRUE(eventually(
      [&] { return chat(server.port(), request({message("user", "hi")}, 2)).status == 200; }));
}

TEST(Service, KeyIsAskedForExceptOfHealth) {
  const ServerProcess server({"-c", "1024", "--api-key", "sesame"});
  expect_error(get(server.port(), "/v1/models"), 401, "");
  EXPECT_EQ(get(server.port(), "/v1/models", "Host: localhost\r\nAuthorization: Bearer sesame\r\n")
                .status,
            200);
  EXPECT_EQ(get(server.port(), "/health").status, 200);
}

// Goal: after SIGTERM the running reply ends properly, new turns are refused, and the exit is
// clean.
TEST(Service, SigtermDrains) {
  ServerProcess server({"-c", "8192"});
  Json body = endless();
  body["max_tokens"] = 400;
  ChatStreamClient running(server.port(), body);
  ASSERT_TRUE(running.next_json().has_value());
  server.signal(SIGTERM);
  EXPECT_TRUE(eventually([&] { return get(server.port(), "/ready").status == 503; }));
  expect_error(chat(server.port(), request({message("user", "hi")}, 2)), 503, "");
  while (running.next_json()) {
  }
  EXPECT_TRUE(running.done());
  EXPECT_EQ(server.exit_code(), 0);
}

// Goal: a reply that outlasts the drain is cut with an error event, and the exit is still clean.
TEST(Service, DrainHasADeadline) {
  ServerProcess server({"-c", "8192", "--drain-seconds", "1"});
  ChatStreamClient running(server.port(), endless());
  ASSERT_TRUE(running.next_json().has_value());
  server.signal(SIGINT);
  bool error = false;
  while (auto event = running.next_json()) error = error || event->contains("error");
  EXPECT_TRUE(error);
  EXPECT_EQ(server.exit_code(), 0);
}

TEST(Service, SecondSignalEndsAtOnce) {
  ServerProcess server({"-c", "8192"});
  ChatStreamClient running(server.port(), endless());
  ASSERT_TRUE(running.next_json().has_value());
  server.signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return get(server.port(), "/ready").status == 503; }));
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(), 128 + SIGTERM);
}

}  // namespace
}  // namespace samovar::testing
