// Goal: each rule of the scheduler, one at a time, on a fake engine whose replies depend on every
// token in memory: a wrong restore gives a wrong reply.
#include "sched/scheduler.h"

#include "tests/support/fake_engine.h"
#include "tests/support/turns.h"

namespace samovar {
namespace {

using SinkPtr = std::shared_ptr<RecordingSink>;

// Everything a test needs, built for either kind of model.
class Bench {
 public:
  explicit Bench(FakeEngineOptions engine_options = {}, SchedulerOptions options = {})
      : engine(engine_options, clock), scheduler(engine, clock, options) {}

  SinkPtr send(const Prompt& prompt, std::int64_t max_tokens = 8) {
    TurnRequest request;
    request.prompt = prompt;
    request.max_tokens = max_tokens;
    request.arrived = clock.now();
    auto sampler = engine.make_sampler(request.sampling, prompt.tokens);
    auto sink = std::make_shared<RecordingSink>();
    scheduler.add(std::move(request), std::move(*sampler), sink);
    return sink;
  }

  SinkPtr run(const Prompt& prompt, std::int64_t max_tokens = 8) {
    auto sink = send(prompt, max_tokens);
    while (!sink->ended() && scheduler.step()) {
    }
    EXPECT_TRUE(sink->finished.has_value());
    EXPECT_EQ(sink->reply, text_of(FakeEngine::expected_reply(
                               prompt.tokens, static_cast<std::size_t>(max_tokens))));
    EXPECT_EQ(engine.cells_used(), scheduler.memory().cells().used());
    return sink;
  }

  FakeClock clock;
  FakeEngine engine;
  Scheduler scheduler;
};

// A chat of `count` messages of about `size` tokens.
Conversation chat(int count, int size, unsigned seed) {
  Conversation conversation;
  for (int i = 0; i < count; ++i) {
    conversation.messages.push_back(words(size + i % 7, seed + static_cast<unsigned>(i)));
  }
  return conversation;
}

// A chat to which the fake model has at least `tokens` tokens to say.
Prompt talkative(int count, int size, std::size_t tokens) {
  for (unsigned seed = 1;; ++seed) {
    Prompt prompt = chat(count, size, seed).prompt();
    if (FakeEngine::expected_reply(prompt.tokens, tokens).size() == tokens) return prompt;
  }
}

// What a follow-up may compute beyond what is new: the canonical split's cost and the primer.
constexpr Position kSplitCost = 128;

class EveryKindOfModel : public testing::TestWithParam<RewindKind> {
 protected:
  [[nodiscard]] FakeEngineOptions options() const {
    FakeEngineOptions options;
    options.rewind = GetParam();
    options.cells = 40'000;
    options.ubatch = 512;
    options.sequences = 6;
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKindOfModel,
                         testing::Values(RewindKind::anywhere, RewindKind::snapshot),
                         [](const auto& kind) {
                           return kind.param == RewindKind::anywhere ? "Plain" : "Hybrid";
                         });

TEST_P(EveryKindOfModel, FollowUpComputesItsNewTokensOnly) {
  Bench bench(options());
  Conversation conversation = chat(30, 200, 1);
  const auto first = bench.run(conversation.prompt());
  EXPECT_EQ(first->timings().reused_tokens, 0);
  const Position before = conversation.prompt().primer_start;
  conversation.messages.push_back(as_reply(words(5, 100)));  // as the template renders it
  conversation.messages.push_back(words(40, 101));           // the question
  const auto second = bench.run(conversation.prompt());
  EXPECT_EQ(second->timings().computed_tokens, conversation.prompt().size() - before);
}

TEST_P(EveryKindOfModel, ReplyThatIsSentBackAsSampledExtendsTheLiveSequence) {
  Bench bench(options());
  Prompt prompt = chat(4, 200, 1).prompt();
  const Tokens reply = FakeEngine::expected_reply(prompt.tokens, 8);
  bench.run(prompt);
  prompt.tokens.insert(prompt.tokens.end(), reply.begin(), reply.end());
  const Position said = prompt.size();
  prompt.message_starts.push_back(prompt.size());
  prompt.tokens.push_back(FakeEngine::kMessage);
  prompt.primer_start = prompt.size();
  const auto next = bench.run(prompt);
  EXPECT_EQ(next->timings().source, ReuseSource::live);
  // The last sampled token was not forwarded, so it is computed now.
  EXPECT_EQ(next->timings().reused_tokens, said - 1);
}

TEST_P(EveryKindOfModel, RegenerationAndRetryReuseTheHistory) {
  Bench bench(options());
  const Prompt prompt = chat(20, 150, 5).prompt();
  bench.run(prompt);
  const auto again = bench.run(prompt);
  EXPECT_LE(again->timings().computed_tokens, kSplitCost);
  EXPECT_GE(again->timings().computed_tokens, 1);
}

TEST_P(EveryKindOfModel, EditInTheMiddleResumesBeforeTheEditedMessage) {
  Bench bench(options());
  Conversation conversation = chat(30, 200, 7);
  bench.run(conversation.prompt());
  const Position edited = conversation.prompt().message_starts[14];
  conversation.messages[14] = words(210, 500);
  const auto next = bench.run(conversation.prompt());
  EXPECT_LE(next->timings().computed_tokens, conversation.prompt().size() - edited + kSplitCost);
}

TEST_P(EveryKindOfModel, MessageStartThatIsNoCutIsStoodForByTheCutBeforeIt) {
  Bench bench(options());
  Conversation conversation;
  // 560 tokens: the grid cuts at 512, 48 tokens before the next message, which is then no cut.
  for (unsigned i = 0; i < 12; ++i) conversation.messages.push_back(words(559, 70 + i));
  bench.run(conversation.prompt());
  for (std::size_t edited = 3; edited < 12; edited += 4) {
    Conversation other = conversation;
    other.messages[edited] = words(559, 800 + static_cast<unsigned>(edited));
    const auto next = bench.run(other.prompt());
    EXPECT_LE(next->timings().computed_tokens,
              other.prompt().size() - other.prompt().message_starts[edited] + kSplitCost);
  }
}

TEST_P(EveryKindOfModel, BranchAndBackKeepsBothBranchesWarm) {
  Bench bench(options());
  Conversation trunk = chat(30, 200, 9);
  bench.run(trunk.prompt());
  Conversation branch = trunk;
  branch.messages.resize(15);
  branch.messages.push_back(words(200, 600));
  const auto other = bench.run(branch.prompt());
  EXPECT_EQ(other->timings().source, ReuseSource::fork);
  trunk.messages.push_back(words(20, 601));
  trunk.messages.push_back(words(20, 602));
  const auto back = bench.run(trunk.prompt());
  EXPECT_LE(back->timings().computed_tokens, 50 + kSplitCost);
}

TEST_P(EveryKindOfModel, SecondSessionSharesTheSystemPromptOfARunningOne) {
  Bench bench(options());
  Conversation one = chat(6, 700, 11);
  Conversation two;
  two.messages = {one.messages[0], words(100, 700)};
  const auto first = bench.send(one.prompt(), 50);
  for (int i = 0; i < 5; ++i) bench.scheduler.step();
  const auto second = bench.run(two.prompt());
  EXPECT_EQ(second->timings().source, ReuseSource::fork);
  EXPECT_GE(second->timings().reused_tokens, 700 - kSplitCost);
  while (bench.scheduler.step()) {
  }
  EXPECT_EQ(first->reply, text_of(FakeEngine::expected_reply(one.prompt().tokens, 50)));
}

TEST_P(EveryKindOfModel, ShortSideRequestsCostALongSessionNothing) {
  Bench bench(options());
  Conversation session = chat(40, 200, 13);
  bench.run(session.prompt());
  for (unsigned i = 0; i < 20; ++i) bench.run(chat(2, 30, 1000 + 10 * i).prompt());
  session.messages.push_back(words(10, 14));
  const auto next = bench.run(session.prompt());
  EXPECT_LE(next->timings().computed_tokens, 20 + kSplitCost);
}

TEST_P(EveryKindOfModel, InterruptedPrefillGoesOnWhereItStopped) {
  Bench bench(options());
  const Prompt prompt = chat(40, 200, 15).prompt();
  const auto first = bench.send(prompt);
  for (int i = 0; i < 20; ++i) bench.scheduler.step();
  ASSERT_FALSE(first->ended());
  const Position done = first->progress.back().done;
  first->cancel = true;
  bench.scheduler.step();
  ASSERT_TRUE(first->failed.has_value());
  EXPECT_EQ(first->failed->error.kind, ErrorKind::cancelled);
  const auto second = bench.run(prompt);
  EXPECT_GE(second->timings().reused_tokens, done);
}

TEST_P(EveryKindOfModel, InterruptedReplyKeepsItsPrompt) {
  Bench bench(options());
  const Prompt prompt = chat(10, 200, 17).prompt();
  const auto first = bench.send(prompt, 1000);
  while (first->reply.empty()) ASSERT_TRUE(bench.scheduler.step());
  if (first->ended()) GTEST_SKIP() << "the reply was a single token";
  first->cancel = true;
  bench.scheduler.step();
  const auto second = bench.run(prompt);
  EXPECT_LE(second->timings().computed_tokens, kSplitCost);
}

TEST_P(EveryKindOfModel, CancelledInTheQueueNeverRuns) {
  Bench bench(options(), {.parallel = 1});
  const auto running = bench.send(chat(3, 200, 19).prompt(), 30);
  const auto waiting = bench.send(chat(3, 200, 21).prompt());
  bench.scheduler.step();
  waiting->cancel = true;
  while (bench.scheduler.step()) {
  }
  EXPECT_TRUE(running->finished.has_value());
  EXPECT_TRUE(waiting->failed.has_value());
  EXPECT_EQ(waiting->starts, 0);
}

TEST_P(EveryKindOfModel, EngineErrorInPrefillIsSurvivedOnce) {
  auto failing = options();
  failing.failure_rate = 0.02;
  for (unsigned seed = 1; seed < 40; ++seed) {
    failing.seed = seed;
    Bench bench(failing);
    const Prompt prompt = chat(20, 200, 23).prompt();
    const auto sink = bench.send(prompt);
    while (!sink->ended() && bench.scheduler.step()) {
    }
    ASSERT_TRUE(sink->ended());
    if (sink->finished) {
      EXPECT_EQ(sink->reply, text_of(FakeEngine::expected_reply(prompt.tokens, 8)));
    }
    EXPECT_EQ(bench.engine.cells_used(), bench.scheduler.memory().cells().used());
  }
}

TEST_P(EveryKindOfModel, ForkThatFailsIsForgottenAndThePromptIsComputed) {
  auto failing = options();
  failing.forks_fail = true;
  Bench bench(failing);
  Conversation conversation = chat(20, 200, 51);
  bench.run(conversation.prompt());
  conversation.messages[8] = words(200, 52);
  bench.run(conversation.prompt());  // checks the reply
}

TEST_P(EveryKindOfModel, FiguresOfACancelledTurnSayWhatItGotDone) {
  Bench bench(options());
  const auto sink = bench.send(chat(40, 200, 53).prompt());
  for (int i = 0; i < 5; ++i) bench.scheduler.step();
  const Position done = sink->progress.back().done;
  sink->cancel = true;
  bench.scheduler.step();
  EXPECT_EQ(sink->timings().reused_tokens, 0);
  EXPECT_EQ(sink->timings().computed_tokens, done);
}

TEST(Scheduler, PromptThatFindsRoomOvertakesOneThatWaitsForCellsABoundedNumberOfTimes) {
  FakeEngineOptions options;
  options.cells = 3000;
  options.sequences = 8;
  Bench bench(options, {.parallel = 4, .reply_reserve = 16});
  const Prompt talker = talkative(8, 180, 100);
  const auto running = bench.send(talker, 100);
  bench.scheduler.step();
  const auto large = bench.send(chat(12, 180, 4000).prompt(), 4);
  const auto small = bench.send(chat(2, 20, 5000).prompt(), 4);
  while (!small->ended()) ASSERT_TRUE(bench.scheduler.step());
  EXPECT_FALSE(running->ended());
  EXPECT_EQ(large->starts, 0);
  std::vector<SinkPtr> flood;
  for (unsigned i = 0; i < 60; ++i) flood.push_back(bench.send(chat(2, 20, 6000 + i).prompt(), 4));
  while (bench.scheduler.step()) {
  }
  EXPECT_TRUE(large->finished.has_value());
  for (const auto& sink : flood) EXPECT_TRUE(sink->finished.has_value());
}

TEST(Scheduler, PromptThatOvertakesEvictsNothing) {
  FakeEngineOptions options;
  options.cells = 3000;
  options.sequences = 3;
  Bench bench(options, {.parallel = 2, .reply_reserve = 16});
  Conversation session = chat(6, 180, 61);  // idle, and taken up again below
  bench.run(session.prompt());
  const Prompt talker = talkative(8, 180, 100);
  const auto running = bench.send(talker, 100);
  bench.scheduler.step();
  session.messages.push_back(words(700, 62));
  const auto waits = bench.send(session.prompt(), 4);
  const auto side = bench.send(chat(3, 150, 7000).prompt(), 4);  // fits only where the session is
  while (!running->ended()) {
    ASSERT_TRUE(bench.scheduler.step());
    ASSERT_EQ(side->starts, 0);
  }
  while (bench.scheduler.step()) {
  }
  EXPECT_GE(waits->timings().reused_tokens, 6 * 180);
  EXPECT_TRUE(side->finished.has_value());
}

TEST_P(EveryKindOfModel, WhatHadToLeaveMemoryIsReportedWhenItIsComputedAgain) {
  FakeEngineOptions small = options();
  small.cells = 3000;
  Bench bench(small);
  Conversation session = chat(6, 180, 61);
  const auto first = bench.run(session.prompt());
  EXPECT_EQ(first->started.facts.evicted_memory, 0);
  for (unsigned i = 0; i < 3; ++i) bench.run(chat(12, 180, 4000 + 100 * i).prompt());
  ASSERT_GT(bench.scheduler.memory().evictions(), 0);
  session.messages.push_back(words(50, 62));
  const auto again = bench.run(session.prompt());
  EXPECT_EQ(again->timings().reused_tokens, 0);
  EXPECT_GT(again->started.facts.evicted_memory, 1000);
  EXPECT_LE(again->started.facts.evicted_memory, first->timings().prompt_tokens);
  EXPECT_FALSE(again->started.facts.store_on);
  EXPECT_EQ(again->started.facts.evicted_disk, 0);
  const auto stranger = bench.run(chat(6, 180, 9000).prompt());
  EXPECT_EQ(stranger->started.facts.evicted_memory, 0) << "it never was there";
}

TEST(Scheduler, TextHeldForAStopStringIsDeliveredWhenTheTurnFails) {
  Bench bench;
  Prompt prompt;
  Tokens reply;
  for (unsigned seed = 1; reply.size() < 30; ++seed) {
    prompt = chat(2, 100, seed).prompt();
    reply = FakeEngine::expected_reply(prompt.tokens, 30);
  }
  TurnRequest request;
  request.prompt = prompt;
  request.stop = {" " + std::to_string(reply[2]) + " never"};
  auto sink = std::make_shared<RecordingSink>();
  bench.scheduler.add(request, std::move(*bench.engine.make_sampler({}, {})), sink);
  const std::string three = text_of(Tokens(reply.begin(), reply.begin() + 3));
  while (sink->reply.size() < text_of(Tokens(reply.begin(), reply.begin() + 2)).size()) {
    bench.scheduler.step();
  }
  bench.scheduler.step();
  bench.scheduler.fail_all({.kind = ErrorKind::unavailable, .message = "stop"});
  ASSERT_TRUE(sink->failed.has_value());
  EXPECT_TRUE(sink->reply.starts_with(three));
}

TEST(Scheduler, LongPrefillLeavesARunningReplyItsShare) {
  FakeEngineOptions options;
  options.cells = 60'000;
  options.ubatch = 512;
  Bench bench(options, {.parallel = 2, .decode_share = 0.5});
  // A prompt whose reply is long enough to be in the middle of it.
  const Prompt talker = talkative(2, 100, 120);
  const auto reply = bench.send(talker, 120);
  while (reply->reply.empty()) bench.scheduler.step();
  const auto prefill = bench.send(chat(100, 300, 900).prompt(), 1);
  const Micros began = bench.clock.now();
  const auto spoken = [&] { return std::ranges::count(reply->reply, ' '); };
  const auto before = spoken();
  while (!prefill->ended() && !reply->ended()) bench.scheduler.step();
  const double decode_alone = static_cast<double>(bench.clock.now() - began) / 1000.0;
  EXPECT_GE(static_cast<double>(spoken() - before), 0.45 * decode_alone);
  EXPECT_GT(prefill->progress.size(), 1U);
}

TEST(Scheduler, ShortPromptOvertakesALongOneButDoesNotStarveIt) {
  FakeEngineOptions options;
  options.cells = 60'000;
  options.ubatch = 512;
  options.sequences = 8;
  Bench bench(options, {.parallel = 4});
  const auto slow = bench.send(chat(60, 300, 31).prompt(), 1);
  bench.scheduler.step();
  int answered = 0;
  for (unsigned i = 0; i < 30; ++i) {
    const auto quick = bench.send(chat(2, 200, 2000 + 10 * i).prompt(), 1);
    while (!quick->ended()) bench.scheduler.step();
    if (!slow->ended()) ++answered;
  }
  EXPECT_GT(answered, 5);
  EXPECT_GT(slow->progress.back().done, 2000);
}

TEST(Scheduler, RunningSequencesAreNeverEvictedWhenCellsRunOut) {
  FakeEngineOptions options;
  options.cells = 1500;
  options.sequences = 4;
  Bench bench(options, {.parallel = 3, .reply_reserve = 16});
  std::vector<SinkPtr> sinks;
  std::vector<Prompt> prompts;
  for (unsigned i = 0; i < 12; ++i) {
    prompts.push_back(chat(3, 100 + static_cast<int>(i) * 10, 3000 + 10 * i).prompt());
    sinks.push_back(bench.send(prompts.back(), 40));
  }
  while (bench.scheduler.step()) {
  }
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    ASSERT_TRUE(sinks[i]->finished.has_value());
    EXPECT_EQ(sinks[i]->reply, text_of(FakeEngine::expected_reply(prompts[i].tokens, 40)));
  }
}

TEST(Scheduler, ReplyEndsWithLengthWhenTheContextIsFull) {
  FakeEngineOptions options;
  options.cells = 300;
  Bench bench(options);
  const Prompt prompt = talkative(2, 140, 60);
  const auto sink = bench.send(prompt, 1000);
  while (bench.scheduler.step()) {
  }
  ASSERT_TRUE(sink->finished.has_value());
  EXPECT_EQ(sink->finished->reason, FinishReason::length);
  const auto fits = static_cast<std::size_t>(options.cells - prompt.size() + 1);
  EXPECT_EQ(sink->reply, text_of(FakeEngine::expected_reply(prompt.tokens, fits)));
}

TEST(Scheduler, StopStringEndsTheReplyAndIsNotDelivered) {
  Bench bench;
  Prompt prompt;
  Tokens reply;
  for (unsigned seed = 1; reply.size() < 6; ++seed) {
    prompt = chat(2, 100, seed).prompt();
    reply = FakeEngine::expected_reply(prompt.tokens, 8);
  }
  TurnRequest request;
  request.prompt = prompt;
  request.stop = {" " + std::to_string(reply[3])};
  request.sampling.top_logprobs = 0;
  auto sink = std::make_shared<RecordingSink>();
  bench.scheduler.add(request, std::move(*bench.engine.make_sampler({}, {})), sink);
  while (bench.scheduler.step()) {
  }
  ASSERT_TRUE(sink->finished.has_value());
  EXPECT_EQ(sink->finished->reason, FinishReason::stop);
  EXPECT_EQ(sink->reply, text_of(Tokens(reply.begin(), reply.begin() + 3)));
  EXPECT_EQ(sink->samples.size(), 3U);
}

TEST(Scheduler, TimingsAddUpAndNeverMixPrefillWithDecode) {
  FakeEngineOptions options;
  options.ubatch = 64;
  Bench bench(options);
  const Prompt prompt = chat(4, 100, 41).prompt();
  const auto sink = bench.run(prompt, 5);
  const TurnTimings& timings = sink->timings();
  EXPECT_EQ(timings.prompt_tokens, timings.reused_tokens + timings.computed_tokens);
  EXPECT_GE(timings.prefill, prompt.size() * options.prefill_token_us);
  EXPECT_GE(timings.first_token, timings.prefill);
  EXPECT_EQ(timings.decode, (timings.reply_tokens - 1) * options.decode_call_us);
}

TEST_P(EveryKindOfModel, PublishedFiguresAreThoseOfTheBooks) {
  Bench bench(options());
  const auto sink = bench.send(chat(12, 200, 71).prompt(), 8);
  bool restored = false;
  while (bench.scheduler.step()) {
    const SchedulerFigures figures = bench.scheduler.figures();
    EXPECT_EQ(figures.running, figures.restoring + figures.prefilling + figures.decoding);
    EXPECT_EQ(figures.cells_used, bench.engine.cells_used());
    EXPECT_EQ(figures.anchor_bytes, bench.scheduler.memory().anchors().bytes());
    restored = restored || figures.restoring > 0;
  }
  EXPECT_FALSE(restored) << "there is no store";
  ASSERT_TRUE(sink->ended());
  const SchedulerFigures idle = bench.scheduler.figures();
  EXPECT_EQ(idle.running, 0);
  EXPECT_EQ(idle.sequences_used, 1);
  EXPECT_EQ(idle.anchors > 0, idle.anchor_bytes > 0);
}

TEST(Scheduler, AnchorMemoryBudgetHoldsAndKeepsTheNewestAnchor) {
  FakeEngineOptions options;
  options.cells = 40'000;
  options.ubatch = 512;
  Bench bench(options, {.anchor_bytes_max = 8 * options.snapshot_bytes});
  Conversation conversation = chat(40, 200, 43);
  bench.run(conversation.prompt());
  EXPECT_LE(bench.scheduler.memory().anchors().bytes(), 8 * options.snapshot_bytes);
  conversation.messages.push_back(words(20, 44));
  const auto next = bench.run(conversation.prompt());
  EXPECT_LE(next->timings().computed_tokens, 40 + kSplitCost);
}

}  // namespace
}  // namespace samovar
