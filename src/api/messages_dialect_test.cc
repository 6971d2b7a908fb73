// Goal: a reply in Anthropic's dialect has exactly the events and fields that dialect promises.
// Method: turn events go through a ReplyMachine; streams are compared with golden texts, and what
// they add up to with the whole message of the same events.
#include "api/messages_dialect.h"

#include <gtest/gtest.h>

#include "api/api_doubles.h"
#include "api/messages_api.h"
#include "api/reply_machine.h"

namespace samovar {
namespace {

using test::Json;

TurnStarted plan() {
  TurnStarted started;
  started.prompt_tokens = 1000;
  started.reused_tokens = 900;
  started.history_tokens = 996;
  return started;
}
TurnText text(std::string bytes) { return {std::move(bytes), {}}; }
TurnFinished finished(FinishReason reason = FinishReason::end, std::string stopped_at = "") {
  return {reason, test::sample_timings(), std::move(stopped_at)};
}

ReplyMachine machine(ReplyMachine::Form form, const Clock& clock,
                     std::optional<std::int64_t> max_tokens = std::nullopt) {
  return {
      form,
      std::make_unique<MessagesDialect>("msg_1", "m", std::vector<std::string>{"END"}, max_tokens),
      std::make_unique<test::RecordReader>(), clock};
}

std::string streamed(const std::vector<TurnEvent>& events) {
  const FakeClock clock;
  ReplyMachine reply = machine(ReplyMachine::Form::stream, clock);
  std::string out = reply.open();
  for (const TurnEvent& event : events) out += reply.on_event(event);
  EXPECT_TRUE(reply.done());
  return out;
}

Json whole(const std::vector<TurnEvent>& events,
           std::optional<std::int64_t> max_tokens = std::nullopt) {
  const FakeClock clock;
  ReplyMachine reply = machine(ReplyMachine::Form::whole, clock, max_tokens);
  for (const TurnEvent& event : events) EXPECT_EQ(reply.on_event(event), "");
  return Json::parse(reply.take_response().body);
}

// (event name, data) in order.
std::vector<std::pair<std::string, Json>> events_of(const std::string& stream) {
  std::vector<std::pair<std::string, Json>> events;
  std::size_t at = 0;
  for (std::size_t end; (end = stream.find("\n\n", at)) != std::string::npos; at = end + 2) {
    const std::string event = stream.substr(at, end - at);
    const std::size_t line = event.find("\ndata: ");
    EXPECT_TRUE(event.starts_with("event: ") && line != std::string::npos) << event;
    events.emplace_back(event.substr(7, line - 7), Json::parse(event.substr(line + 7)));
    EXPECT_EQ(events.back().second["type"], events.back().first);
  }
  return events;
}

TEST(MessagesDialect, GoldenTranscript) {
  std::string out =
      streamed({plan(), TurnProgress{950, 1000}, text("R:why|"), text("C:Hel|"),
                text("C:lo|B:0,toolu_a,read|A:0,{\"p\"|"), text("A:0,:1}|"), finished()});
  const std::size_t timings = out.find(",\"timings\":");
  const std::size_t timings_end = out.find("}\n\nevent: message_stop");
  ASSERT_NE(timings, std::string::npos);
  ASSERT_NE(timings_end, std::string::npos);
  out.erase(timings, timings_end - timings);
  EXPECT_EQ(out, test::golden("messages_stream.txt"));
  ;
}

TEST(MessagesDialect, AWholeMessage) {
  Json json = whole({plan(), text("R:why|C:Hello|B:0,,read|A:0,{\"p\":1}|C:bye|"), finished()});
  EXPECT_TRUE(json["content"][2]["id"].get<std::string>().starts_with("toolu_"));
  json["content"][2]["id"] = "ID";
  json["content"][0]["signature"] = "S";
  EXPECT_EQ(json["timings"]["reused_tokens"], 900);
  json.erase("timings");
  EXPECT_EQ(json.dump(),
            R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[)"
            R"({"type":"thinking","thinking":"why","signature":"S"},)"
            R"({"type":"text","text":"Hello"},)"
            R"({"type":"tool_use","id":"ID","name":"read","input":{"p":1}},)"
            R"({"type":"text","text":"bye"}],"stop_reason":"tool_use","stop_sequence":null,)"
            R"("usage":{"input_tokens":4,"cache_creation_input_tokens":96,)"
            R"("cache_read_input_tokens":900,"output_tokens":41}})");
}

// A client that adds the events up has what a client that waits gets.
TEST(MessagesDialect, TheStreamAddsUpToTheWhole) {
  const std::vector<TurnEvent> reply = {
      plan(), text("R:a|R:b|C:\xF0\x9F\x98\x80 \"x\"\n|B:0,i,f|A:0,{\"k\":[1,|"),
      text("A:0,2]}|B:1,j,g|A:1,{}|C:end|"), finished()};
  Json built = Json::array();
  for (const auto& [name, data] : events_of(streamed(reply))) {
    if (name == "content_block_start") {
      EXPECT_EQ(data["index"], built.size());
      built.push_back(data["content_block"]);
      if (built.back()["type"] == "tool_use") built.back()["input"] = "";
    }
    if (name != "content_block_delta") continue;
    Json& block = built[data["index"].get<std::size_t>()];
    const Json& delta = data["delta"];
    const auto add = [&](const char* to, const char* from) {
      block[to] = block[to].get<std::string>() + delta[from].get<std::string>();
    };
    if (delta["type"] == "text_delta") add("text", "text");
    if (delta["type"] == "thinking_delta") add("thinking", "thinking");
    if (delta["type"] == "signature_delta") add("signature", "signature");
    if (delta["type"] == "input_json_delta") add("input", "partial_json");
  }
  for (Json& block : built) {
    if (block["type"] == "tool_use")
      block["input"] = Json::parse(block["input"].get<std::string>());
  }
  EXPECT_EQ(built, whole(reply)["content"]);
}

TEST(MessagesDialect, WhyItStopped) {
  struct Row {
    TurnFinished end;
    std::optional<std::int64_t> max_tokens;
    const char* reason;
    Json sequence;
  };
  const std::vector<Row> table = {
      {finished(), {}, "end_turn", nullptr},
      {finished(FinishReason::stop, "END"), {}, "stop_sequence", "END"},
      {finished(FinishReason::stop, "<|format|>"), {}, "end_turn", nullptr},
      {finished(FinishReason::length), 41, "max_tokens", nullptr},
      {finished(FinishReason::length), 500, "model_context_window_exceeded", nullptr},
      {finished(FinishReason::length), {}, "model_context_window_exceeded", nullptr},
  };
  for (const Row& row : table) {
    const Json json = whole({plan(), text("C:x|"), row.end}, row.max_tokens);
    EXPECT_EQ(json["stop_reason"], row.reason);
    EXPECT_EQ(json["stop_sequence"], row.sequence);
  }
}

TEST(MessagesDialect, ACallThatWasCutKeepsItsText) {
  const Json json = whole({plan(), text("B:0,i,f|A:0,{\"k\":|"), finished(FinishReason::length)});
  EXPECT_EQ(json["content"][0]["input"].dump(), R"({"partial_json":"{\"k\":"})");
}

TEST(MessagesDialect, AnEmptyReplyStillHasBeginningAndEnd) {
  const auto events = events_of(streamed({finished()}));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].first, "message_start");
  EXPECT_EQ(events[2].first, "message_stop");
  EXPECT_EQ(whole({finished()})["content"], Json::array());
}

TEST(MessagesDialect, AFailureIsAnErrorEvent) {
  const auto events = events_of(
      streamed({plan(), text("C:x|"), TurnFailed{{ErrorKind::unavailable, "closing"}, {}}}));
  EXPECT_EQ(events.back().second.dump(),
            R"({"type":"error","error":{"type":"overloaded_error","message":"closing"}})");
}

class MessagesApiTest : public testing::Test {
 protected:
  static HttpRequest request(std::string body) {
    HttpRequest made;
    made.method = "POST";
    made.path = "/v1/messages";
    made.body = std::move(body);
    return made;
  }

  FakeClock clock_;
  test::FakeChat chat_;
  test::FakeTurns turns_;
  test::FakeClient client_;
  TurnRunner runner_{chat_, turns_, nullptr, clock_, {}, {.poll = 0, .headers = 0}};
  MessagesApi messages_{runner_, "served"};
};

constexpr const char* kBody = R"({"max_tokens":9,"messages":[{"role":"user","content":"hi"}]})";
constexpr const char* kStream =
    R"({"max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})";

// In the queue, during prefill and while the reply has nothing to say.
TEST_F(MessagesApiTest, PingsFillEverySilence) {
  const HttpResponse response = messages_.create(request(kStream));
  client_.on_poll = [&](int poll) {
    clock_.advance(50 * kMillisecond);
    if (poll == 50) turns_.stream->on_event(plan());
    if (poll == 100) turns_.stream->on_event(text("C:x|"));
    if (poll == 150) turns_.stream->on_event(finished());
  };
  response.stream(client_);
  std::string order;
  for (const auto& [name, data] : events_of(client_.received)) order += name + " ";
  EXPECT_EQ(order,
            "ping ping message_start ping ping content_block_start content_block_delta ping ping "
            "content_block_stop message_delta message_stop ");
}

TEST_F(MessagesApiTest, ErrorsHaveAnthropicsForm) {
  const auto error = [&](const HttpResponse& response) { return Json::parse(response.body); };
  HttpResponse response = messages_.create(request("{"));
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(error(response)["error"]["type"], "invalid_request_error");

  chat_.error = Error{ErrorKind::invalid_argument, "the template refuses", "messages"};
  response = messages_.create(request(kStream));
  EXPECT_EQ(error(response)["type"], "error");
  EXPECT_EQ(messages_.count_tokens(request(kBody)).status, 400);
  chat_.error.reset();

  turns_.error = Error{ErrorKind::overloaded, "queue full"};
  turns_.load_now = 5;
  response = messages_.create(request(kBody));
  EXPECT_EQ(response.status, 529);
  EXPECT_EQ(error(response)["error"]["type"], "overloaded_error");
  EXPECT_EQ(*find_header(response.headers, "retry-after"), "5");

  turns_.error = Error{ErrorKind::too_large, "9 tokens, the context has 8"};
  response = messages_.create(request(kBody));
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(error(response)["error"]["message"], "prompt is too long: 9 tokens, the context has 8");
}

TEST_F(MessagesApiTest, FieldsHaveTheNamesThatTheClientGaveThem) {
  const auto message = [&](const std::string& field) {
    chat_.error = Error{ErrorKind::invalid_argument, "no", field};
    return Json::parse(messages_.create(request(kBody)).body)["error"]["message"];
  };
  EXPECT_EQ(message("tools[3].function.parameters"), "tools[3].input_schema: no");
  EXPECT_EQ(message("response_format.json_schema"), "output_config.format: no");
  EXPECT_EQ(message("messages"), "messages: no");
  EXPECT_EQ(Json::parse(messages_.count_tokens(request(kBody)).body)["error"]["message"],
            "messages: no");
}

// The SDK then sends all messages itself.
TEST_F(MessagesApiTest, ThreadsAreRefusedInTheWayTheSdkUnderstands) {
  const HttpResponse response = messages_.create(request(
      R"({"max_tokens":9,"thread":{"type":"create"},"messages":[{"role":"user","content":"x"}]})"));
  EXPECT_EQ(response.status, 400);
  const Json error = Json::parse(response.body)["error"];
  EXPECT_EQ(error["details"].dump(),
            R"({"error_code":"thread_unsupported_request","unsupported":["thread"]})");
}

TEST_F(MessagesApiTest, TheFieldAtFaultIsNamedInTheMessage) {
  const Json json = Json::parse(
      messages_.create(request(R"({"max_tokens":"x","messages":[{"role":"user","content":""}]})"))
          .body);
  EXPECT_NE(json["error"]["message"].get<std::string>().find("max_tokens"), std::string::npos);
}

TEST_F(MessagesApiTest, CountingTokensSubmitsNothing) {
  EXPECT_EQ(messages_.count_tokens(request(kBody)).body, R"({"input_tokens":3})");
  EXPECT_EQ(turns_.submitted, 0);
}

}  // namespace
}  // namespace samovar
