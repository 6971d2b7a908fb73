// Goal: each path and method reaches its handler, and everything else gets an answer that helps.
// Method: a table of requests with the status and words expected.
#include "api/router.h"

#include <gtest/gtest.h>

#include "api/api_doubles.h"
#include "api/errors.h"
#include "tests/support/manual_executor.h"

namespace samovar {
namespace {

using test::Json;

class RouterTest : public testing::Test {
 protected:
  HttpResponse get(const std::string& method, const std::string& path,
                   const std::string& body = "") {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    return router_.handle(request);
  }

  FakeClock clock_;
  test::FakeChat chat_;
  test::FakeTurns turns_;
  bool ready_ = true;
  TurnRunner runner_{chat_, turns_, nullptr, clock_, {}, {.poll = 0, .headers = 0}};
  ChatCompletions completions_{runner_, "qwen"};
  Models models_{{.id = "org/qwen",
                  .architecture = "qwen35moe",
                  .parameters = 35'000'000'000,
                  .vocab_size = 1000,
                  .context = 65536,
                  .trained_context = 262144,
                  .created = 1700000000,
                  .chat_template = "{{ messages }}",
                  .sequences = 4}};
  MessagesApi messages_{runner_, "qwen"};
  TextApi text_{runner_, "qwen"};
  ManualExecutor executor_;
  BackgroundReplies background_{executor_};
  ResponsesApi responses_{runner_, background_, "qwen"};
  Router router_{{completions_, messages_, responses_, text_, nullptr, models_,
                  [this] { return ready_; }, nullptr,
                  [] { return std::string("# the metrics\n"); }}};
};

TEST_F(RouterTest, MetricsArePlainTextOfTheVersionThatScrapersExpect) {
  HttpRequest request;
  request.method = "GET";
  request.path = "/metrics";
  const HttpResponse response = router_.handle(request);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(response.body, "# the metrics\n");
  request.method = "POST";
  EXPECT_EQ(router_.handle(request).status, 405);
}

TEST_F(RouterTest, PathsAndMethods) {
  struct Row {
    const char* method;
    const char* path;
    int status;
    const char* words;
  };
  const std::vector<Row> table = {
      {"GET", "/health", 200, "ok"},
      {"HEAD", "/health", 200, ""},
      {"POST", "/health", 405, "use GET"},
      {"GET", "/ready", 200, "ready"},
      {"GET", "/v1/models", 200, "qwen35moe"},
      {"GET", "/models", 200, "qwen35moe"},
      {"DELETE", "/v1/models", 405, "use GET"},
      {"GET", "/v1/models/org/qwen", 200, "qwen35moe"},
      {"GET", "/v1/models/other", 404, "this server has 'org/qwen'"},
      {"GET", "/v1/chat/completions", 405, "use POST"},
      {"POST", "/v1/chat/completions", 400, "not valid JSON"},
      {"POST", "/chat/completions", 400, "not valid JSON"},
      {"POST", "/v1/messages", 400, "not valid JSON"},
      {"GET", "/v1/messages", 405, "use POST"},
      {"POST", "/v1/messages/count_tokens", 400, "\"type\":\"error\""},
      {"POST", "/v1/messages/batches", 404, "\"type\":\"error\""},
      {"POST", "/v1/completions", 400, "not valid JSON"},
      {"POST", "/tokenize", 400, "not valid JSON"},
      {"GET", "/detokenize", 405, "use POST"},
      {"POST", "/apply-template", 400, "not valid JSON"},
      {"POST", "/v1/embeddings", 404, "embeddings are not made here"},
      {"GET", "/props", 404, "/v1/models"},
      {"POST", "/v1/responses", 400, "not valid JSON"},
      {"GET", "/v1/responses", 405, "use POST"},
      {"GET", "/v1/responses/resp_x", 404, "there is no stored response"},
      {"POST", "/v1/responses/resp_x", 405, "use GET, HEAD, DELETE"},
      {"DELETE", "/v1/responses/resp_x", 404, "there is no stored response"},
      {"POST", "/v1/responses/resp_x/cancel", 404, "there is no stored response"},
      {"GET", "/v1/responses/resp_x/cancel", 405, "use POST"},
      {"GET", "/v1/responses/resp_x/input_items", 404, "there is no stored response"},
      {"GET", "/v1/responses/resp_x/other", 404, "/cancel and /input_items"},
      {"GET", "/v1/responsesx", 404, "there is no"},
      {"GET", "/v1/nothing", 404, "/v1/chat/completions"},
      {"POST", "/", 405, "use GET"},
      {"GET", "/index.html", 404, "/v1/chat/completions"},
      {"GET", "/assets/none.js", 404, "there is no"},
      {"GET", "/../etc/passwd", 404, "there is no"},
  };
  for (const Row& row : table) {
    const HttpResponse response = get(row.method, row.path);
    EXPECT_EQ(response.status, row.status) << row.method << " " << row.path;
    EXPECT_NE(response.body.find(row.words), std::string::npos) << row.path << response.body;
    EXPECT_TRUE(Json::accept(response.body)) << response.body;
  }
}

TEST_F(RouterTest, TheRootIsThePage) {
  const HttpResponse response = get("GET", "/");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "text/html; charset=utf-8");
  EXPECT_TRUE(response.body.starts_with("<!doctype html>"));
}

TEST_F(RouterTest, AWrongMethodSaysWhichIsAllowed) {
  const HttpResponse response = get("GET", "/v1/chat/completions");
  ASSERT_NE(find_header(response.headers, "allow"), nullptr);
  EXPECT_EQ(*find_header(response.headers, "allow"), "POST");
}

TEST_F(RouterTest, NotReadyIs503WithRetryAfter) {
  ready_ = false;
  const HttpResponse response = get("GET", "/ready");
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(find_header(response.headers, "retry-after"), nullptr);
  EXPECT_EQ(get("GET", "/health").status, 200) << "alive all the same";
}

TEST_F(RouterTest, ModelsInFull) {
  EXPECT_EQ(get("GET", "/v1/models").body,
            R"({"object":"list","data":[{"id":"org/qwen","object":"model","created":1700000000,)"
            R"("owned_by":"samovar","type":"model","display_name":"org/qwen",)"
            R"("created_at":"2023-11-14T22:13:20Z","meta":{"architecture":"qwen35moe",)"
            R"("parameters":35000000000,"n_ctx":65536,"n_ctx_train":262144,"vocab":1000}}],)"
            R"("has_more":false,"first_id":"org/qwen","last_id":"org/qwen"})");
  const Json one = Json::parse(get("GET", "/v1/models/org/qwen").body);
  EXPECT_EQ(one["chat_template"], "{{ messages }}");
  EXPECT_EQ(one["sequences"], 4);
  EXPECT_EQ(one["default_sampling"]["temperature"], 0.8);
  EXPECT_EQ(one["modalities"]["input"], Json::array({"text"}));
}

TEST_F(RouterTest, AHandlerThatThrowsIsAnInternalError) {
  chat_.on_render = [] { throw std::runtime_error("boom"); };
  const HttpResponse response =
      get("POST", "/v1/chat/completions", R"({"messages":[{"role":"user","content":"x"}]})");
  EXPECT_EQ(response.status, 500);
  EXPECT_NE(response.body.find("boom"), std::string::npos);
}

TEST(Errors, EveryKindHasItsStatusAndForm) {
  const std::vector<std::pair<ErrorKind, int>> table = {
      {ErrorKind::invalid_argument, 400},   {ErrorKind::unauthorized, 401},
      {ErrorKind::forbidden, 403},          {ErrorKind::not_found, 404},
      {ErrorKind::method_not_allowed, 405}, {ErrorKind::too_large, 413},
      {ErrorKind::overloaded, 429},         {ErrorKind::unavailable, 503},
      {ErrorKind::cancelled, 499},          {ErrorKind::internal, 500},
  };
  for (const auto& [kind, status] : table) {
    const HttpResponse response = error_response({kind, "m\"sg \xFF", "messages[2].role", "do x"});
    EXPECT_EQ(response.status, status);
    const Json error = Json::parse(response.body)["error"];
    EXPECT_EQ(error["message"], "m\"sg \xEF\xBF\xBD: do x");
    EXPECT_EQ(error["param"], "messages[2].role");
    EXPECT_TRUE(error["type"].is_string());
    EXPECT_TRUE(error["code"].is_string());
  }
  EXPECT_EQ(
      *find_header(error_response({ErrorKind::unauthorized, "x"}).headers, "www-authenticate"),
      "Bearer");
  EXPECT_EQ(
      error_json({ErrorKind::internal, "x"}),
      R"({"error":{"message":"x","type":"server_error","param":null,"code":"internal_error"}})");
}

TEST(HttpTypes, HeadersAreFoundInAnySpelling) {
  const Headers headers = {{"Content-Type", "a"}, {"X-Thing", "b"}, {"x-thing", "c"}};
  ASSERT_NE(find_header(headers, "x-THING"), nullptr);
  EXPECT_EQ(*find_header(headers, "x-THING"), "b");
  EXPECT_EQ(find_header(headers, "x-thin"), nullptr);
}

}  // namespace
}  // namespace samovar
