// Goal: a streamed response has exactly the events that clients of OpenAI's API expect, in order
// and numbered, and the object at its end is the object that a whole response is. Method: events
// go into a ReplyMachine one by one; transcripts are compared with golden texts in full.
#include "api/responses_dialect.h"

#include <gtest/gtest.h>

#include "api/api_doubles.h"
#include "api/reply_machine.h"

namespace samovar {
namespace {

using test::Json;

constexpr const char* kTimings =
    R"("timings":{"render_ms":1.5,"queue_ms":0.25,"plan_ms":0.02,"restore_ms":3.0,)"
    R"("restore_bytes":0,"restore_read_ms":0.0,"restore_verify_ms":0.0,"restore_set_ms":0.0,)"
    R"("prefill_tokens":100,"prefill_ms":500.0,"prefill_per_second":200.0,"first_token_ms":510.0,)"
    R"("decode_tokens":41,"decode_ms":2000.0,"decode_per_second":20.0,"prompt_tokens":1000,)"
    R"("reused_tokens":900,"computed_tokens":100,"rewarmed_tokens":0,"matched_tokens":920,)"
    R"("source":"anchor"})";

constexpr const char* kUsage =
    R"({"input_tokens":1000,"input_tokens_details":{"cached_tokens":900},"output_tokens":41,)"
    R"("output_tokens_details":{"reasoning_tokens":0},"total_tokens":1041})";

// The object while nothing is known, and when all is.
std::string object(const std::string& status) {
  return R"({"id":"resp_1","object":"response","created_at":1700000000,"status":")" + status +
         R"(","completed_at":null,"error":null,"incomplete_details":null,"model":"m\"x",)"
         R"("output":[],"usage":null,"store":true})";
}
std::string object(const std::string& status, const std::string& output,
                   const std::string& details = "null") {
  return R"({"id":"resp_1","object":"response","created_at":1700000000,"status":")" + status +
         R"(","completed_at":1700000000,"error":null,"incomplete_details":)" + details +
         R"(,"model":"m\"x","output":[)" + output + R"(],"usage":)" + kUsage + R"(,"store":true,)" +
         kTimings + "}";
}

// "type members" each, numbered as they come.
std::string transcript(const std::vector<std::pair<std::string, std::string>>& events) {
  std::string out;
  for (std::size_t i = 0; i < events.size(); ++i) {
    out += "event: response." + events[i].first + "\ndata: {\"type\":\"response." +
           events[i].first + "\",\"sequence_number\":" + std::to_string(i) + "," +
           events[i].second + "}\n\n";
  }
  return out;
}

std::string response(const std::string& object) { return "\"response\":" + object; }

class ResponsesDialectTest : public testing::Test {
 protected:
  ReplyMachine make(ResponsesOptions options, ReplyMachine::Form form) {
    auto dialect = std::make_unique<ResponsesDialect>(
        ResponseHead{"resp_1", 1700000000, "m\"x", R"("store":true)"}, options, chat_, clock_);
    return {form, std::move(dialect), std::make_unique<test::RecordReader>(), clock_};
  }
  static TurnText text(std::string bytes) { return {std::move(bytes), {}}; }
  static TurnFinished finished(FinishReason reason = FinishReason::end) {
    return {reason, test::sample_timings()};
  }
  std::string run(ResponsesOptions options, const std::vector<TurnEvent>& events) {
    ReplyMachine stream = make(options, ReplyMachine::Form::stream);
    std::string out = stream.open();
    for (const TurnEvent& event : events) out += stream.on_event(event);
    EXPECT_TRUE(stream.done());
    return out;
  }
  HttpResponse whole(ResponsesOptions options, const std::vector<TurnEvent>& events) {
    ReplyMachine machine = make(options, ReplyMachine::Form::whole);
    std::string out = machine.open();
    for (const TurnEvent& event : events) out += machine.on_event(event);
    EXPECT_EQ(out, "");
    return machine.take_response();
  }

  test::FakeChat chat_;
  FakeClock clock_;
};

const std::vector<std::pair<std::string, std::string>> kBegin = {
    {"created", response(object("in_progress"))}, {"in_progress", response(object("in_progress"))}};

std::string with_begin(std::vector<std::pair<std::string, std::string>> events) {
  events.insert(events.begin(), kBegin.begin(), kBegin.end());
  return transcript(events);
}

TEST_F(ResponsesDialectTest, GoldenReasoningAndText) {
  const std::string reasoning =
      R"({"id":"rs_1_0","type":"reasoning","summary":[],)"
      R"("content":[{"type":"reasoning_text","text":"think"}],"status":"completed"})";
  const std::string part =
      R"({"type":"output_text","annotations":[],"logprobs":[],"text":"Hello\n"})";
  const std::string said = R"({"id":"msg_1_1","type":"message","status":"completed","content":[)" +
                           part + R"(],"role":"assistant"})";
  const std::string in_0 = R"("item_id":"rs_1_0","output_index":0,"content_index":0,)";
  const std::string in_1 = R"("item_id":"msg_1_1","output_index":1,"content_index":0,)";
  EXPECT_EQ(
      run({}, {TurnStarted{10, 4, "plan"}, TurnProgress{8, 10}, text("R:think|"), text("C:Hel|"),
               text("C:lo\n|"), finished()}),
      with_begin(
          {{"output_item.added",
            R"("output_index":0,"item":{"id":"rs_1_0","type":"reasoning","summary":[],)"
            R"("content":[],"status":"in_progress"})"},
           {"content_part.added", in_0 + R"("part":{"type":"reasoning_text","text":""})"},
           {"reasoning_text.delta", in_0 + R"("delta":"think")"},
           {"reasoning_text.done", in_0 + R"("text":"think")"},
           {"content_part.done", in_0 + R"("part":{"type":"reasoning_text","text":"think"})"},
           {"output_item.done", R"("output_index":0,"item":)" + reasoning},
           {"output_item.added", R"("output_index":1,"item":{"id":"msg_1_1","type":"message",)"
                                 R"("status":"in_progress","content":[],"role":"assistant"})"},
           {"content_part.added",
            in_1 + R"("part":{"type":"output_text","annotations":[],"logprobs":[],"text":""})"},
           {"output_text.delta", in_1 + R"("delta":"Hel","logprobs":[])"},
           {"output_text.delta", in_1 + R"("delta":"lo\n","logprobs":[])"},
           {"output_text.done", in_1 + R"("text":"Hello\n","logprobs":[])"},
           {"content_part.done", in_1 + R"("part":)" + part},
           {"output_item.done", R"("output_index":1,"item":)" + said},
           {"completed", response(object("completed", reasoning + "," + said))}}));
}

TEST_F(ResponsesDialectTest, GoldenSummaryCutByLength) {
  const std::string encrypted = R"("encrypted_content":"samovar1:dGhpbms=")";
  const std::string item =
      R"({"id":"rs_1_0","type":"reasoning","summary":[{"type":"summary_text","text":"think"}],)" +
      encrypted + R"(,"status":"incomplete"})";
  const std::string in_0 = R"("item_id":"rs_1_0","output_index":0,"summary_index":0,)";
  EXPECT_EQ(
      run({.reasoning = {.summary = true, .encrypted = true}},
          {text("R:think|"), finished(FinishReason::length)}),
      with_begin(
          {{"output_item.added",
            R"("output_index":0,"item":{"id":"rs_1_0","type":"reasoning","summary":[],)"
            R"("encrypted_content":"","status":"in_progress"})"},
           {"reasoning_summary_part.added", in_0 + R"("part":{"type":"summary_text","text":""})"},
           {"reasoning_summary_text.delta", in_0 + R"("delta":"think")"},
           {"reasoning_summary_text.done", in_0 + R"("text":"think")"},
           {"reasoning_summary_part.done",
            in_0 + R"("part":{"type":"summary_text","text":"think"})"},
           {"output_item.done", R"("output_index":0,"item":)" + item},
           {"incomplete",
            response(object("incomplete", item, R"({"reason":"max_output_tokens"})"))}}));
}

// A call goes on after another one has begun: both are done at the end.
TEST_F(ResponsesDialectTest, GoldenCallsThatInterleave) {
  const auto item = [](const char* index, const char* status, const char* arguments,
                       const char* name) {
    return R"({"id":"fc_1_)" + std::string(index) + R"(","type":"function_call","status":")" +
           status + R"(","arguments":")" + arguments + R"(","call_id":"id)" + index +
           R"(","name":")" + name + "\"}";
  };
  const std::string first = item("0", "completed", R"({\"a\":1})", "f");
  const std::string second = item("1", "completed", "{}", "g");
  const std::string in_0 = R"("item_id":"fc_1_0","output_index":0,)";
  const std::string in_1 = R"("item_id":"fc_1_1","output_index":1,)";
  EXPECT_EQ(
      run({}, {text("B:0,id0,f|A:0,{\"a\"|B:1,id1,g|A:1,{}|A:0,:1}|"), finished()}),
      with_begin(
          {{"output_item.added", R"("output_index":0,"item":)" + item("0", "in_progress", "", "f")},
           {"function_call_arguments.delta", in_0 + R"("delta":"{\"a\"")"},
           {"output_item.added", R"("output_index":1,"item":)" + item("1", "in_progress", "", "g")},
           {"function_call_arguments.delta", in_1 + R"("delta":"{}")"},
           {"function_call_arguments.delta", in_0 + R"("delta":":1}")"},
           {"function_call_arguments.done", in_0 + R"("name":"f","arguments":"{\"a\":1}")"},
           {"output_item.done", R"("output_index":0,"item":)" + first},
           {"function_call_arguments.done", in_1 + R"("name":"g","arguments":"{}")"},
           {"output_item.done", R"("output_index":1,"item":)" + second},
           {"completed", response(object("completed", first + "," + second))}}));
}

TEST_F(ResponsesDialectTest, GoldenFailureKeepsWhatWasSaid) {
  const std::string in_0 = R"("item_id":"msg_1_0","output_index":0,"content_index":0,)";
  const std::string failed =
      R"({"id":"resp_1","object":"response","created_at":1700000000,"status":"failed",)"
      R"("completed_at":null,"error":{"code":"server_error","message":"engine broke"},)"
      R"("incomplete_details":null,"model":"m\"x","output":[{"id":"msg_1_0","type":"message",)"
      R"("status":"incomplete","content":[{"type":"output_text","annotations":[],"logprobs":[],)"
      R"("text":"Hel"}],"role":"assistant"}],"usage":null,"store":true})";
  EXPECT_EQ(
      run({}, {text("C:Hel|"), TurnFailed{{ErrorKind::internal, "engine broke"}, {}}}),
      with_begin(
          {{"output_item.added", R"("output_index":0,"item":{"id":"msg_1_0","type":"message",)"
                                 R"("status":"in_progress","content":[],"role":"assistant"})"},
           {"content_part.added",
            in_0 + R"("part":{"type":"output_text","annotations":[],"logprobs":[],"text":""})"},
           {"output_text.delta", in_0 + R"("delta":"Hel","logprobs":[])"},
           {"failed", response(failed)}}));
}

TEST_F(ResponsesDialectTest, InTheBackgroundItIsQueuedFirst) {
  EXPECT_EQ(run({.background = true}, {TurnStarted{10, 4, "plan"}, finished()}),
            transcript({{"created", response(object("queued"))},
                        {"queued", response(object("queued"))},
                        {"in_progress", response(object("in_progress"))},
                        {"completed", response(object("completed", ""))}}));
}

TEST_F(ResponsesDialectTest, AWholeResponseIsTheObjectAtTheEndOfTheStream) {
  const std::vector<std::vector<TurnEvent>> replies = {
      {text("R:why|C:so|"), finished()},
      {text("C:so|B:0,id0,f|A:0,{\"a\"|"), finished(FinishReason::stop)},
      {text("C:cut|"), finished(FinishReason::length)},
      {finished()}};
  for (const auto& events : replies) {
    for (const bool summary : {false, true}) {
      const ResponsesOptions options{.reasoning = {.summary = summary, .encrypted = summary}};
      const std::string stream = run(options, events);
      const std::size_t at = stream.rfind("\"response\":") + 11;
      EXPECT_EQ(whole(options, events).body, stream.substr(at, stream.size() - at - 3));
    }
  }
}

// A call that a stop string cut must not look like one that can be run.
TEST_F(ResponsesDialectTest, ACutCallIsIncomplete) {
  const Json json =
      Json::parse(whole({}, {text("B:0,id0,f|A:0,{\"a\"|"), finished(FinishReason::stop)}).body);
  EXPECT_EQ(json["status"], "completed");
  EXPECT_EQ(json["output"][0]["status"], "incomplete");
}

TEST_F(ResponsesDialectTest, LogprobsAreThoseOfTheText) {
  const std::vector<TurnEvent> events = {
      TurnText{"R:t3|", {Sampled{3, -1.0F, {}}}},
      TurnText{"C:t4t5|",
               {Sampled{9, -3.0F, {}}, Sampled{4, -0.25F, {{4, -0.25F}}}, Sampled{5, -2.0F, {}}}},
      finished()};
  const std::string four =
      R"({"token":"t4","logprob":-0.25,"bytes":[116,52],"top_logprobs":[{"token":"t4",)"
      R"("logprob":-0.25,"bytes":[116,52]}]})";
  const std::string five = R"({"token":"t5","logprob":-2.0,"bytes":[116,53],"top_logprobs":[]})";
  const std::string list = "\"logprobs\":[" + four + "," + five + "]";
  const std::string stream = run({.logprobs = true}, events);
  std::size_t found = 0;
  for (std::size_t at = 0; (at = stream.find(list, at)) != std::string::npos; ++at) ++found;
  EXPECT_EQ(found, 5U) << "delta, done, part, item and the final object: " << stream;
  EXPECT_EQ(stream.find("\"t9\""), std::string::npos) << "between reasoning and text";
  EXPECT_NE(whole({.logprobs = true}, events).body.find(list), std::string::npos);
  EXPECT_EQ(run({}, events).find("\"t4\""), std::string::npos);
}

TEST_F(ResponsesDialectTest, ReasoningTokensAreCountedByTheirBytes) {
  const auto count = [&](const Tokens& reply, const std::vector<ReplyBlock>& blocks) {
    return reasoning_tokens(reply, blocks, chat_);
  };
  const ReplyBlock thought{.kind = ReplyBlock::Kind::reasoning, .text = "t2t"};
  const ReplyBlock said{.kind = ReplyBlock::Kind::text, .text = "t4"};
  EXPECT_EQ(count({1, 2, 3, 4}, {thought, said}), 2) << "one token is shared with what follows";
  EXPECT_EQ(count({1, 2, 3, 4}, {said}), 0);
  EXPECT_EQ(count({}, {thought}), 0) << "not known";
  EXPECT_EQ(count({5}, {thought}), 0) << "changed by the parser";
}

}  // namespace
}  // namespace samovar
