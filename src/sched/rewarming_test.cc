// Goal: each rule of re-warms and of learned divergence, one at a time, on a fake engine whose
// replies depend on every token in memory. Method: conversations whose replies lose a part when
// they become history, as templates drop reasoning.
#include "sched/rewarming.h"

#include "sched/scheduler.h"
#include "tests/support/fake_engine.h"
#include "tests/support/turns.h"

namespace samovar {
namespace {

using SinkPtr = std::shared_ptr<RecordingSink>;

// What a follow-up may compute beyond what is new: the canonical split's cost and the primer.
constexpr Position kSplitCost = 128;

// A tool loop: replies with reasoning and results, in turn. `dropped`: as the template renders it
// once a message of the user follows.
Conversation loop(unsigned seed, bool dropped, int steps = 6) {
  Conversation talk{.messages = {words(400, seed), words(100, seed + 1)}};
  for (int i = 0; i < steps; ++i) {
    const unsigned at = seed + 10 + 2 * static_cast<unsigned>(i);
    Tokens reply = words(200, at);
    if (dropped) reply.erase(reply.begin(), reply.begin() + 120);
    talk.messages.push_back(as_reply(reply));
    talk.messages.push_back(words(150, at + 1));
  }
  return talk;
}

// The history of `talk` as any next message finds it.
Prompt history(const Conversation& talk) {
  Prompt prompt = talk.prompt();
  prompt.tokens.resize(static_cast<std::size_t>(prompt.primer_start));
  prompt.reply_starts.pop_back();
  return prompt;
}

class Rewarms : public testing::TestWithParam<RewindKind> {
 protected:
  void boot(int sequences = 6, Position cells = 40'000, SchedulerOptions options = {}) {
    engine_options.rewind = GetParam();
    engine_options.cells = cells;
    engine_options.ubatch = 256;
    engine_options.sequences = sequences;
    options.parallel = std::min(options.parallel, sequences);
    engine = std::make_unique<FakeEngine>(engine_options, clock);
    scheduler = std::make_unique<Scheduler>(*engine, clock, options);
  }

  SinkPtr send(const Prompt& prompt, std::int64_t max_tokens = 8) {
    TurnRequest request;
    request.prompt = prompt;
    request.max_tokens = max_tokens;
    request.arrived = clock.now();
    auto sampler = engine->make_sampler(request.sampling, prompt.tokens);
    auto sink = std::make_shared<RecordingSink>();
    scheduler->add(std::move(request), std::move(*sampler), sink);
    return sink;
  }
  SinkPtr run(const Prompt& prompt, std::int64_t max_tokens = 8) {
    auto sink = send(prompt, max_tokens);
    while (!sink->ended() && scheduler->step()) {
    }
    EXPECT_TRUE(sink->finished.has_value());
    EXPECT_EQ(sink->reply, text_of(FakeEngine::expected_reply(
                               prompt.tokens, static_cast<std::size_t>(max_tokens))));
    return sink;
  }
  SinkPtr rewarm(const Conversation& talk) {
    TurnRequest request;
    request.kind = TurnKind::rewarm;
    request.prompt = history(talk);
    auto sink = std::make_shared<RecordingSink>();
    scheduler->add_rewarm(std::move(request), sink);
    return sink;
  }
  void idle() {
    while (scheduler->step()) {
    }
  }

  // A loop that ended in a reply; what the next message will find is not in memory yet.
  Conversation talk_that_departs(unsigned seed) {
    run(loop(seed, false).prompt());
    Conversation after = loop(seed, true);
    after.messages.push_back(as_reply(words(90, seed + 90)));
    return after;
  }
  static Prompt with_question(Conversation talk, unsigned seed = 7) {
    talk.messages.push_back(words(20, seed));
    return talk.prompt();
  }

  FakeClock clock;
  FakeEngineOptions engine_options;
  std::unique_ptr<FakeEngine> engine;
  std::unique_ptr<Scheduler> scheduler;
};

INSTANTIATE_TEST_SUITE_P(Kinds, Rewarms,
                         testing::Values(RewindKind::anywhere, RewindKind::snapshot),
                         [](const auto& kind) {
                           return kind.param == RewindKind::anywhere ? "Plain" : "Hybrid";
                         });

TEST_P(Rewarms, TheNextTurnComputesItsNewTokensOnly) {
  boot();
  const Conversation talk = talk_that_departs(100);
  const auto warmed = rewarm(talk);
  idle();
  ASSERT_TRUE(warmed->finished.has_value());
  EXPECT_TRUE(warmed->reply.empty());
  const TurnTimings cost = warmed->timings();
  EXPECT_GT(cost.computed_tokens, 1000);
  const auto next = run(with_question(talk));
  EXPECT_LE(next->timings().computed_tokens, 24 + kSplitCost);
  EXPECT_EQ(next->timings().source, ReuseSource::live);
  EXPECT_EQ(next->timings().rewarmed_tokens, cost.computed_tokens);
  // Counted once, and apart from every turn's own figures.
  EXPECT_EQ(run(with_question(talk))->timings().rewarmed_tokens, 0);
  const RewarmFigures figures = scheduler->rewarm_figures();
  EXPECT_EQ(figures.turns, 1U);
  EXPECT_EQ(figures.finished, 1U);
  EXPECT_EQ(figures.tokens, static_cast<std::uint64_t>(cost.computed_tokens));
  EXPECT_GE(figures.time, cost.prefill);
}

TEST_P(Rewarms, BothLinesAreKept) {
  boot();
  const Conversation talk = talk_that_departs(200);
  rewarm(talk);
  idle();
  EXPECT_LE(run(loop(200, false).prompt())->timings().computed_tokens, kSplitCost);
  EXPECT_LE(run(with_question(talk))->timings().computed_tokens, 24 + kSplitCost);
}

TEST_P(Rewarms, ARequestStopsItWithinOneCallAndItGoesOnAfterwards) {
  boot();
  const Conversation talk = talk_that_departs(300);
  const auto warmed = rewarm(talk);
  scheduler->step();
  scheduler->step();
  const auto done = scheduler->rewarm_figures().tokens;
  ASSERT_GT(done, 0U);
  const auto other = send(Conversation{.messages = {words(600, 9)}}.prompt());
  const int calls = engine->calls();
  scheduler->step();
  EXPECT_EQ(other->starts, 1);
  EXPECT_GT(engine->calls(), calls);
  while (!other->ended()) ASSERT_TRUE(scheduler->step());
  EXPECT_EQ(scheduler->rewarm_figures().tokens, done);
  EXPECT_FALSE(warmed->ended());
  idle();
  ASSERT_TRUE(warmed->finished.has_value());
  EXPECT_EQ(scheduler->rewarm_figures().pauses, 1U);
  // Nothing was computed twice.
  EXPECT_EQ(warmed->starts, 1);
  EXPECT_EQ(warmed->timings().reused_tokens + warmed->timings().computed_tokens,
            warmed->timings().prompt_tokens);
  EXPECT_LE(run(with_question(talk))->timings().computed_tokens, 24 + kSplitCost);
}

TEST_P(Rewarms, ARequestOfItsConversationOvertakesItAndUsesWhatIsThere) {
  boot();
  const Conversation talk = talk_that_departs(400);
  const auto warmed = rewarm(talk);
  for (int i = 0; i < 3; ++i) scheduler->step();
  const auto done = static_cast<Position>(scheduler->rewarm_figures().tokens);
  const auto next = run(with_question(talk));
  ASSERT_TRUE(warmed->failed.has_value());
  EXPECT_EQ(warmed->failed->error.kind, ErrorKind::cancelled);
  EXPECT_EQ(next->timings().rewarmed_tokens, done);
  EXPECT_EQ(next->timings().reused_tokens, warmed->timings().reused_tokens + done);
  idle();
  EXPECT_EQ(static_cast<Position>(scheduler->rewarm_figures().tokens), done);
}

TEST_P(Rewarms, OfOneConversationTheNewestRuns) {
  boot();
  Conversation talk = talk_that_departs(500);
  const auto first = rewarm(talk);
  talk.messages.back() = as_reply(words(95, 501));
  const auto second = rewarm(talk);
  EXPECT_TRUE(first->failed.has_value());
  idle();
  EXPECT_TRUE(second->finished.has_value());
}

TEST_P(Rewarms, EvictsNothingThatIsNotStoredAndTakesNoSequenceThatAWarmSessionWouldMiss) {
  for (const int sequences : {2, 3}) {
    boot(sequences, 40'000, {.parallel = 2});
    Conversation other{.messages = {words(300, 600)}};
    run(other.prompt());
    const Conversation talk = talk_that_departs(610);
    const auto evictions = scheduler->memory().evictions();
    const auto warmed = rewarm(talk);
    idle();
    EXPECT_EQ(scheduler->memory().evictions(), evictions);
    ASSERT_TRUE(warmed->failed.has_value()) << sequences;
    EXPECT_EQ(warmed->failed->error.kind, ErrorKind::overloaded);
    // A third conversation finds a sequence, and the others stay if there is one for each.
    run(Conversation{.messages = {words(50, 620)}}.prompt());
    other.messages.push_back(words(20, 621));
    if (sequences < 3) continue;
    EXPECT_LE(run(other.prompt())->timings().computed_tokens, kSplitCost);
  }
}

TEST_P(Rewarms, TakesTheLastSequenceWhereTheNextTurnThatNeedsOneTakesTheGuest) {
  boot(3, 40'000, {.parallel = 2});
  Conversation other{.messages = {words(9000, 700)}};
  run(other.prompt());
  const Conversation talk = talk_that_departs(710);
  const auto warmed = rewarm(talk);
  idle();
  ASSERT_TRUE(warmed->finished.has_value());
  run(Conversation{.messages = {words(500, 720)}}.prompt());
  other.messages.push_back(words(20, 721));
  EXPECT_LE(run(other.prompt())->timings().computed_tokens, 24 + kSplitCost);
}

TEST_P(Rewarms, ManyTurnsOfOneSessionKeepToTwoSequences) {
  boot(4, 40'000, {.parallel = 2});
  Conversation other{.messages = {words(3000, 800)}};
  run(other.prompt());
  Conversation talk{.messages = {words(400, 801)}};
  for (unsigned turn = 0; turn < 8; ++turn) {
    talk.messages.push_back(words(60, 810 + turn));
    const auto sink = run(talk.prompt());
    EXPECT_LE(sink->timings().computed_tokens, 64 + kSplitCost + (turn > 0 ? 0 : 400)) << turn;
    for (int i = 0; i < 3; ++i) talk.messages.push_back(as_reply(words(150, 830 + 3 * turn + i)));
    const auto warmed = rewarm(talk);
    idle();
    EXPECT_TRUE(warmed->finished.has_value()) << turn;
  }
  other.messages.push_back(words(20, 899));
  EXPECT_LE(run(other.prompt())->timings().computed_tokens, 24 + kSplitCost);
}

TEST_P(Rewarms, DoesNotCountAsUse) {
  boot();
  const Conversation talk = talk_that_departs(900);
  clock.advance(7200 * kSecond);
  const auto used = scheduler->memory().resident(0).last_used;
  rewarm(talk);
  idle();
  for (SeqId id = 0; id < 2; ++id) {
    EXPECT_LE(scheduler->memory().resident(id).last_used, used) << id;
    EXPECT_LE(scheduler->memory().resident(id).turns, 1) << id;
  }
}

TEST_P(Rewarms, LeavesAnEighthOfTheCellsFree) {
  engine_options.prefill_call_us = 0;
  boot(6, 3300);
  const Conversation talk = talk_that_departs(1000);  // 2,600 of them
  const auto warmed = rewarm(talk);
  idle();
  ASSERT_TRUE(warmed->failed.has_value());
  EXPECT_EQ(warmed->failed->error.kind, ErrorKind::overloaded);
  EXPECT_EQ(scheduler->rewarm_figures().turns, 0U);
}

TEST_P(Rewarms, EndsAtOnceWhenTheServerStopsOrItsSinkGivesUp) {
  boot();
  const Conversation talk = talk_that_departs(1100);
  const auto first = rewarm(talk);
  scheduler->step();
  first->cancel = true;
  scheduler->step();
  EXPECT_EQ(first->failed->error.kind, ErrorKind::cancelled);
  const auto second = rewarm(talk);
  scheduler->step();
  scheduler->cancel_rewarms({.kind = ErrorKind::unavailable, .message = "the end"});
  EXPECT_EQ(second->failed->error.kind, ErrorKind::unavailable);
  EXPECT_FALSE(scheduler->rewarms());
  EXPECT_FALSE(scheduler->step());
}

TEST_P(Rewarms, AnEngineErrorEndsItAndNothingElse) {
  int failures = 0;
  for (unsigned seed = 1; seed < 60; ++seed) {
    engine_options.seed = seed;
    engine_options.failure_rate = 0.03;
    boot();
    const auto first = send(loop(100, false).prompt());
    idle();
    Conversation talk = loop(100, true);
    talk.messages.push_back(as_reply(words(90, 190)));
    const auto warmed = rewarm(talk);
    idle();
    ASSERT_TRUE(warmed->ended());
    if (warmed->failed && warmed->failed->error.kind == ErrorKind::internal) ++failures;
    EXPECT_EQ(engine->cells_used(), scheduler->memory().cells().used());
    const Prompt prompt = with_question(talk);
    const auto next = send(prompt);
    idle();
    ASSERT_TRUE(next->ended());
    if (next->finished) {
      EXPECT_EQ(next->reply, text_of(FakeEngine::expected_reply(prompt.tokens, 8)));
    }
  }
  EXPECT_GT(failures, 3);
}

// --- learned divergence -------------------------------------------------------------------------

// A system prompt of about 3,000 tokens, the time at its end, and a question that is new.
Conversation with_clock(unsigned time) {
  Tokens system = words(3000, 1);
  const Tokens clock = words(10, 5000 + time);
  system.insert(system.end(), clock.begin(), clock.end());
  return {.messages = {system, words(300, 2), as_reply(words(100, 3)), words(40, 6000 + time)}};
}

TEST_P(Rewarms, AClockCostsWhatFollowsItFromTheThirdTurnOn) {
  boot(8);
  std::vector<Position> reused;
  for (unsigned turn = 0; turn < 5; ++turn) {
    reused.push_back(run(with_clock(turn).prompt())->timings().reused_tokens);
  }
  for (std::size_t turn = 2; turn < reused.size(); ++turn) {
    EXPECT_GE(reused[turn], 3000 - engine_options.ubatch) << turn;
  }
  const bool plain = GetParam() == RewindKind::anywhere;
  EXPECT_EQ(reused[1] > 0, plain) << "resumed from where nothing was";
}

TEST_P(Rewarms, WhatWasLearnedIsSparedByThinning) {
  if (GetParam() == RewindKind::anywhere) GTEST_SKIP() << "no snapshots";
  boot(8, 120'000, {.anchor_bytes_max = 6000});
  run(with_clock(0).prompt());
  run(with_clock(1).prompt());
  for (unsigned i = 0; i < 10; ++i) {
    run(Conversation{.messages = {words(300, 40 + i), words(300, 60 + i)}}.prompt());
  }
  EXPECT_GE(run(with_clock(2).prompt())->timings().reused_tokens, 3000 - engine_options.ubatch);
}

TEST_P(Rewarms, AReminderThatMovesToTheNewestMessageCostsThatMessage) {
  for (const std::size_t anchors : {std::size_t{5}, std::size_t{1000}}) {
    for (const Position spacing : {0, 96, 200}) {
      boot(6, 60'000,
           {.cut_spacing = spacing, .anchor_bytes_max = anchors * engine_options.snapshot_bytes});
      const Tokens reminder = words(60, 77);
      Conversation talk{.messages = {words(2000, 70)}};
      for (unsigned turn = 0; turn < 4; ++turn) {
        Tokens question = words(150, 80 + turn);
        talk.messages.push_back(question);
        talk.messages.back().insert(talk.messages.back().end(), reminder.begin(), reminder.end());
        const auto sink = run(talk.prompt());
        talk.messages.back() = question;  // the reminder is gone from it in the next turn
        talk.messages.push_back(as_reply(words(150, 90 + turn)));
        // Both questions, the reply between them, the reminder, and what the splits cost.
        const Position most = turn == 0 ? sink->timings().prompt_tokens : 520 + 200;
        EXPECT_LE(sink->timings().computed_tokens, most) << turn << " " << spacing;
      }
    }
  }
}

}  // namespace
}  // namespace samovar
