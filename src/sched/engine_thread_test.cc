// Goal: turns handed in from many threads all end, the queue is bounded, and shutting down loses no
// event. Method: real threads over the fake engine.
#include "sched/engine_thread.h"

#include <atomic>
#include <thread>

#include "tests/support/fake_engine.h"
#include "tests/support/turns.h"

namespace samovar {
namespace {

// A sink that may be watched from another thread.
class WatchedSink final : public TurnSink {
 public:
  void on_event(TurnEvent event) override {
    if (std::holds_alternative<TurnStarted>(event)) started = true;
    if (std::holds_alternative<TurnText>(event)) spoke = true;
    if (const auto* failure = std::get_if<TurnFailed>(&event)) kind = failure->error.kind;
    if (std::holds_alternative<TurnFinished>(event) || std::holds_alternative<TurnFailed>(event)) {
      ended = true;
      ended.notify_all();
    }
  }
  void on_token(Token) override {
    ++tokens;
    tokens.notify_all();
  }
  [[nodiscard]] bool cancelled() const override { return cancel; }
  void wait() const { ended.wait(false); }

  std::atomic<bool> cancel = false;
  std::atomic<bool> started = false;
  std::atomic<bool> spoke = false;
  std::atomic<bool> ended = false;
  std::atomic<int> tokens = 0;
  std::atomic<ErrorKind> kind = ErrorKind::not_found;
};

TurnRequest request_for(unsigned seed, int size = 50) {
  Conversation conversation;
  conversation.messages = {words(size, seed)};
  TurnRequest request;
  request.prompt = conversation.prompt();
  request.max_tokens = 20;
  return request;
}

class EngineThreadTest : public testing::Test {
 protected:
  FakeClock clock_;
  FakeEngine engine_{{.cells = 4096}, clock_};
};

TEST_F(EngineThreadTest, ManyThreadsAllGetTheirEnd) {
  EngineThread thread(engine_, clock_, {.parallel = 3}, 1000);
  std::vector<std::thread> clients;
  std::atomic<int> ended = 0;
  for (unsigned i = 0; i < 8; ++i) {
    clients.emplace_back([&, i] {
      for (unsigned k = 0; k < 20; ++k) {
        auto sink = std::make_shared<WatchedSink>();
        ASSERT_TRUE(thread.submit(request_for(100 * i + k), sink));
        sink->wait();
        ++ended;
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(ended, 160);
  EXPECT_EQ(thread.load(), 0);
}

TEST_F(EngineThreadTest, EverySampledTokenReachesTheSink) {
  EngineThread thread(engine_, clock_, {}, 4);
  const auto sink = std::make_shared<WatchedSink>();
  TurnRequest request = request_for(9);
  request.max_tokens = 7;
  request.sampling.ignore_eos = true;
  ASSERT_TRUE(thread.submit(std::move(request), sink));
  sink->wait();
  EXPECT_EQ(sink->tokens, 7);
}

TEST_F(EngineThreadTest, FullQueueIsRefusedAsOverloaded) {
  EngineThread thread(engine_, clock_, {.parallel = 1}, 2);
  std::vector<std::shared_ptr<WatchedSink>> sinks;
  bool refused = false;
  for (unsigned i = 0; i < 2000 && !refused; ++i) {
    sinks.push_back(std::make_shared<WatchedSink>());
    const auto accepted = thread.submit(request_for(i, 1000), sinks.back());
    if (accepted) continue;
    refused = true;
    EXPECT_EQ(accepted.error().kind, ErrorKind::overloaded);
    sinks.pop_back();
  }
  EXPECT_TRUE(refused);
  for (const auto& sink : sinks) sink->wait();
}

TEST_F(EngineThreadTest, PromptThatCanNeverFitIsRefusedWithBothNumbers) {
  EngineThread thread(engine_, clock_, {}, 4);
  const auto refused = thread.submit(request_for(1, 5000), std::make_shared<WatchedSink>());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::too_large);
  EXPECT_NE(refused.error().message.find("5003"), std::string::npos);
  EXPECT_NE(refused.error().message.find("4096"), std::string::npos);
  EXPECT_EQ(thread.load(), 0);
}

TEST(EngineThreadFigures, SayWhatRunsWaitsAndIsHeldAndAreReadWhileTheEngineComputes) {
  FakeClock clock;
  FakeEngine engine({.cells = 100'000, .never_ends = true}, clock);
  EngineThread thread(engine, clock, {.parallel = 1}, 4);
  EXPECT_EQ(thread.figures().cells_total, 100'000);
  EXPECT_EQ(thread.figures().sequences_used, 0);
  TurnRequest endless = request_for(1);
  endless.max_tokens = std::nullopt;
  const auto running = std::make_shared<WatchedSink>();
  ASSERT_TRUE(thread.submit(std::move(endless), running));
  const auto waiting = std::make_shared<WatchedSink>();
  ASSERT_TRUE(thread.submit(request_for(2), waiting));
  while (thread.figures().decoding != 1) std::this_thread::yield();
  const SchedulerFigures figures = thread.figures();
  EXPECT_EQ(figures.running, 1);
  EXPECT_EQ(figures.waiting, 1);
  EXPECT_EQ(figures.sequences_used, 1);
  EXPECT_GE(figures.cells_used, 50);
  waiting->cancel = true;
  waiting->wait();
  EXPECT_EQ(thread.figures().waiting, 0);
  running->cancel = true;
  running->wait();
  EXPECT_EQ(thread.figures().running, 0) << "as soon as its end was told";
}

TEST_F(EngineThreadTest, GrammarThatDoesNotParseIsRefusedAtOnce) {
  EngineThread thread(engine_, clock_, {}, 4);
  TurnRequest request = request_for(1);
  request.sampling.grammar.gbnf = "bad";
  const auto refused = thread.submit(std::move(request), std::make_shared<WatchedSink>());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "response_format");
  EXPECT_EQ(thread.load(), 0);
}

TEST_F(EngineThreadTest, DrainRefusesNewTurnsAndFinishesRunningOnes) {
  EngineThread thread(engine_, clock_, {}, 4);
  auto sink = std::make_shared<WatchedSink>();
  ASSERT_TRUE(thread.submit(request_for(3), sink));
  thread.close();
  const auto refused = thread.submit(request_for(4), std::make_shared<WatchedSink>());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  sink->wait();
  EXPECT_EQ(sink->kind, ErrorKind::not_found);  // it did not fail
}

TEST(EngineThreadRewarms, AreNoLoadAndEndAtOnceWhenTheServerBeginsToDrain) {
  FakeClock clock;
  FakeEngine engine({.cells = 100'000, .never_ends = true}, clock);
  EngineThread thread(engine, clock, {}, 4);
  TurnRequest endless = request_for(1);
  endless.max_tokens = std::nullopt;
  const auto running = std::make_shared<WatchedSink>();
  ASSERT_TRUE(thread.submit(std::move(endless), running));
  std::vector<std::shared_ptr<WatchedSink>> rewarms;
  for (unsigned i = 0; i < 3; ++i) {
    TurnRequest request = request_for(20 + i);
    request.kind = TurnKind::rewarm;
    rewarms.push_back(std::make_shared<WatchedSink>());
    ASSERT_TRUE(thread.submit(std::move(request), rewarms.back()));
  }
  EXPECT_EQ(thread.load(), 1);
  thread.close();
  for (const auto& sink : rewarms) {
    sink->wait();
    EXPECT_EQ(sink->kind, ErrorKind::unavailable);
    EXPECT_FALSE(sink->spoke);
  }
  EXPECT_FALSE(running->ended);
  TurnRequest late = request_for(30);
  late.kind = TurnKind::rewarm;
  EXPECT_FALSE(thread.submit(std::move(late), std::make_shared<WatchedSink>()));
  running->cancel = true;
  running->wait();
}

TEST(EngineThreadFaults, ExceptionOnTheEngineThreadEndsTheTurnsNotTheServer) {
  FakeClock clock;
  FakeEngine engine({.cells = 4096, .throws_after_calls = 7}, clock);
  EngineThread thread(engine, clock, {}, 100);
  std::vector<std::shared_ptr<WatchedSink>> sinks;
  for (unsigned i = 0; i < 5; ++i) {
    sinks.push_back(std::make_shared<WatchedSink>());
    ASSERT_TRUE(thread.submit(request_for(i, 500), sinks.back()));
  }
  for (const auto& sink : sinks) sink->wait();
  auto after = std::make_shared<WatchedSink>();
  ASSERT_TRUE(thread.submit(request_for(9), after));
  after->wait();
  EXPECT_EQ(after->kind, ErrorKind::not_found);  // it did not fail
  EXPECT_EQ(thread.load(), 0);
}

TEST_F(EngineThreadTest, WhoLooksSeesWhatMemoryHoldsWhileTurnsRun) {
  FakeEngine engine({.cells = 100'000, .never_ends = true}, clock_);
  EngineThread thread(engine, clock_, {}, 4);
  EXPECT_TRUE(thread.look(60 * kSecond)->sequences.empty());
  TurnRequest request = request_for(3);
  const Tokens prompt = request.prompt.tokens;
  request.max_tokens = std::nullopt;
  const auto sink = std::make_shared<WatchedSink>();
  ASSERT_TRUE(thread.submit(std::move(request), sink));
  while (sink->tokens < 2) sink->tokens.wait(sink->tokens);
  const auto picture = thread.look(60 * kSecond);
  ASSERT_EQ(picture->sequences.size(), 1U);
  const HeldSequence& held = picture->sequences.front();
  EXPECT_TRUE(held.running);
  ASSERT_GT(held.tokens.size(), prompt.size());
  EXPECT_TRUE(std::equal(prompt.begin(), prompt.end(), held.tokens.begin()));
  Position cells = 0;
  for (const HeldCells& run : held.cells) cells += run.size;
  EXPECT_EQ(cells, static_cast<Position>(held.tokens.size()));
  ASSERT_FALSE(held.anchors.empty());
  EXPECT_GT(held.anchors.front().bytes, 0U);
  sink->cancel = true;
  sink->wait();
}

TEST_F(EngineThreadTest, ManyMayLookAtOnceAndNobodyWaitsForAThreadThatStopped) {
  EngineThread thread(engine_, clock_, {}, 4);
  std::vector<std::thread> lookers;
  std::atomic<int> seen = 0;
  for (int i = 0; i < 8; ++i) {
    lookers.emplace_back([&] {
      for (int k = 0; k < 20; ++k) seen += thread.look(60 * kSecond) != nullptr ? 1 : 0;
    });
  }
  for (auto& looker : lookers) looker.join();
  EXPECT_EQ(seen, 160);
  thread.stop();
  EXPECT_EQ(thread.look(60 * kSecond), nullptr);
}

TEST_F(EngineThreadTest, StopEndsEveryTurn) {
  std::vector<std::shared_ptr<WatchedSink>> sinks;
  {
    EngineThread thread(engine_, clock_, {.parallel = 1}, 100);
    for (unsigned i = 0; i < 50; ++i) {
      sinks.push_back(std::make_shared<WatchedSink>());
      ASSERT_TRUE(thread.submit(request_for(i, 1500), sinks.back()));
    }
    thread.stop();
  }
  for (const auto& sink : sinks) EXPECT_TRUE(sink->ended);
}

}  // namespace
}  // namespace samovar
