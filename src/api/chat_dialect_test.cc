// Goal: a streamed reply has exactly the bytes the dialect promises, in order. Method: events go
// into a ReplyMachine one by one; the transcript is compared with a golden text, or read back as
// JSON.
#include "api/chat_dialect.h"

#include <gtest/gtest.h>

#include "api/api_doubles.h"
#include "api/reply_machine.h"

namespace samovar {
namespace {

using test::Json;
using test::sse_data;

class ChatDialectTest : public testing::Test {
 protected:
  ReplyMachine make(ChatStreamOptions options = {}) {
    auto dialect = std::make_unique<ChatDialect>(ReplyIdentity{"chatcmpl-1", 1700000000, "m\"x"},
                                                 options, chat_);
    return {ReplyMachine::Form::stream, std::move(dialect), std::make_unique<test::RecordReader>(),
            clock_};
  }
  static TurnText text(std::string bytes) { return {std::move(bytes), {}}; }
  static TurnFinished finished(FinishReason reason = FinishReason::end) {
    return {reason, test::sample_timings()};
  }
  // The whole transcript of these events.
  std::string run(ChatStreamOptions options, const std::vector<TurnEvent>& events) {
    ReplyMachine stream = make(options);
    std::string out;
    for (const TurnEvent& event : events) out += stream.on_event(event);
    EXPECT_TRUE(stream.done());
    return out;
  }

  test::FakeChat chat_;
  FakeClock clock_;
};

constexpr const char* kHead =
    R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,)"
    R"("model":"m\"x","system_fingerprint":"samovar","choices":[)";

constexpr const char* kTimings =
    R"("timings":{"render_ms":1.5,"queue_ms":0.25,"plan_ms":0.02,"restore_ms":3.0,)"
    R"("restore_bytes":0,"restore_read_ms":0.0,"restore_verify_ms":0.0,"restore_set_ms":0.0,)"
    R"("prefill_tokens":100,"prefill_ms":500.0,"prefill_per_second":200.0,"first_token_ms":510.0,)"
    R"("decode_tokens":41,"decode_ms":2000.0,"decode_per_second":20.0,"prompt_tokens":1000,)"
    R"("reused_tokens":900,"computed_tokens":100,"rewarmed_tokens":0,"matched_tokens":920,)"
    R"("source":"anchor"})";

std::string chunk(const std::string& delta, const std::string& finish, const std::string& rest) {
  return kHead + (R"({"index":0,"delta":)" + delta + R"(,"logprobs":null,"finish_reason":)") +
         finish + "}]" + rest + "}\n\n";
}

TEST_F(ChatDialectTest, GoldenTranscript) {
  EXPECT_EQ(run({}, {TurnStarted{10, 4, "plan"}, TurnProgress{8, 10}, text("R:think|"),
                     text("C:Hel|"), text("C:lo\n\"|"), finished()}),
            chunk(R"({"role":"assistant","content":""})", "null", "") +
                chunk(R"({"reasoning_content":"think"})", "null", "") +
                chunk(R"({"content":"Hel"})", "null", "") +
                chunk(R"({"content":"lo\n\""})", "null", "") +
                chunk("{}", "\"stop\"", std::string(",") + kTimings) + "data: [DONE]\n\n");
}

TEST_F(ChatDialectTest, GoldenTranscriptWithUsage) {
  const std::string null_usage = R"(,"usage":null)";
  EXPECT_EQ(
      run({.extras = {.include_usage = true}}, {text("C:x|"), finished(FinishReason::length)}),
      chunk(R"({"role":"assistant","content":""})", "null", null_usage) +
          chunk(R"({"content":"x"})", "null", null_usage) +
          chunk("{}", "\"length\"", null_usage + "," + kTimings) + kHead +
          R"(],"usage":{"prompt_tokens":1000,"completion_tokens":41,"total_tokens":1041,)"
          R"("prompt_tokens_details":{"cached_tokens":900}}})" +
          "\n\ndata: [DONE]\n\n");
}

TEST_F(ChatDialectTest, GoldenToolCalls) {
  EXPECT_EQ(
      run({}, {text("B:0,call_a,read|A:0,{\"p|A:0,\":1}|"), text("B:1,call_b,list|"), finished()}),
      chunk(R"({"role":"assistant","content":""})", "null", "") +
          chunk(R"({"tool_calls":[{"index":0,"id":"call_a","type":"function",)"
                R"("function":{"name":"read","arguments":""}}]})",
                "null", "") +
          chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"p"}}]})", "null", "") +
          chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"\":1}"}}]})", "null", "") +
          chunk(R"({"tool_calls":[{"index":1,"id":"call_b","type":"function",)"
                R"("function":{"name":"list","arguments":""}}]})",
                "null", "") +
          chunk("{}", "\"tool_calls\"", std::string(",") + kTimings) + "data: [DONE]\n\n");
}

TEST_F(ChatDialectTest, EveryChunkIsWhatNlohmannWouldWrite) {
  const std::string out =
      run({.extras = {.include_usage = true, .return_progress = true}},
          {TurnStarted{10, 4, ""}, TurnProgress{8, 10}, text("R:a\x01|C:\xF0\x9F\x98\x80|B:0,i,n|"),
           text("A:0,{}|"), finished(FinishReason::stop)});
  for (const std::string& data : sse_data(out)) {
    if (data == "[DONE]") continue;
    EXPECT_EQ(data, Json::parse(data).dump());
  }
}

TEST_F(ChatDialectTest, NothingIsSentBeforeTheFirstText) {
  ReplyMachine stream = make();
  EXPECT_EQ(stream.on_event(TurnStarted{10, 0, ""}), "");
  EXPECT_EQ(stream.on_event(TurnProgress{5, 10}), "");
  EXPECT_EQ(stream.on_event(text("H:held|")), "");
  EXPECT_NE(stream.on_event(text("C:x|")), "");
}

TEST_F(ChatDialectTest, AnEmptyReplyStillHasRoleFinishAndDone) {
  const auto data = sse_data(run({}, {finished()}));
  ASSERT_EQ(data.size(), 3U);
  EXPECT_EQ(Json::parse(data[0])["choices"][0]["delta"]["role"], "assistant");
  EXPECT_EQ(Json::parse(data[1])["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(data[2], "[DONE]");
}

TEST_F(ChatDialectTest, HeldBackTextComesBeforeTheFinish) {
  const auto data = sse_data(run({}, {text("H:late|tail"), finished(FinishReason::length)}));
  ASSERT_EQ(data.size(), 4U);
  EXPECT_EQ(Json::parse(data[1])["choices"][0]["delta"]["content"], "latetail");
}

// A dialect that cannot write the end of a reply says so, instead of ending without a word.
TEST_F(ChatDialectTest, AnEndThatCannotBeWrittenIsAnError) {
  class Broken final : public ReplyDialect {
   public:
    void block_begins(const ReplyBlock&, std::string&) override {}
    void block_grows(const ReplyBlock&, std::string_view, std::span<const Sampled>,
                     std::string&) override {}
    void ended(const ReplyDone&, std::string&) override { throw std::runtime_error("boom"); }
    void failed(const Error& error, std::string& out) override { out += error.message; }
    [[nodiscard]] HttpResponse whole(const ReplyDone&) override {
      throw std::runtime_error("boom");
    }
  };
  for (const auto form : {ReplyMachine::Form::stream, ReplyMachine::Form::whole}) {
    ReplyMachine reply(form, std::make_unique<Broken>(), std::make_unique<test::RecordReader>(),
                       clock_);
    EXPECT_THROW((void)reply.on_event(finished()), std::runtime_error);
    EXPECT_FALSE(reply.done());
    const std::string out = reply.fail({ErrorKind::internal, "could not be formatted"});
    EXPECT_TRUE(reply.done());
    if (form == ReplyMachine::Form::stream) {
      EXPECT_EQ(out, "could not be formatted");
    } else {
      EXPECT_EQ(reply.take_response().status, 500);
    }
  }
}

TEST_F(ChatDialectTest, ACutToolCallEndsWithLength) {
  const auto data = sse_data(run({}, {text("B:0,i,n|"), finished(FinishReason::length)}));
  EXPECT_EQ(Json::parse(data[data.size() - 2])["choices"][0]["finish_reason"], "length");
}

TEST_F(ChatDialectTest, CallsWithoutIdsGetDifferentOnes) {
  const auto data = sse_data(run({}, {text("B:0,,n|A:0,{}|B:1,,n|"), finished()}));
  const std::string first = Json::parse(data[1])["choices"][0]["delta"]["tool_calls"][0]["id"];
  const std::string second = Json::parse(data[3])["choices"][0]["delta"]["tool_calls"][0]["id"];
  EXPECT_TRUE(first.starts_with("call_"));
  EXPECT_GT(first.size(), 20U);
  EXPECT_NE(first, second);
}

TEST_F(ChatDialectTest, ProgressIsSentOnlyIfAskedForAndAfterTheRole) {
  ReplyMachine stream = make({.extras = {.return_progress = true}});
  std::string out = stream.on_event(TurnStarted{100, 40, ""});
  clock_.advance(250 * kMillisecond);
  out += stream.on_event(TurnProgress{70, 100});
  const auto data = sse_data(out);
  ASSERT_EQ(data.size(), 3U);
  EXPECT_EQ(Json::parse(data[0])["choices"][0]["delta"]["role"], "assistant");
  EXPECT_EQ(Json::parse(data[1])["prompt_progress"].dump(),
            R"({"total":100,"cache":40,"processed":40,"time_ms":0.0})");
  EXPECT_EQ(Json::parse(data[2])["prompt_progress"].dump(),
            R"({"total":100,"cache":40,"processed":70,"time_ms":250.0})");
}

TEST_F(ChatDialectTest, LogprobsRideWithTheTextOfTheirTokens) {
  ReplyMachine stream = make({.logprobs = true});
  const Sampled first{5, -0.5F, {{5, -0.5F}, {99, -INFINITY}}};
  // The first token's text is held back; its log probability waits with it.
  EXPECT_EQ(stream.on_event(TurnText{"H:a|", {first}}), "");
  const auto data = sse_data(stream.on_event(TurnText{"C:b|", {Sampled{6, -1.0F, {}}}}));
  ASSERT_EQ(data.size(), 2U);
  EXPECT_TRUE(Json::parse(data[0])["choices"][0]["logprobs"].is_null()) << "not on the role";
  const Json content = Json::parse(data[1])["choices"][0]["logprobs"]["content"];
  ASSERT_EQ(content.size(), 2U);
  EXPECT_EQ(content[0]["token"], "t5");
  EXPECT_EQ(content[0]["logprob"], -0.5);
  EXPECT_EQ(content[0]["bytes"], Json({'t', '5'}));
  EXPECT_EQ(content[0]["top_logprobs"][1]["bytes"], Json({0xC3})) << "half a character, as bytes";
  EXPECT_EQ(content[0]["top_logprobs"][1]["token"], "\xEF\xBF\xBD");
  EXPECT_EQ(content[0]["top_logprobs"][1]["logprob"], -9999.0) << "JSON has no infinity";
  EXPECT_EQ(content[1]["top_logprobs"], Json::array());
}

TEST_F(ChatDialectTest, AFailedTurnDeliversItsTextThenTheErrorAndNoDone) {
  const auto data = sse_data(
      run({}, {text("H:last words|"), TurnFailed{{ErrorKind::internal, "engine broke"}, {}}}));
  ASSERT_EQ(data.size(), 3U);
  EXPECT_EQ(Json::parse(data[1])["choices"][0]["delta"]["content"], "last words");
  EXPECT_EQ(data[2], R"({"error":{"message":"engine broke","type":"server_error","param":null,)"
                     R"("code":"internal_error"}})");
}

TEST_F(ChatDialectTest, NothingFollowsTheEnd) {
  ReplyMachine stream = make();
  (void)stream.on_event(finished());
  EXPECT_EQ(stream.on_event(text("C:x|")), "");
  EXPECT_EQ(stream.fail({ErrorKind::internal, "x"}), "");
}

TEST(ReplyJson, UndefinedRatesAreNullNeverInfinite) {
  TurnTimings timings;
  EXPECT_TRUE(timings_json(timings)["prefill_per_second"].is_null());
  EXPECT_TRUE(timings_json(timings)["decode_per_second"].is_null());
  timings.computed_tokens = 10;  // no time measured
  timings.reply_tokens = 1;      // one token has no interval
  timings.decode = 5;
  EXPECT_TRUE(timings_json(timings)["prefill_per_second"].is_null());
  EXPECT_TRUE(timings_json(timings)["decode_per_second"].is_null());
}

TEST(ReplyJson, ReusedTokensDoNotRaiseThePrefillRate) {
  TurnTimings timings = test::sample_timings();
  const auto before = timings_json(timings)["prefill_per_second"];
  timings.prompt_tokens += 100'000;
  timings.reused_tokens += 100'000;
  EXPECT_EQ(timings_json(timings)["prefill_per_second"], before);
}

TEST(ReplyJson, IdsDiffer) {
  EXPECT_NE(random_id("chatcmpl-"), random_id("chatcmpl-"));
  EXPECT_EQ(random_id("chatcmpl-").size(), 33U);
}

}  // namespace
}  // namespace samovar
