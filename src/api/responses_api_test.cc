// Goal: a response can be gone on from, fetched, resumed, cancelled and forgotten, in this process
// and in the next one, and only if it was to be kept. Method: the doubles of api_doubles.h over a
// real ledger; replies in the background run when the test lets the executor run, so nothing
// sleeps.
#include "api/responses_api.h"

#include <gtest/gtest.h>

#include <thread>

#include "api/api_doubles.h"
#include "tests/support/manual_executor.h"
#include "tests/support/temporary_folder.h"

namespace samovar {
namespace {

using test::Json;
using test::sse_data;

// A process: what stands between the files and the client.
struct Process {
  explicit Process(const std::string& path, BackgroundLimits limits = {},
                   ChatDefaults defaults = {})
      : ledger(Ledger::open({.path = path}, clock)),
        runner(chat, turns, &records, clock, std::move(defaults), {.poll = 0, .headers = 0}),
        background(jobs, limits) {}

  HttpResponse call(const std::string& method, const std::string& rest,
                    const std::string& body = "", const std::string& query = "") {
    HttpRequest request;
    request.method = method;
    request.path = "/v1/responses" + rest;
    request.query = query;
    request.body = body;
    return api.handle(request, rest);
  }
  Json json(const std::string& method, const std::string& rest, const std::string& body = "",
            const std::string& query = "") {
    return Json::parse(call(method, rest, body, query).body);
  }
  Json create(const Json& body) { return json("POST", "", body.dump()); }
  // All that a stream sends, its events as JSON.
  static std::vector<Json> events(const HttpResponse& response, test::FakeClient& client) {
    response.stream(client);
    std::vector<Json> all;
    std::size_t at = 0;
    for (std::size_t end; (end = client.received.find("\n\n", at)) != std::string::npos;
         at = end + 2) {
      const std::string event = client.received.substr(at, end - at);
      if (event.starts_with("event: ")) {
        all.push_back(Json::parse(event.substr(event.find("\ndata: ") + 7)));
      }
    }
    return all;
  }
  // The conversation that the last request became.
  [[nodiscard]] std::string asked() const {
    std::string out;
    for (const ChatMessage& message : chat.last.messages) {
      out += to_string(message.role) + (":" + message.content);
      if (!message.reasoning.empty()) out += " (" + message.reasoning + ")";
      for (const ToolCall& call : message.tool_calls) out += " " + call.id + "=" + call.name;
      out += "|";
    }
    return out;
  }

  FakeClock clock;
  test::FakeChat chat;
  test::FakeTurns turns;
  ManualExecutor jobs;
  std::unique_ptr<Ledger> ledger;
  TurnRecords records{
      {.ledger = *ledger,
       .clock = clock,
       .background = jobs,
       .model = "m",
       .model_name = "m",
       .template_id = "t",
       .read_reply = [](const SavedSyntax&, TokenSpan reply) -> std::optional<ChatMessage> {
         ChatMessage message{.role = Role::assistant};
         for (const Token token : reply) message.content += "t" + std::to_string(token);
         return message;
       }}};
  TurnRunner runner;
  BackgroundReplies background;
  ResponsesApi api{runner, background, "served"};
};

class ResponsesApiTest : public ::testing::Test {
 protected:
  void SetUp() override { process_ = std::make_unique<Process>(path()); }
  [[nodiscard]] std::string path() const { return folder_.at("ledger.db"); }
  void restart() {
    process_.reset();
    process_ = std::make_unique<Process>(path());
  }
  Process& p() { return *process_; }
  static TurnText text(std::string bytes) { return {std::move(bytes), {}}; }
  static TurnFinished finished(FinishReason reason = FinishReason::end) {
    return {reason, test::sample_timings()};
  }
  // Starts one in the background whose turn waits.
  std::string begin_background() {
    p().turns.script = {};
    const Json begun = p().create({{"input", "long"}, {"background", true}});
    EXPECT_EQ(begun["status"], "queued");
    return begun["id"];
  }

  // Runs the jobs, the only turn of which is to be cancelled, beside an engine that ends it `late`.
  void run_cancelled(const std::function<void()>& late = [] {}) {
    const auto stream = p().turns.stream;
    std::thread engine([&] {
      while (!stream->cancelled()) std::this_thread::yield();
      late();
      stream->on_event(TurnFailed{{ErrorKind::cancelled, "the client is gone"}, {}});
    });
    p().jobs.run_all();
    EXPECT_TRUE(stream->cancelled());
    stream->cancel();
    engine.join();
    p().jobs.run_all();
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<Process> process_;
};

TEST_F(ResponsesApiTest, AConversationGoesOnFromItsLastResponseAlsoAfterARestart) {
  p().turns.script = {text("R:why|C:one|B:0,c0,f|A:0,{}|"), finished()};
  const Json first = p().create({{"input", "hello"}, {"instructions", "old"}});
  EXPECT_EQ(p().asked(), "system:old|user:hello|");
  p().turns.script = {text("C:two|"), finished()};
  const Json items =
      Json::array({{{"type", "function_call_output"}, {"call_id", "c0"}, {"output", "result"}}});
  const Json second = p().create(
      {{"input", items}, {"previous_response_id", first["id"]}, {"instructions", "new"}});
  const std::string expected = "system:new|user:hello|assistant:one (why) c0=f|tool:result|";
  EXPECT_EQ(p().asked(), expected) << "instructions are those of the request";
  restart();
  p().turns.script = {text("C:three|"), finished()};
  const Json third = p().create(
      {{"input", "more"}, {"previous_response_id", second["id"]}, {"instructions", "new"}});
  EXPECT_EQ(third["status"], "completed");
  EXPECT_EQ(p().asked(), expected + "assistant:two|user:more|");
  EXPECT_EQ(third["previous_response_id"], second["id"]);
}

TEST_F(ResponsesApiTest, WhatIsFetchedIsWhatWasAnswered) {
  const std::vector<std::vector<TurnEvent>> replies = {
      {text("R:why|C:one|B:0,c0,f|A:0,{\"a\":1}|"), finished()},
      {text("C:cut|"), finished(FinishReason::length)}};
  for (const auto& script : replies) {
    p().turns.script = script;
    Json answered = p().create({{"input", "hello"},
                                {"metadata", {{"k", "v"}}},
                                {"tools", {{{"type", "function"}, {"name", "f"}}}},
                                {"reasoning", {{"summary", "auto"}}},
                                {"include", {"reasoning.encrypted_content"}}});
    restart();
    Json fetched = p().json("GET", "/" + answered["id"].get<std::string>());
    for (const char* name : {"turn", "session", "replayed_replies", "reasoning_restored",
                             "neutralised", "tool_order", "miss"}) {
      answered["timings"].erase(name);  // only of the answer itself
    }
    EXPECT_EQ(fetched.dump(), answered.dump());
  }
}

TEST_F(ResponsesApiTest, WhatIsNotToBeKeptIsNotThere) {
  p().turns.script = {text("C:x|"), finished()};
  const std::string id = p().create({{"input", "hello"}, {"store", false}})["id"];
  EXPECT_EQ(p().call("GET", "/" + id).status, 404);
  EXPECT_EQ(p().call("DELETE", "/" + id).status, 404);
  const HttpResponse next =
      p().call("POST", "", Json{{"input", "u"}, {"previous_response_id", id}}.dump());
  EXPECT_EQ(next.status, 400);
  EXPECT_EQ(Json::parse(next.body)["error"]["param"], "previous_response_id");
  ChatDefaults owner;
  owner.store_responses = false;
  Process quiet("", {}, owner);
  quiet.turns.script = {text("C:x|"), finished()};
  const Json silent = quiet.create({{"input", "hello"}});
  EXPECT_EQ(silent["store"], false);
  EXPECT_EQ(quiet.call("GET", "/" + silent["id"].get<std::string>()).status, 404);
}

TEST_F(ResponsesApiTest, ADeletedResponseIsGoneForItsFollowersToo) {
  p().turns.script = {text("C:x|"), finished()};
  const std::string first = p().create({{"input", "a"}})["id"];
  const std::string second = p().create({{"input", "b"}, {"previous_response_id", first}})["id"];
  EXPECT_EQ(p().json("DELETE", "/" + first).dump(),
            R"({"id":")" + first + R"(","object":"response","deleted":true})");
  EXPECT_EQ(p().call("GET", "/" + first).status, 404);
  EXPECT_EQ(p().call("GET", "/" + second).status, 200);
  const HttpResponse next =
      p().call("POST", "", Json{{"input", "c"}, {"previous_response_id", second}}.dump());
  EXPECT_EQ(next.status, 400);
  EXPECT_NE(next.body.find(first), std::string::npos) << "says which one is missing";
}

TEST_F(ResponsesApiTest, InputItemsOfTheWholeConversationPageByPage) {
  p().turns.script = {text("C:x|"), finished()};
  const std::string first = p().create({{"input", "a"}})["id"];
  const Json input = Json::array(
      {{{"role", "user"}, {"content", "b"}, {"id", "mine"}}, {{"role", "user"}, {"content", "c"}}});
  const std::string id = p().create({{"input", input}, {"previous_response_id", first}})["id"];
  const Json all = p().json("GET", "/" + id + "/input_items", "", "order=asc");
  ASSERT_EQ(all["data"].size(), 4U) << all;
  EXPECT_EQ(all["data"][0]["content"][0]["text"], "a");
  EXPECT_EQ(all["data"][1]["content"][0]["text"], "x");
  EXPECT_EQ(all["data"][2]["id"], "mine");
  EXPECT_EQ(all["has_more"], false);
  const Json page = p().json("GET", "/" + id + "/input_items", "", "limit=2");
  EXPECT_EQ(page["data"][0], all["data"][3]) << "newest first";
  EXPECT_EQ(page["has_more"], true);
  const Json rest = p().json("GET", "/" + id + "/input_items", "",
                             "limit=2&after=" + page["last_id"].get<std::string>());
  EXPECT_EQ(rest["data"][1], all["data"][0]);
  EXPECT_EQ(rest["has_more"], false);
  for (const auto& [query, name] : std::vector<std::pair<std::string, std::string>>{
           {"limit=0", "limit"}, {"order=up", "order"}, {"after=none", "after"}}) {
    const Json error = p().json("GET", "/" + id + "/input_items", "", query);
    EXPECT_EQ(error["error"]["param"], name);
  }
  // Any of them can be named in a later request.
  (void)p().create(
      {{"input", Json::array({{{"type", "item_reference"}, {"id", all["data"][0]["id"]}},
                              {{"type", "item_reference"}, {"id", all["data"][1]["id"]}},
                              {{"role", "user"}, {"content", "d"}}})}});
  EXPECT_EQ(p().asked(), "user:a|assistant:x|user:d|");
}

TEST_F(ResponsesApiTest, WhatIsLeftOutIsSaidInAHeaderAndInTheBody) {
  p().turns.script = {text("C:x|"), finished()};
  for (const bool stream : {false, true}) {
    const HttpResponse response = p().call(
        "POST", "",
        Json{{"input", "a"}, {"stream", stream}, {"tools", {{{"type", "web_search"}}}}}.dump());
    ASSERT_NE(find_header(response.headers, "x-samovar-left-out"), nullptr);
    EXPECT_EQ(*find_header(response.headers, "x-samovar-left-out"), "tools[0] (web_search)");
    if (stream) continue;
    EXPECT_EQ(Json::parse(response.body)["left_out"][0], "tools[0] (web_search)");
  }
}

TEST_F(ResponsesApiTest, RefusalsNameTheFieldOfThisApi) {
  p().chat.error = Error{ErrorKind::invalid_argument, "the template refuses", "messages"};
  for (const bool background : {false, true}) {
    const HttpResponse response =
        p().call("POST", "", Json{{"input", "a"}, {"background", background}}.dump());
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(Json::parse(response.body)["error"]["param"], "input");
  }
  p().chat.error.reset();
  p().turns.error = Error{ErrorKind::too_large, "the prompt has 9 tokens, the context 8"};
  const Json large = p().create({{"input", "a"}});
  EXPECT_EQ(large["error"]["code"], "context_length_exceeded");
}

TEST_F(ResponsesApiTest, AStreamThatItsClientLeftCanBeFetched) {
  p().turns.script = {TurnStarted{3, 0, ""}, text("C:Hel|")};
  test::FakeClient client;
  client.on_poll = [&](int poll) { client.gone = poll > 5; };
  const auto events =
      Process::events(p().call("POST", "", R"({"input":"a","stream":true})"), client);
  const std::string id = events.at(0)["response"]["id"];
  EXPECT_EQ(p().json("GET", "/" + id)["status"], "in_progress");
  p().turns.stream->on_token(7);
  p().turns.stream->on_event(TurnFailed{{ErrorKind::cancelled, "the client is gone"}, {}});
  p().jobs.run_all();
  const Json cut = p().json("GET", "/" + id);
  EXPECT_EQ(cut["status"], "failed");
  EXPECT_EQ(cut["error"]["message"], "the client is gone");
  EXPECT_EQ(cut["output"][0]["content"][0]["text"], "t7");
  EXPECT_EQ(cut["output"][0]["status"], "incomplete");
  EXPECT_EQ(p().call("POST", "/" + id + "/cancel").status, 400) << "not in the background";
}

// Its client left while the last tokens were sampled: it ended by itself all the same.
TEST_F(ResponsesApiTest, AReplyThatEndedUnreadIsFetchedAsItEnded) {
  for (const auto& [reason, status] : std::vector<std::pair<FinishReason, std::string>>{
           {FinishReason::end, "completed"}, {FinishReason::length, "incomplete"}}) {
    p().turns.script = {};
    test::FakeClient client;
    client.on_poll = [&](int poll) { client.gone = poll > 3; };
    const auto events =
        Process::events(p().call("POST", "", R"({"input":"a","stream":true})"), client);
    p().turns.stream->on_token(7);
    p().turns.stream->on_event(finished(reason));
    p().jobs.run_all();
    const std::string id = events.at(0)["response"]["id"];
    EXPECT_EQ(p().json("GET", "/" + id)["status"], status);
  }
}

TEST_F(ResponsesApiTest, InTheBackgroundAReplyGoesOnAndCanBePolled) {
  const std::string id = begin_background();
  EXPECT_EQ(p().json("GET", "/" + id)["status"], "queued");
  p().turns.stream->on_event(TurnStarted{3, 0, ""});
  p().turns.stream->on_event(text("C:done|"));
  EXPECT_EQ(p().json("GET", "/" + id)["status"], "queued") << "nobody has looked yet";
  p().turns.stream->on_event(finished());
  p().jobs.run_all();
  const Json end = p().json("GET", "/" + id);
  EXPECT_EQ(end["status"], "completed");
  EXPECT_EQ(end["background"], true);
  EXPECT_EQ(end["output"][0]["content"][0]["text"], "done");
  restart();
  EXPECT_EQ(p().json("GET", "/" + id)["output"], end["output"]);
}

TEST_F(ResponsesApiTest, EventsOfABackgroundReplyCanBeResumedAnywhere) {
  p().turns.script = {TurnStarted{3, 0, ""}, text("C:Hel|"), text("C:lo|"), finished()};
  const HttpResponse response =
      p().call("POST", "", R"({"input":"a","stream":true,"background":true})");
  test::FakeClient client;
  client.on_poll = [&](int poll) {
    if (poll == 3) p().jobs.run_all();
  };
  const auto all = Process::events(response, client);
  ASSERT_GT(all.size(), 6U);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i]["sequence_number"], i);
  EXPECT_EQ(all.back()["type"], "response.completed");
  const std::string id = all[0]["response"]["id"];
  for (std::size_t after = 0; after < all.size(); ++after) {
    test::FakeClient late;
    const auto rest = Process::events(
        p().call("GET", "/" + id, "", "stream=true&starting_after=" + std::to_string(after)), late);
    ASSERT_EQ(rest.size(), all.size() - after - 1);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), all.begin() + static_cast<int>(after) + 1));
  }
  test::FakeClient whole;
  EXPECT_EQ(Process::events(p().call("GET", "/" + id, "", "stream=true"), whole), all);
  restart();
  const HttpResponse gone = p().call("GET", "/" + id, "", "stream=true");
  EXPECT_EQ(gone.status, 400);
  EXPECT_EQ(Json::parse(gone.body)["error"]["param"], "stream");
  EXPECT_EQ(p().call("GET", "/" + id, "", "stream=perhaps").status, 400);
}

TEST_F(ResponsesApiTest, ABackgroundReplyThatIsCancelledKeepsWhatItSaid) {
  const std::string id = begin_background();
  p().turns.stream->on_event(TurnStarted{3, 0, ""});
  p().turns.stream->on_event(text("C:Hel|"));
  p().turns.stream->on_token(7);
  EXPECT_EQ(p().json("POST", "/" + id + "/cancel")["status"], "cancelled");
  run_cancelled();
  const Json end = p().json("GET", "/" + id);
  EXPECT_EQ(end["status"], "cancelled");
  EXPECT_EQ(end["error"], nullptr);
  EXPECT_EQ(end["output"][0]["content"][0]["text"], "t7");
  EXPECT_EQ(p().json("POST", "/" + id + "/cancel")["status"], "cancelled") << "once more";
  test::FakeClient client;
  const auto events = Process::events(p().call("GET", "/" + id, "", "stream=true"), client);
  EXPECT_EQ(events.back()["type"], "response.incomplete");
  EXPECT_EQ(events.back()["response"]["status"], "cancelled");
  restart();
  EXPECT_EQ(p().json("GET", "/" + id)["status"], "cancelled");
}

TEST_F(ResponsesApiTest, TheEndOfACancelledReplyIsToldWhenItIsRecorded) {
  const std::string id = begin_background();
  p().turns.stream->on_event(TurnStarted{3, 0, ""});
  p().turns.stream->on_event(text("C:Hel|"));
  p().turns.stream->on_token(7);
  EXPECT_EQ(p().json("POST", "/" + id + "/cancel")["status"], "cancelled");
  const auto events = p().background.events(id);
  std::string before_the_end;
  run_cancelled([&] {
    // The engine takes its time; whoever told of the end now would tell too early.
    for (int i = 0; i < 100'000 && !events->ended(); ++i) std::this_thread::yield();
    before_the_end = events->read(0, 0).bytes;
  });
  EXPECT_EQ(before_the_end.find("response.incomplete"), std::string::npos);
  EXPECT_NE(events->read(0, 0).bytes.find("response.incomplete"), std::string::npos);
  EXPECT_EQ(p().json("GET", "/" + id)["output"][0]["content"][0]["text"], "t7");
  p().turns.script = {text("C:two|"), finished()};
  const Json next = p().create({{"input", "on"}, {"previous_response_id", id}});
  EXPECT_EQ(next["status"], "completed");
  EXPECT_EQ(p().asked(), "user:long|assistant:t7|user:on|");
}

TEST_F(ResponsesApiTest, WhatWasCompleteBeforeItWasCancelledIsCompleted) {
  const std::string id = begin_background();
  p().turns.stream->on_event(TurnStarted{3, 0, ""});
  p().turns.stream->on_event(text("C:all|"));
  p().turns.stream->on_token(7);
  p().turns.stream->on_event(finished());
  EXPECT_EQ(p().json("POST", "/" + id + "/cancel")["status"], "completed");
  p().jobs.run_all();
  const Json end = p().json("GET", "/" + id);
  EXPECT_EQ(end["status"], "completed");
  EXPECT_EQ(end["output"][0]["content"][0]["text"], "all");
  test::FakeClient client;
  EXPECT_EQ(Process::events(p().call("GET", "/" + id, "", "stream=true"), client).back()["type"],
            "response.completed");
}

TEST_F(ResponsesApiTest, ShutdownEndsABackgroundReplyAndTheLedgerKeepsIt) {
  const std::string id = begin_background();
  p().turns.stream->on_event(text("C:Hel|"));
  p().turns.stream->on_token(7);
  p().turns.stream->on_event(TurnFailed{{ErrorKind::unavailable, "shutting down"}, {}});
  p().jobs.run_all();
  restart();
  EXPECT_EQ((*p().ledger->find(id))->status, TurnStatus::incomplete);
  const Json cut = p().json("GET", "/" + id);
  EXPECT_EQ(cut["status"], "failed");
  EXPECT_EQ(cut["error"]["message"], "shutting down");
}

TEST_F(ResponsesApiTest, ADeletedBackgroundReplyEnds) {
  const std::string id = begin_background();
  EXPECT_EQ(p().call("DELETE", "/" + id).status, 200);
  run_cancelled();
  EXPECT_EQ(p().call("GET", "/" + id).status, 404);
  EXPECT_EQ(p().call("GET", "/" + id, "", "stream=true").status, 404);
}

TEST_F(ResponsesApiTest, HowManyRunAndHowMuchIsKeptIsBounded) {
  process_ = std::make_unique<Process>(path(), BackgroundLimits{.running = 2, .bytes = 1});
  const std::string first = begin_background();
  const auto first_turn = p().turns.stream;
  const std::string second = begin_background();
  const HttpResponse third = p().call("POST", "", R"({"input":"a","background":true})");
  EXPECT_EQ(third.status, 429);
  EXPECT_EQ(Json::parse(third.body)["error"]["param"], "background");
  EXPECT_EQ(p().turns.submitted, 2);
  first_turn->on_event(finished());
  EXPECT_TRUE(p().jobs.run_one());
  EXPECT_EQ(p().call("GET", "/" + first, "", "stream=true").status, 400) << "pushed out";
  EXPECT_EQ(p().call("GET", "/" + first).status, 200) << "the ledger has it";
  EXPECT_EQ(p().call("GET", "/" + second, "", "stream=true").status, 200) << "still runs";
  (void)begin_background();
}

TEST(EventLog, OldEventsGoAndTheirReaderIsTold) {
  EventLog log(20);
  log.append("event: a\n\n: keepalive\n\nevent: b\n\n");
  EXPECT_EQ(log.read(0, 0).bytes, "event: a\n\nevent: b\n\n");
  log.append("event: c\n\n");
  EXPECT_EQ(log.events(), 3U);
  EXPECT_TRUE(log.read(0, 0).lost);
  const auto rest = log.read(1, 0);
  EXPECT_EQ(rest.bytes, "event: b\n\nevent: c\n\n");
  EXPECT_EQ(rest.next, 3U);
  EXPECT_FALSE(rest.ended);
  EXPECT_FALSE(log.read(3, 0).lost);
  log.end();
  EXPECT_TRUE(log.read(3, 0).ended);
  test::FakeClient client;
  FakeClock clock;
  auto full = std::make_shared<EventLog>(15);
  full->append("event: a\n\nevent: b\n\n");
  follow_events(full, 0, clock, {.poll = 0}).stream(client);
  EXPECT_EQ(
      client.received,
      "event: error\ndata: {\"type\":\"error\",\"sequence_number\":0,\"code\":\"events_gone\","
      "\"message\":\"event 0 is not kept any more: fetch the response\","
      "\"param\":\"starting_after\"}\n\n");
}

TEST(EventLog, SilenceIsFilledWithKeepalives) {
  FakeClock clock;
  auto log = std::make_shared<EventLog>(100);
  test::FakeClient client;
  client.on_poll = [&](int poll) {
    clock.advance(kSecond);
    if (poll == 3) log->end();
  };
  follow_events(log, 0, clock, {.poll = 0}).stream(client);
  EXPECT_EQ(client.received, ": keepalive\n\n: keepalive\n\n: keepalive\n\n");
}

}  // namespace
}  // namespace samovar
