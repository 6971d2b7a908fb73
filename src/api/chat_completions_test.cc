// Goal: a request goes down as the right turn, its reply comes back whole or streamed, and a client
// that leaves at any moment cancels its turn. Method: the doubles of api_doubles.h with a clock
// that the test moves; polling takes no time, so nothing sleeps.
#include "api/chat_completions.h"

#include <gtest/gtest.h>

#include "api/api_doubles.h"

namespace samovar {
namespace {

using test::Json;
using test::sse_data;

constexpr const char* kBody = R"({"messages":[{"role":"user","content":"hi"}]})";
constexpr const char* kStream = R"({"messages":[{"role":"user","content":"hi"}],"stream":true})";

class ChatCompletionsTest : public testing::Test {
 protected:
  HttpRequest request(const std::string& body) {
    HttpRequest made;
    made.method = "POST";
    made.path = "/v1/chat/completions";
    made.body = body;
    return made;
  }
  HttpResponse handle(const std::string& body) { return completions_.handle(request(body)); }
  static TurnText text(std::string bytes) { return {std::move(bytes), {}}; }
  static TurnFinished finished(FinishReason reason = FinishReason::end) {
    return {reason, test::sample_timings()};
  }

  FakeClock clock_;
  test::FakeChat chat_;
  test::FakeTurns turns_;
  test::FakeClient client_;
  TurnRunner runner_{chat_, turns_, nullptr, clock_, {}, {.poll = 0, .headers = 0}};
  ChatCompletions completions_{runner_, "served"};
};

TEST_F(ChatCompletionsTest, TheRequestGoesDownAsATurn) {
  clock_.advance(10 * kSecond);
  chat_.on_render = [&] { clock_.advance(30 * kMillisecond); };
  turns_.script = {finished()};
  HttpRequest made = request(R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":9,
                                 "stop":["s"],"temperature":0,"prompt_cache_key":"key"})");
  made.arrived = 7;
  EXPECT_EQ(completions_.handle(made).status, 200);
  EXPECT_EQ(chat_.last.messages[0].content, "hi");
  EXPECT_EQ(turns_.last.prompt.tokens, (Tokens{1, 2, 3}));
  EXPECT_EQ(turns_.last.max_tokens, 9);
  EXPECT_EQ(turns_.last.stop, (std::vector<std::string>{"s", "<end>"}));
  EXPECT_EQ(turns_.last.sampling.temperature, 0);
  EXPECT_EQ(turns_.last.sampling.grammar.gbnf, "root ::= \"x\"");
  EXPECT_EQ(turns_.last.sampling.generation_prompt, "<think>");
  EXPECT_EQ(turns_.last.session_key, "key");
  EXPECT_EQ(turns_.last.arrived, 7);
  EXPECT_EQ(turns_.last.render_time, 30 * kMillisecond);
}

TEST_F(ChatCompletionsTest, SessionHintsHaveAnOrder) {
  turns_.script = {finished()};
  HttpRequest made = request(R"({"messages":[{"role":"user","content":"hi"}],"user":"u"})");
  (void)completions_.handle(made);
  EXPECT_EQ(turns_.last.session_key, "u");
  made.headers = {{"X-Session-ID", "header"}};
  (void)completions_.handle(made);
  EXPECT_EQ(turns_.last.session_key, "header");
}

TEST_F(ChatCompletionsTest, AWholeReply) {
  turns_.script = {TurnStarted{3, 0, ""}, text("R:why|C:Hel|"), text("C:lo|"), finished()};
  const HttpResponse response = handle(kBody);
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(response.stream);
  Json json = Json::parse(response.body);
  EXPECT_TRUE(json["id"].get<std::string>().starts_with("chatcmpl-"));
  json["id"] = "ID";
  const Json timings = json["timings"];
  json.erase("timings");
  EXPECT_EQ(json.dump(),
            R"({"id":"ID","object":"chat.completion","created":1700000000,"model":"served",)"
            R"("system_fingerprint":"samovar","choices":[{"index":0,"message":{"role":"assistant",)"
            R"("content":"Hello","reasoning_content":"why"},"logprobs":null,)"
            R"("finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":41,)"
            R"("total_tokens":1041,"prompt_tokens_details":{"cached_tokens":900}}})");
  EXPECT_EQ(timings["decode_per_second"], 20.0);
}

// A stop string may cut a call in its arguments: a client must not take it for one it can execute.
TEST_F(ChatCompletionsTest, ACallCutByAStopStringIsNoFinishedCall) {
  turns_.script = {text("B:0,id0,f|A:0,{\"a\"|"), finished(FinishReason::stop)};
  const Json choice = Json::parse(handle(kBody).body)["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_EQ(choice["message"]["tool_calls"].size(), 1U);
}

TEST_F(ChatCompletionsTest, AWholeReplyWithToolCalls) {
  turns_.script = {text("B:0,id0,f|A:0,{\"a\"|B:1,,g|"), text("A:0,:1}|A:1,{}|"), finished()};
  const Json choice = Json::parse(handle(kBody).body)["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_TRUE(choice["message"]["content"].is_null());
  const Json calls = choice["message"]["tool_calls"];
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].dump(),
            R"({"id":"id0","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}})");
  EXPECT_TRUE(calls[1]["id"].get<std::string>().starts_with("call_"));
}

TEST_F(ChatCompletionsTest, AWholeReplyWithLogprobs) {
  turns_.script = {TurnText{"C:a|", {Sampled{4, -0.25F, {{4, -0.25F}}}}},
                   TurnText{"C:b|", {Sampled{5, -2.0F, {}}}}, finished()};
  const Json json = Json::parse(
      handle(R"({"messages":[{"role":"user","content":"hi"}],"logprobs":true,"top_logprobs":1})")
          .body);
  EXPECT_EQ(turns_.last.sampling.top_logprobs, 1);
  EXPECT_EQ(json["choices"][0]["logprobs"].dump(),
            R"({"content":[{"token":"t4","logprob":-0.25,"bytes":[116,52],"top_logprobs":)"
            R"([{"token":"t4","logprob":-0.25,"bytes":[116,52]}]},)"
            R"({"token":"t5","logprob":-2.0,"bytes":[116,53],"top_logprobs":[]}],"refusal":null})");
}

TEST_F(ChatCompletionsTest, ErrorsBeforeTheTurnAreResponsesAlsoWhenStreaming) {
  EXPECT_EQ(handle("{").status, 400);
  EXPECT_EQ(handle(R"({"messages":[],"stream":true})").status, 400);
  EXPECT_EQ(turns_.submitted, 0);
  chat_.error = Error{ErrorKind::invalid_argument, "the template refuses", "messages"};
  const HttpResponse refused = handle(kStream);
  EXPECT_EQ(refused.status, 400);
  EXPECT_FALSE(refused.stream);
  EXPECT_EQ(Json::parse(refused.body)["error"]["param"], "messages");
  EXPECT_EQ(turns_.submitted, 0);
}

TEST_F(ChatCompletionsTest, RefusedSubmissionsKeepTheirMeaning) {
  turns_.error = Error{ErrorKind::overloaded, "queue full"};
  turns_.load_now = 12;
  const HttpResponse busy = handle(kStream);
  EXPECT_EQ(busy.status, 429);
  ASSERT_NE(find_header(busy.headers, "retry-after"), nullptr);
  EXPECT_EQ(*find_header(busy.headers, "retry-after"), "12");

  turns_.error = Error{ErrorKind::too_large, "the prompt has 9 tokens, the context 8"};
  const HttpResponse large = handle(kBody);
  EXPECT_EQ(large.status, 400);
  EXPECT_EQ(Json::parse(large.body)["error"]["code"], "context_length_exceeded");

  turns_.error = Error{ErrorKind::unavailable, "shutting down"};
  EXPECT_EQ(handle(kBody).status, 503);
}

TEST_F(ChatCompletionsTest, AFailedTurnIsAnErrorResponse) {
  turns_.script = {text("C:partial|"), TurnFailed{{ErrorKind::internal, "engine broke"}, {}}};
  const HttpResponse response = handle(kBody);
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(Json::parse(response.body)["error"]["message"], "engine broke");
}

TEST_F(ChatCompletionsTest, AWaitingClientThatLeavesCancelsItsTurn) {
  // In the queue (nothing has happened), during prefill, during decode.
  const std::vector<std::vector<TurnEvent>> moments = {
      {}, {TurnStarted{3, 0, ""}, TurnProgress{1, 3}}, {TurnStarted{3, 0, ""}, text("C:x|")}};
  for (const auto& moment : moments) {
    turns_.script = moment;
    HttpRequest made = request(kBody);
    int polls = 0;
    made.client_gone = [&] { return ++polls > 5; };
    EXPECT_EQ(completions_.handle(made).status, 499);
    EXPECT_TRUE(turns_.stream->cancelled());
  }
}

TEST_F(ChatCompletionsTest, ACompletedTurnIsNotCancelled) {
  turns_.script = {finished()};
  (void)handle(kBody);
  EXPECT_FALSE(turns_.stream->cancelled());
  handle(kStream).stream(client_);
  EXPECT_FALSE(turns_.stream->cancelled());
}

TEST_F(ChatCompletionsTest, AStreamedReply) {
  turns_.script = {TurnStarted{3, 0, ""}, text("C:Hello|"), finished()};
  const HttpResponse response = handle(kStream);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "text/event-stream");
  EXPECT_EQ(*find_header(response.headers, "cache-control"), "no-cache");
  ASSERT_TRUE(response.stream);
  response.stream(client_);
  const auto data = sse_data(client_.received);
  ASSERT_EQ(data.size(), 4U);
  EXPECT_EQ(Json::parse(data[1])["choices"][0]["delta"]["content"], "Hello");
  EXPECT_EQ(Json::parse(data[1])["model"], "served");
  EXPECT_EQ(data[3], "[DONE]");
}

TEST_F(ChatCompletionsTest, SilenceIsFilledWithKeepalives) {
  const HttpResponse response = handle(kStream);
  // Queue until 2.5 s, prefill with progress until 5 s, then the reply.
  client_.on_poll = [&](int poll) {
    clock_.advance(50 * kMillisecond);
    if (poll == 50) turns_.stream->on_event(TurnStarted{100, 0, ""});
    if (poll > 50 && poll < 100) turns_.stream->on_event(TurnProgress{poll, 100});
    if (poll == 100) turns_.stream->on_event(text("C:x|"));
    if (poll == 101) turns_.stream->on_event(finished());
  };
  response.stream(client_);
  ASSERT_EQ(client_.writes.size(), 7U) << client_.received;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client_.writes[i], ": keepalive\n\n");
  EXPECT_NE(client_.writes[5].find("\"role\":\"assistant\""), std::string::npos);
}

TEST_F(ChatCompletionsTest, TheLongestSilenceIsOneSecond) {
  const HttpResponse response = handle(kStream);
  Micros last = clock_.now();
  Micros longest = 0;
  std::size_t seen = 0;
  client_.on_poll = [&](int poll) {
    clock_.advance(50 * kMillisecond);  // what one poll may take
    if (client_.writes.size() > seen) {
      longest = std::max(longest, clock_.now() - 50 * kMillisecond - last);
      last = clock_.now() - 50 * kMillisecond;
      seen = client_.writes.size();
    }
    if (poll == 200) turns_.stream->on_event(finished());
  };
  response.stream(client_);
  EXPECT_GE(seen, 10U);
  EXPECT_LE(longest, limits::keepalive_us);
}

TEST_F(ChatCompletionsTest, AStreamingClientThatLeavesCancelsItsTurn) {
  const std::vector<std::vector<TurnEvent>> moments = {
      {}, {TurnStarted{3, 0, ""}, TurnProgress{1, 3}}, {TurnStarted{3, 0, ""}, text("C:x|")}};
  for (const auto& moment : moments) {
    turns_.script = moment;
    test::FakeClient client;
    client.on_poll = [&](int poll) { client.gone = poll > 5; };
    handle(kStream).stream(client);
    EXPECT_TRUE(turns_.stream->cancelled());
  }
}

TEST_F(ChatCompletionsTest, AFailedWriteCancelsTheTurn) {
  turns_.script = {text("C:x|")};
  client_.accept_writes = 1;
  handle(kStream).stream(client_);
  EXPECT_EQ(client_.writes.size(), 1U);
  EXPECT_TRUE(turns_.stream->cancelled());
}

TEST_F(ChatCompletionsTest, AKeepaliveThatFailsCancelsTheTurn) {
  client_.accept_writes = 1;
  client_.on_poll = [&](int) { clock_.advance(kSecond); };
  handle(kStream).stream(client_);
  EXPECT_EQ(client_.received, ": keepalive\n\n");
  EXPECT_TRUE(turns_.stream->cancelled());
}

TEST_F(ChatCompletionsTest, AStreamThatIsNeverRunCancelsItsTurn) {
  {
    const HttpResponse response = handle(kStream);
  }
  EXPECT_TRUE(turns_.stream->cancelled());
}

TEST_F(ChatCompletionsTest, AnErrorAfterTheHeadersIsAnEvent) {
  turns_.script = {text("C:x|"), TurnFailed{{ErrorKind::unavailable, "shutting down"}, {}}};
  const HttpResponse response = handle(kStream);
  EXPECT_EQ(response.status, 200);
  response.stream(client_);
  const auto data = sse_data(client_.received);
  ASSERT_EQ(data.size(), 3U);
  EXPECT_EQ(Json::parse(data[2])["error"]["code"], "unavailable");
  EXPECT_EQ(client_.received.find("[DONE]"), std::string::npos);
}

TEST_F(ChatCompletionsTest, AParserThatThrowsEndsTheStreamWithAnErrorAndCancels) {
  turns_.script = {text("X:|")};
  handle(kStream).stream(client_);
  const auto data = sse_data(client_.received);
  ASSERT_EQ(data.size(), 1U);
  EXPECT_EQ(Json::parse(data[0])["error"]["type"], "server_error");
  EXPECT_TRUE(turns_.stream->cancelled());
}

}  // namespace
}  // namespace samovar
