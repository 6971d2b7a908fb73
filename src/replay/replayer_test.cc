// Goal: a replay asks what the trace says, when it says it, with the replies that really came; its
// figures are those of the server and no guesses; failures end a conversation and nothing else.
#include "replay/replayer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/generator.h"
#include "replay/replay_report.h"
#include "replay/target_testing.h"
#include "replay/trace_info.h"

namespace samovar::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

ChatMessage user(const std::string& text) { return {.role = Role::user, .content = text}; }

// Two sessions: "a" with a tool loop and "b".
Trace two_sessions() {
  Trace trace;
  TraceSettings greedy;
  greedy.temperature = 0;
  TraceTurn a{.id = "a1", .session = "a", .messages = {user("question of a")}};
  a.settings = greedy;
  a.reply = TraceReply{
      .message = {.role = Role::assistant, .content = "recorded"}, .finish = "stop", .tokens = {}};
  TraceTurn b = a;
  b.id = "b1";
  b.session = "b";
  b.at_ms = 60'000;
  b.messages = {user("question of b")};
  TraceTurn a2{.id = "a2", .session = "a", .after = "a1"};
  a2.wait_ms = 30'000;
  a2.wait = WaitKind::think;
  a2.keep = 1;
  a2.returned = Returned::whole;
  a2.messages = {user("and then?")};
  TraceTurn a3 = a2;
  a3.id = "a3";
  a3.after = "a2";
  a3.keep = 3;
  trace.turns = {a, b, a2, a3};
  return trace;
}

class ReplayerTest : public ::testing::Test {
 protected:
  ReplayRun run(const Trace& trace, ReplayOptions options = {}) {
    options.threads = 0;
    Replayer replayer(trace, target, clock, options);
    return replayer.run(hooks());
  }
  Replayer::Hooks hooks() {
    return {.progress = [this](const ReplayProgress& now) { progress.push_back(now); },
            .stop = {},
            .wait = [this](Micros until) { clock.advance(until - clock.now()); }};
  }

  FakeClock clock;
  FakeTarget target{clock};
  std::vector<ReplayProgress> progress;
};

TEST_F(ReplayerTest, AsksInTimeAndFeedsRepliesBack) {
  target.content = [](std::size_t i) { return "reply " + std::to_string(i); };
  const ReplayRun done = run(two_sessions());
  ASSERT_EQ(target.asked.size(), 4U);
  EXPECT_EQ(target.at, (std::vector<Micros>{0, 31 * kSecond, 60 * kSecond, 62 * kSecond}));
  const auto& messages = target.asked[1]["messages"];
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[0]["content"], "question of a");
  EXPECT_EQ(messages[1]["role"], "assistant");
  EXPECT_EQ(messages[1]["content"], "reply 0");
  EXPECT_EQ(messages[2]["content"], "and then?");
  EXPECT_EQ(target.asked[1]["prompt_cache_key"], "a");
  EXPECT_EQ(target.asked[1]["temperature"], 0);
  EXPECT_EQ(target.asked[3]["messages"].size(), 5U);
  EXPECT_EQ(progress.back().done, 4U);
  EXPECT_EQ(done.turns[0].outcome, TurnOutcome::whole);
}

TEST_F(ReplayerTest, FeedsRecordedRepliesIfToldTo) {
  run(two_sessions(), {.recorded_replies = true, .sessions_named = false});
  EXPECT_EQ(target.asked[1]["messages"][1]["content"], "recorded");
  EXPECT_FALSE(target.asked[1].contains("prompt_cache_key"));
}

TEST_F(ReplayerTest, AFailureEndsItsConversationOnly) {
  target.fails = [](std::size_t i) { return i == 0; };
  const ReplayRun done = run(two_sessions());
  EXPECT_EQ(done.turns[0].outcome, TurnOutcome::failed);
  EXPECT_EQ(done.turns[1].outcome, TurnOutcome::whole);
  EXPECT_EQ(done.turns[2].outcome, TurnOutcome::left_out);
  EXPECT_EQ(done.turns[3].outcome, TurnOutcome::left_out);
  EXPECT_EQ(progress.back().done, 4U);
  EXPECT_EQ(progress.back().failed, 1U);
  const RunSummary summary = summarise_run(done);
  EXPECT_EQ(summary.failed, 1U);
  EXPECT_EQ(summary.left_out, 2U);
  EXPECT_THAT(report_text(two_sessions(), {done}, false), HasSubstr("turn a1: it broke"));
}

TEST_F(ReplayerTest, TokensBeyondTheNewOnesAreThoseThatAServerLost) {
  const ReplayRun warm = run(two_sessions());
  ASSERT_TRUE(warm.turns[2].beyond.has_value());
  // This server does not keep the cells of its replies, and counts three tokens for each.
  EXPECT_LE(*warm.turns[2].beyond, 20);
  FakeTarget forgetful(clock);
  forgetful.reuse_most = 0;
  const Trace trace = two_sessions();
  Replayer cold(trace, forgetful, clock, {.threads = 0});
  const ReplayRun lost = cold.run(hooks());
  EXPECT_EQ(*lost.turns[0].beyond, 0);
  EXPECT_EQ(*lost.turns[2].beyond, *lost.turns[2].prompt - *lost.turns[2].fresh);
  EXPECT_GT(*lost.turns[2].beyond, 0);
  EXPECT_THAT(violations({lost}, trace, {.beyond = 0}), ::testing::SizeIs(2));
  EXPECT_THAT(violations({lost}, trace, {.beyond = 1'000'000}), IsEmpty());
}

TEST_F(ReplayerTest, WhatAServerDoesNotTellIsNotGuessed) {
  target.tells = false;
  const Trace trace = two_sessions();
  const ReplayRun done = run(trace);
  EXPECT_FALSE(done.turns[2].prompt || done.turns[2].fresh || done.turns[2].beyond);
  EXPECT_FALSE(done.turns[2].prefill || done.turns[2].queue);
  EXPECT_TRUE(done.turns[2].first.has_value());  // the client's own
  EXPECT_THAT(report_text(trace, {done}, true), HasSubstr("–"));
  EXPECT_THAT(report_csv(trace, {done}), HasSubstr("1,a2,a,whole,,,,,1000,,1000,,,,,,,,not_"));
  const auto json = nlohmann::json::parse(report_json(trace, {done}));
  EXPECT_TRUE(json["runs"][0]["turns"][2]["beyond_tokens"].is_null());
  EXPECT_TRUE(json["runs"][0]["summary"]["tokens"]["prompt"].is_null());
  EXPECT_THAT(violations({done}, trace, {.beyond = 5})[0], HasSubstr("tells no tokens"));
}

TEST_F(ReplayerTest, RunsAreComparedUpToTheFirstDifference) {
  const Trace trace = two_sessions();
  target.content = [](std::size_t i) { return i == 5 ? "other words" : "same words"; };
  Replayer replayer(trace, target, clock, {.threads = 0});
  const ReplayRun first = replayer.run(hooks());
  const ReplayRun second = replayer.run(hooks());
  EXPECT_EQ(first.turns[0].sameness, Sameness::not_compared);
  EXPECT_EQ(second.turns[0].sameness, Sameness::equal);
  EXPECT_EQ(second.turns[1].sameness, Sameness::equal);
  EXPECT_EQ(second.turns[2].sameness, Sameness::differs);
  EXPECT_THAT(second.turns[2].difference, HasSubstr("became \""));
  EXPECT_EQ(second.turns[3].sameness, Sameness::after_difference);
  const auto found = violations({first, second}, trace, {.equal = true});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0], HasSubstr("run 2, turn a2"));
}

TEST_F(ReplayerTest, RepliesByChanceAreNotCompared) {
  Trace trace = two_sessions();
  for (TraceTurn& line : trace.turns) {
    if (line.settings) line.settings->temperature = 0.7;
  }
  Replayer replayer(trace, target, clock, {.threads = 0});
  const std::vector<ReplayRun> runs = {replayer.run(hooks()), replayer.run(hooks())};
  EXPECT_EQ(summarise_run(runs[1]).compared, 0U);
  EXPECT_THAT(violations(runs, trace, {.equal = true})[0], HasSubstr("--greedy"));
}

TEST_F(ReplayerTest, ACutReplyIsCutAgainAndGoesOnAsInTheFirstRun) {
  Trace trace = two_sessions();
  trace.turns[0].reply->cut = true;
  trace.turns[0].reply->tokens = 5;
  target.content = [](std::size_t i) { return i < 4 ? "part" : "part and more"; };
  Replayer replayer(trace, target, clock, {.threads = 0});
  const ReplayRun first = replayer.run(hooks());
  EXPECT_EQ(first.turns[0].outcome, TurnOutcome::cut);
  const ReplayRun second = replayer.run(hooks());
  EXPECT_EQ(second.turns[0].sameness, Sameness::equal);
  EXPECT_EQ(target.asked[5]["messages"][1]["content"], "part");
}

TEST_F(ReplayerTest, ThreadsMakeTheSameRequests) {
  const auto trace = generate_trace(
      {.seed = 9, .sessions = 6, .turns = 12, .scale = 0.002, .agents = 0.3, .cuts = 0});
  ASSERT_TRUE(trace.has_value());
  Replayer alone(*trace, target, clock, {.schedule = {.speed = 0}, .threads = 0});
  const ReplayRun one = alone.run(hooks());
  FakeTarget other(clock);
  Replayer many(*trace, other, clock, {.schedule = {.speed = 0}, .threads = 8});
  const ReplayRun eight = many.run({});
  EXPECT_EQ(other.asked.size(), trace->turns.size());
  for (std::size_t i = 0; i < one.turns.size(); ++i) {
    EXPECT_EQ(one.turns[i].reply.content, eight.turns[i].reply.content) << trace->turns[i].id;
    EXPECT_EQ(one.turns[i].prompt, eight.turns[i].prompt);
  }
}

TEST_F(ReplayerTest, SaysHowLateRequestsAre) {
  Trace trace = two_sessions();
  EXPECT_EQ(run(trace).late_max, 0);
  trace.turns[1].at_ms = 0;  // but it is asked behind the first, which takes a second
  const ReplayRun done = run(trace);
  EXPECT_EQ(done.late_max, kSecond);
  EXPECT_THAT(report_text(trace, {done}, false), HasSubstr("up to 1.0 s after they were due"));
}

TEST_F(ReplayerTest, NothingInATraceSteersATerminal) {
  Trace trace = two_sessions();
  trace.header.made_by = "a\x1b[2Jb\xc2\x9b";
  trace.turns[0].id = "a\x1b]0;title\x07";
  trace.turns[2].after = trace.turns[0].id;
  target.fails = [](std::size_t i) { return i == 0; };
  const ReplayRun done = run(trace);
  for (const std::string& text :
       {report_text(trace, {done}, true), report_text(trace, {done}, false),
        info_text(trace, trace_info(trace))}) {
    EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos) << text;
    EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << text;
  }
  EXPECT_THAT(report_text(trace, {done}, false), HasSubstr("turn a?]0;title?: it broke"));
  EXPECT_THAT(info_text(trace, trace_info(trace)), HasSubstr("a?[2Jb?"));
}

TEST_F(ReplayerTest, StopsWhenItIsTold) {
  const Trace trace = two_sessions();
  Replayer replayer(trace, target, clock, {.threads = 0});
  Replayer::Hooks stopping = hooks();
  stopping.stop = [&] { return target.asked.size() >= 2; };
  const ReplayRun done = replayer.run(stopping);
  EXPECT_EQ(target.asked.size(), 2U);
  EXPECT_EQ(done.turns[3].outcome, TurnOutcome::left_out);
}

TEST(CountFresh, ReasoningThatATemplateMayDropLeavesItToTheServer) {
  TurnResult before;
  before.prompt = 100;
  before.replied = 50;
  TurnResult result;
  result.prompt = 130;
  result.computed = 40;
  bench::Answer answer;
  count_fresh({&before, true, true, true}, answer, result);
  EXPECT_FALSE(result.fresh || result.beyond);
  answer.lost = 12;
  count_fresh({&before, true, true, true}, answer, result);
  EXPECT_EQ(result.beyond, 12);
  EXPECT_TRUE(result.beyond_by_server);
  TurnResult plain;
  plain.prompt = 171;
  plain.computed = 25;
  count_fresh({&before, true, true, false}, answer, plain);
  EXPECT_EQ(plain.fresh, 22);  // the reply's last token was not computed
  EXPECT_EQ(plain.beyond, 3);
}

}  // namespace
}  // namespace samovar::replay
