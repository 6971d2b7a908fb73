// Goal: every accepted turn is told to the meter once, however it ends, with the phases it reached
// and the tokens it really reused; a refused one is told as refused, a re-warm not at all. Method:
// the conversion by hand, and real threads over the fake engine.
#include "sched/turn_meter.h"

#include <atomic>
#include <thread>

#include "base/log.h"
#include "sched/engine_thread.h"
#include "tests/support/fake_engine.h"
#include "tests/support/recording_meter.h"
#include "tests/support/turns.h"

namespace samovar {
namespace {

TurnTimings timings() {
  TurnTimings timings;
  timings.render = 1;
  timings.queue = 2;
  timings.plan = 3;
  timings.restore = 4;
  timings.prefill = 5;
  timings.first_token = 15;
  timings.prompt_tokens = 100;
  timings.reused_tokens = 60;
  timings.rewarmed_tokens = 20;
  timings.computed_tokens = 40;
  timings.reply_tokens = 3;
  timings.starts = 1;
  timings.source = ReuseSource::fork;
  return timings;
}

TEST(EndedTurns, OfAWholeTurnEverythingIsTold) {
  const EndedTurn turn = ended_turn(timings(), TurnEnd::complete);
  EXPECT_EQ(turn.render, 1);
  EXPECT_EQ(turn.queue, 2);
  EXPECT_EQ(turn.plan, 3);
  EXPECT_EQ(turn.restore, 4);
  EXPECT_EQ(turn.prefill, 5);
  EXPECT_EQ(turn.first_token, 15);
  EXPECT_EQ(turn.offered, turn.reused + turn.computed);  // I5
  EXPECT_EQ(turn.from, ReusedFrom::fork);
  EXPECT_EQ(turn.rewarmed, 20);
}

TEST(EndedTurns, WhatWasFoundAndNeverComputedFromIsNotReused) {
  TurnTimings cut = timings();
  cut.computed_tokens = cut.reply_tokens = 0;
  const EndedTurn turn = ended_turn(cut, TurnEnd::cancelled);
  EXPECT_EQ(turn.reused, 0);
  EXPECT_EQ(turn.rewarmed, 0);
  EXPECT_EQ(turn.offered, 100);
  EXPECT_FALSE(turn.prefill || turn.first_token);
  EXPECT_TRUE(turn.plan && turn.restore);
}

TEST(EndedTurns, NothingIsBroughtIntoTheLiveSequence) {
  TurnTimings live = timings();
  live.source = ReuseSource::live;
  live.restore = 0;
  EXPECT_FALSE(ended_turn(live, TurnEnd::complete).restore.has_value());
  live.restores = 1;  // but one was tried before
  EXPECT_TRUE(ended_turn(live, TurnEnd::complete).restore.has_value());
}

TEST(EndedTurns, ARewindThatFailedTookItsTimeThoughNothingIsReused) {
  TurnTimings turn = timings();
  turn.source = ReuseSource::none;
  turn.reused_tokens = 0;
  EXPECT_EQ(ended_turn(turn, TurnEnd::complete).restore, 4);
}

TEST(EndedTurns, ErrorsHaveTheirNames) {
  EXPECT_EQ(end_of({.kind = ErrorKind::cancelled}), TurnEnd::cancelled);
  EXPECT_EQ(end_of({.kind = ErrorKind::unavailable}), TurnEnd::shutdown);
  EXPECT_EQ(end_of({.kind = ErrorKind::internal}), TurnEnd::failed);
  EXPECT_EQ(refusal_of({.kind = ErrorKind::too_large}), Refusal::too_large);
  EXPECT_EQ(refusal_of({.kind = ErrorKind::overloaded}), Refusal::queue_full);
  EXPECT_EQ(refusal_of({.kind = ErrorKind::invalid_argument}), Refusal::invalid);
  EXPECT_EQ(refusal_of({.kind = ErrorKind::unavailable}), Refusal::unavailable);
}

class TurnMeterTest : public testing::Test {
 protected:
  class Sink final : public TurnSink {
   public:
    void on_event(TurnEvent event) override {
      if (std::holds_alternative<TurnFinished>(event) ||
          std::holds_alternative<TurnFailed>(event)) {
        ended = true;
        ended.notify_all();
      }
    }
    void on_token(Token) override { ++tokens; }
    [[nodiscard]] bool cancelled() const override { return cancel; }
    std::atomic<bool> cancel = false;
    std::atomic<bool> ended = false;
    std::atomic<int> tokens = 0;
  };

  static TurnRequest request_for(unsigned seed, int size = 50) {
    TurnRequest request;
    request.prompt = Conversation{.messages = {words(size, seed)}}.prompt();
    request.max_tokens = 20;
    request.render_time = 7;
    return request;
  }
  std::shared_ptr<Sink> send(EngineThread& thread, TurnRequest request) {
    auto sink = std::make_shared<Sink>();
    EXPECT_TRUE(thread.submit(std::move(request), sink));
    return sink;
  }

  RecordingMeter meter_;
  FakeClock clock_;
};

TEST_F(TurnMeterTest, ATurnIsToldBeforeItsReaderLearnsOfItsEndAndEveryTokenAsItComes) {
  FakeEngine engine({.cells = 4096, .never_ends = true}, clock_);
  EngineThread thread(engine, clock_, {}, 4, {}, meter_);
  const auto sink = send(thread, request_for(1));
  sink->ended.wait(false);
  const auto told = meter_.told();
  ASSERT_EQ(told.ended.size(), 1U);
  EXPECT_EQ(told.ended[0].end, TurnEnd::complete);
  EXPECT_EQ(told.ended[0].render, 7);
  EXPECT_EQ(told.generated, sink->tokens);
  EXPECT_EQ(told.steps.size(), 19U) << "the first token comes with the prefill";
  EXPECT_EQ(told.steps[0], FakeEngineOptions{}.decode_call_us);
}

TEST_F(TurnMeterTest, TurnsThatEndInTheQueueAreToldWithTheirWait) {
  FakeEngine engine({.cells = 100'000, .never_ends = true}, clock_);
  EngineThread thread(engine, clock_, {.parallel = 1}, 8, {}, meter_);
  TurnRequest endless = request_for(1);
  endless.max_tokens = std::nullopt;
  const auto running = send(thread, std::move(endless));
  const auto waiting = send(thread, request_for(2));
  while (running->tokens < 50) std::this_thread::yield();
  waiting->cancel = true;
  waiting->ended.wait(false);
  {
    const auto told = meter_.told();
    ASSERT_EQ(told.ended.size(), 1U);
    EXPECT_EQ(told.ended[0].end, TurnEnd::cancelled);
    EXPECT_GT(told.ended[0].queue, 0);
    EXPECT_FALSE(told.ended[0].plan.has_value());
    EXPECT_EQ(told.ended[0].offered, request_for(2).prompt.size());
    EXPECT_EQ(told.ended[0].computed, 0);
  }
  const auto late = send(thread, request_for(3));
  thread.stop();
  EXPECT_TRUE(late->ended && running->ended);
  const auto told = meter_.told();
  ASSERT_EQ(told.ended.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(told.ended[i].end, TurnEnd::shutdown);
    EXPECT_EQ(told.ended[i].offered, request_for(1).prompt.size());
  }
}

TEST_F(TurnMeterTest, RefusedTurnsAreToldByReasonAndAreNoTurns) {
  FakeEngine engine({.cells = 4096, .never_ends = true}, clock_);
  EngineThread thread(engine, clock_, {.parallel = 1}, 0, {}, meter_);
  const auto refuse = [&](TurnRequest request) {
    EXPECT_FALSE(thread.submit(std::move(request), std::make_shared<Sink>()));
  };
  refuse(request_for(1, 5000));
  TurnRequest bad = request_for(1);
  bad.sampling.grammar.gbnf = "bad";
  refuse(std::move(bad));
  TurnRequest endless = request_for(1);
  endless.max_tokens = std::nullopt;
  const auto running = send(thread, std::move(endless));
  while (running->tokens < 2) std::this_thread::yield();
  refuse(request_for(2));
  thread.close();
  refuse(request_for(3));
  TurnRequest rewarm = request_for(4);
  rewarm.kind = TurnKind::rewarm;
  refuse(std::move(rewarm));  // no turn, and in no figure
  EXPECT_EQ(meter_.told().refused, (std::vector{Refusal::too_large, Refusal::invalid,
                                                Refusal::queue_full, Refusal::unavailable}));
  EXPECT_TRUE(meter_.told().ended.empty());
  running->cancel = true;
  running->ended.wait(false);
}

// However often turns go back to the queue, each is told once and its tokens add up.
TEST_F(TurnMeterTest, TurnsThatArePlannedAgainAndEnginesThatFailCountOnce) {
  log_set_level(LogLevel::off);
  FakeEngine engine({.cells = 1500, .failure_rate = 0.01, .seed = 3}, clock_);
  EngineThread thread(engine, clock_, {.parallel = 3, .reply_reserve = 16}, 100, {}, meter_);
  std::vector<std::shared_ptr<Sink>> sinks;
  for (unsigned i = 0; i < 40; ++i) {
    sinks.push_back(send(thread, request_for(i % 8, 200 + 40 * (static_cast<int>(i) % 8))));
  }
  for (const auto& sink : sinks) sink->ended.wait(false);
  const auto told = meter_.told();
  EXPECT_EQ(told.ended.size(), sinks.size());
  int tokens = 0;
  for (const auto& sink : sinks) tokens += sink->tokens;
  EXPECT_EQ(told.generated, tokens);
  for (const EndedTurn& turn : told.ended) {
    if (turn.end == TurnEnd::complete) {
      EXPECT_EQ(turn.offered, turn.reused + turn.computed);
    }
    EXPECT_GE(turn.offered, turn.reused + turn.computed);
  }
  log_set_level(LogLevel::info);
}

TEST_F(TurnMeterTest, ARewarmIsInItsOwnFiguresOnly) {
  FakeEngine engine({.cells = 40'000, .sequences = 6}, clock_);
  EngineThread thread(engine, clock_, {}, 4, {}, meter_);
  send(thread, request_for(1, 1000))->ended.wait(false);
  TurnRequest request = request_for(1, 1000);
  request.kind = TurnKind::rewarm;
  Conversation longer{.messages = {words(1000, 1), words(900, 2)}};
  request.prompt = longer.prompt();
  request.prompt.tokens.resize(static_cast<std::size_t>(request.prompt.primer_start));
  const auto warmed = send(thread, std::move(request));
  warmed->ended.wait(false);
  EXPECT_GT(thread.rewarm_figures().tokens, 800U);
  EXPECT_EQ(meter_.told().ended.size(), 1U);
  EXPECT_TRUE(meter_.told().refused.empty());
}

// A turn waits from when it was handed in, not from when a busy engine thread has seen it.
TEST_F(TurnMeterTest, TheWaitBeginsWhenTheTurnIsHandedIn) {
  FakeEngine engine({.cells = 4096}, clock_);
  Scheduler scheduler(engine, clock_, {});
  TurnRequest request = request_for(1);
  clock_.advance(kSecond);
  request.submitted = clock_.now();
  clock_.advance(2 * kSecond);  // the engine computes
  auto sampler = engine.make_sampler(request.sampling, request.prompt.tokens);
  const auto sink = std::make_shared<RecordingSink>();
  scheduler.add(std::move(request), std::move(*sampler), sink);
  while (scheduler.step()) {
  }
  EXPECT_EQ(sink->timings().queue, 2 * kSecond);
}

}  // namespace
}  // namespace samovar
