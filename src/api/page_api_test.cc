// Goal: the page is told what is true, in time and in bounds; who listens slowly keeps nobody
// waiting; no text of a prompt is in it. Method: turns, figures and pictures by hand, a clock that
// the listener's client moves.
#include "api/page_api.h"

#include <thread>
#include <utility>

#include "api/page_testing.h"

namespace samovar {
namespace {

using test::Event;
using test::events_of;
using test::FakeClient;
using test::Json;
using test::names_of;
using Names = std::vector<std::string>;

class PageApiTest : public test::PageFixture {
 protected:
  HttpRequest get() {
    HttpRequest request;
    request.method = "GET";
    return request;
  }
  // Listens until the client has looked so often; `on_poll` runs at each look.
  std::vector<Event> listen(int polls, const std::function<void(int)>& on_poll = {}) {
    const HttpResponse response = page_->events(get());
    FakeClient client;
    client.on_poll = [&](int poll) {
      if (on_poll) on_poll(poll);
      client.gone = poll > polls;
    };
    response.stream(client);
    return events_of(client.received);
  }
};

TEST_F(PageApiTest, StateSaysWhatRunsAndWhatIsHeld) {
  figures_.waiting = 2;
  figures_.running = 1;
  figures_.cells_used = 300;
  figures_.cells_total = 1000;
  figures_.anchor_bytes = 77;
  const auto turn = begin("t1", "mine");
  clock_.advance(3 * kSecond);
  const Json state = Json::parse(page_->state().body);
  EXPECT_EQ(state["object"], "samovar.state");
  EXPECT_EQ(state["server"]["uptime_seconds"], 3);
  EXPECT_EQ(state["server"]["options"]["--parallel"], "2");
  EXPECT_EQ(state["queue"]["waiting"], 2);
  EXPECT_EQ(state["cells"]["used"], 300);
  EXPECT_EQ(state["memory"]["anchor_bytes"], 77);
  EXPECT_EQ(state["memory"]["rss_bytes"], 1000);
  EXPECT_TRUE(state["store"].is_null());
  ASSERT_EQ(state["turns"].size(), 1U);
  const Json& live = state["turns"][0];
  EXPECT_EQ(live["id"], "t1");
  EXPECT_EQ(live["session"], "mine");
  EXPECT_EQ(live["phase"], "queue");
  EXPECT_EQ(live["phases_ms"]["queue"], 3000.0);
  EXPECT_EQ(live["age_ms"], 3000.0);
  EXPECT_TRUE(live["source"].is_null());
  EXPECT_TRUE(live["miss"].is_null());
  finish(*turn);
  EXPECT_TRUE(Json::parse(page_->state().body)["turns"].empty());
  stats_.emplace();
  stats_->trouble = "the disk is full";
  stats_->restores = 4;
  const Json store = Json::parse(page_->state().body)["store"];
  EXPECT_EQ(store["trouble"], "the disk is full");
  EXPECT_EQ(store["restores"], 4);
}

TEST_F(PageApiTest, SessionsHaveNamesAndReach) {
  const SessionId mine = session_of_key("mine");
  auto memory = std::make_shared<ResidentPicture>();
  memory->sequences.push_back({.sequence = 3,
                               .tokens = {1, 2, 3, 4, 5},
                               .cells = {{1, 5}},
                               .anchors = {{2, AnchorKind::history_end, 9, 50}},
                               .session = mine,
                               .last_used = -20 * kSecond,
                               .value = 5});
  memory->sequences.push_back({.sequence = 4, .tokens = {1, 2, 9}, .cells = {{2, 3}}, .value = 2});
  memory->sequences.push_back({.sequence = 5, .tokens = {7}, .cells = {{3, 1}}, .running = true});
  memory_ = memory;
  const auto turn = begin("t1", "mine");
  turn->on_event(started(5, 0, "mine"));
  turn->started(started(5, 0, "mine"));
  finish(*turn);
  (void)begin("t2");  // of another session, and still running
  const Json shown = sessions();
  ASSERT_EQ(shown["nodes"].size(), 4U);
  const Json& system = shown["nodes"][1];  // behind the sequence of one token
  EXPECT_EQ(system["memory"]["anchor"], "history_end");
  EXPECT_EQ(system["memory"]["bytes"], 40);  // of two sequences that do not share their cells
  EXPECT_TRUE(system["parent"].is_null());
  EXPECT_EQ(system["sessions"], Json::array({"mine"}));
  const Json& own = shown["sequences"][0];
  EXPECT_EQ(own["sequence"], 3);
  EXPECT_EQ(own["session"], "mine");
  EXPECT_EQ(own["node"], "s:3");
  EXPECT_EQ(own["last_used"], clock_.wall_seconds() - 20);
  EXPECT_EQ(own["evict_rank"], 2);
  EXPECT_EQ(shown["sequences"][1]["evict_rank"], 1);
  EXPECT_TRUE(shown["sequences"][1]["session"].is_null());
  EXPECT_TRUE(shown["sequences"][2]["evict_rank"].is_null());
  EXPECT_EQ(shown["memory_evicts_next"], 4);
  ASSERT_EQ(shown["sessions"].size(), 2U);
  for (const Json& session : shown["sessions"]) {
    const bool named = session["session"] == "mine";
    EXPECT_EQ(session["named_by_client"], named);
    EXPECT_EQ(session["resident_tokens"], named ? 5 : 0);
    EXPECT_EQ(session["last_turn"], named ? "t1" : "t2");
    EXPECT_EQ(session["turns"], 1);
  }
}

TEST_F(PageApiTest, WhereTheEngineDoesNotAnswerTheDiskIsShownAlone) {
  memory_ = nullptr;
  store_.places.push_back({.identity = {{1}}, .begin = 0, .end = 10, .bytes = 4096});
  const Json shown = sessions();
  EXPECT_EQ(shown["memory_known"], false);
  ASSERT_EQ(shown["nodes"].size(), 1U);
  EXPECT_TRUE(shown["nodes"][0]["memory"].is_null());
  EXPECT_EQ(shown["nodes"][0]["disk"]["bytes"], 4096);
  EXPECT_TRUE(shown["memory_evicts_next"].is_null());
}

TEST_F(PageApiTest, APictureServesForASecond) {
  for (int i = 0; i < 10; ++i) (void)sessions();
  EXPECT_EQ(looks_, 1);
  clock_.advance(1 * kSecond);
  (void)sessions();
  EXPECT_EQ(looks_, 2);
}

TEST_F(PageApiTest, APictureThatTookLongServesLonger) {
  picture_takes_ = 2 * kSecond;
  (void)sessions();
  clock_.advance(39 * kSecond);
  (void)sessions();
  EXPECT_EQ(looks_, 1);
  clock_.advance(1 * kSecond);
  (void)sessions();
  EXPECT_EQ(looks_, 2);
}

TEST_F(PageApiTest, WaitingForTheEngineIsNoWorkOfThePicture) {
  looking_takes_ = 2 * kSecond;
  (void)sessions();
  clock_.advance(1 * kSecond);
  (void)sessions();
  EXPECT_EQ(looks_, 2);
}

TEST_F(PageApiTest, AnEngineThatDidNotAnswerIsAskedAgainAfterASecond) {
  const auto memory = std::exchange(memory_, nullptr);
  looking_takes_ = 2 * kSecond;
  picture_takes_ = 3 * kSecond;
  EXPECT_EQ(sessions()["memory_known"], false);
  clock_.advance(kSecond - 1);
  EXPECT_EQ(sessions()["memory_known"], false);
  EXPECT_EQ(looks_, 1);
  memory_ = memory;
  clock_.advance(1);
  EXPECT_EQ(sessions()["memory_known"], true);
  EXPECT_EQ(looks_, 2);
}

TEST_F(PageApiTest, NoTextOfAPromptIsInAnyAnswer) {
  const auto turn = begin("t1", "<b>\"key\"\n\xFF");
  turn->on_event(started(5, 0));
  turn->started(started(5, 0));
  std::string all = page_->state().body + page_->sessions().body;
  const HttpResponse response = page_->events(get());
  FakeClient client;
  client.on_poll = [&](int poll) {
    if (poll == 2) finish(*turn);
    client.gone = poll > 3;
  };
  response.stream(client);
  all += client.received;
  EXPECT_EQ(all.find("secret"), std::string::npos);
  EXPECT_NE(all.find("\\\"key\\\"\\n"), std::string::npos);
}

TEST_F(PageApiTest, AListenerSeesATurnFromItsBeginningToItsEnd) {
  std::shared_ptr<TurnRecorder> turn;
  const auto events = listen(8, [&](int poll) {
    clock_.advance(100 * kMillisecond);
    if (poll == 2) turn = begin("t1", "mine");
    if (poll == 3) turn->on_event(started(5, 2));
    if (poll == 4) turn->on_event(TurnProgress{.done = 4, .total = 5});
    if (poll == 5) turn->on_token(7);
    if (poll == 7) finish(*turn);
  });
  ASSERT_EQ(names_of(events), (Names{"state", "turn", "turn", "turn", "turn", "ended"}));
  EXPECT_EQ(events[1].data["phase"], "queue");
  EXPECT_EQ(events[2].data["phase"], "prefill");
  EXPECT_EQ(events[2].data["reused_tokens"], 2);
  EXPECT_EQ(events[3].data["done_tokens"], 4);
  EXPECT_EQ(events[4].data["phase"], "decode");
  EXPECT_EQ(events[5].data["id"], "t1");
  EXPECT_EQ(events[5].data["object"], "samovar.turn");
  EXPECT_EQ(events[5].data["status"], "complete");
}

TEST_F(PageApiTest, ATurnThatWaitsIsToldEverySecond) {
  const auto turn = begin("t1");
  const auto events = listen(30, [&](int) { clock_.advance(100 * kMillisecond); });
  int told = 0;
  for (const Event& event : events) told += event.name == "turn" ? 1 : 0;
  EXPECT_EQ(told, 3);
}

TEST_F(PageApiTest, TheStateIsToldWhenItChangesAndElseEveryFifteenSeconds) {
  int told_first = 0;
  const auto events = listen(40, [&](int poll) {
    if (poll > 1) clock_.advance(1 * kSecond);
    if (poll == 8) figures_.cells_used = 9;
    told_first = poll;
  });
  EXPECT_EQ(told_first, 41);
  std::vector<int> at;
  for (const Event& event : events) at.push_back(event.data["server"]["uptime_seconds"]);
  EXPECT_EQ(at, (std::vector<int>{0, 7, 22, 37}));
}

TEST_F(PageApiTest, WhatEndedBeforeSomebodyListenedIsNotTold) {
  finish(*begin("t1"));
  EXPECT_EQ(names_of(listen(3)), Names{"state"});
}

TEST_F(PageApiTest, WhoReadsSlowlyMissesEventsAndKeepsNobodyWaiting) {
  // The listener is inside write() while a hundred turns pass.
  const HttpResponse response = page_->events(get());
  FakeClient client;
  client.on_poll = [&](int poll) {
    if (poll == 2) {
      for (int i = 0; i < 100; ++i) finish(*begin("t" + std::to_string(i)));
    }
    client.gone = poll > 3;
  };
  response.stream(client);
  const auto events = events_of(client.received);
  ASSERT_EQ(events.size(), 1 + TurnBoard::kEndedMax);
  EXPECT_EQ(events.back().data["id"], "t99");
}

TEST_F(PageApiTest, ListenersAreBoundedAndASeatIsFreeWhenItsResponseIsGone) {
  make_page(2);
  auto first = std::make_unique<HttpResponse>(page_->events(get()));
  const HttpResponse second = page_->events(get());
  EXPECT_EQ(page_->listeners(), 2);
  const HttpResponse third = page_->events(get());
  EXPECT_EQ(third.status, 503);
  EXPECT_NE(third.body.find("/v1/samovar/state"), std::string::npos);
  EXPECT_EQ(page_->listeners(), 2);
  first.reset();
  EXPECT_EQ(page_->events(get()).status, 200);
  HttpRequest head = get();
  head.method = "HEAD";
  EXPECT_FALSE(page_->events(head).stream);
}

TEST_F(PageApiTest, ClosingTellsTheStateOnceMoreAndLetsListenersGo) {
  const HttpResponse response = page_->events(get());
  FakeClient client;
  client.on_poll = [&](int poll) {
    ASSERT_LT(poll, 100);
    if (poll == 3) {
      ready_ = false;
      page_->close();
    }
  };
  response.stream(client);
  const auto events = events_of(client.received);
  ASSERT_EQ(names_of(events), (Names{"state", "state"}));
  EXPECT_EQ(events[0].data["server"]["ready"], true);
  EXPECT_EQ(events[1].data["server"]["ready"], false);
}

TEST_F(PageApiTest, WhoComesAfterTheEndIsTurnedAwayAndTakesNoSeat) {
  page_->close();
  const HttpResponse response = page_->events(get());
  EXPECT_EQ(response.status, 503);
  EXPECT_FALSE(response.stream);
  EXPECT_NE(response.body.find("shutting down"), std::string::npos);
  EXPECT_EQ(page_->listeners(), 0);
  EXPECT_EQ(page_->state().status, 200);
}

TEST_F(PageApiTest, EvictionsForTheBudgetAndForAFullDiskAreOneCount) {
  stats_.emplace();
  stats_->evicted = 3;
  stats_->evicted_full_disk = 4;
  EXPECT_EQ(Json::parse(page_->state().body)["store"]["evicted"], 7);
}

}  // namespace
}  // namespace samovar
