// Goal: a recorder's file is a trace that is read back as what was said; it is bounded, sheds with
// a count, lives through a full disk and crashes of the machine, and keeps text out if told to.
#include "replay/trace_recorder.h"

#include <gtest/gtest.h>

#include "replay/histories.h"
#include "replay/trace_reader.h"
#include "tests/support/manual_executor.h"
#include "tests/support/sim_fs.h"

namespace samovar::replay {
namespace {

class TraceRecorderTest : public ::testing::Test {
 protected:
  // Like the machine's, but that a file which is continued is another one: SimFs has no appending.
  FsResult<TraceRecorder::File> open_file() {
    auto made = fs.create("/trace" + std::to_string(files));
    if (!made) return std::unexpected(made.error());
    return TraceRecorder::File{std::move(*made), files++ == 0};
  }

  void start(TraceRecorder::Parts more) {
    more.open = [this] { return open_file(); };
    more.made_by = "test";
    auto opened = TraceRecorder::open(std::move(more));
    ASSERT_TRUE(opened.has_value()) << opened.error().describe();
    recorder = std::move(*opened);
  }
  TraceRecorder::Parts parts() { return {.executor = executor, .clock = clock}; }

  void say(const std::string& id, std::vector<ChatMessage> messages, const std::string& reply) {
    auto request = std::make_shared<ChatRequest>();
    request->messages = std::move(messages);
    EndedTurn turn{.id = id, .session = "s", .dialect = "messages"};
    turn.arrived = clock.now();
    clock.advance(kSecond);
    turn.ended = clock.now();
    turn.request = std::move(request);
    turn.reply.message.content = reply;
    turn.figures.prompt = 7;
    recorder->record(std::move(turn));
    clock.advance(kSecond);
  }

  std::string text() const {
    std::string all;
    for (int i = 0; i < files; ++i) {
      const auto bytes = fs.read_raw("/trace" + std::to_string(i));
      if (bytes) all.append(bytes->begin(), bytes->end());
    }
    return all;
  }
  Trace trace() const {
    auto read = read_trace(text());
    EXPECT_TRUE(read.has_value()) << read.error().describe();
    return read.value_or(Trace());
  }

  static ChatMessage user(const std::string& t) { return {.role = Role::user, .content = t}; }
  static ChatMessage said(const std::string& t) { return {.role = Role::assistant, .content = t}; }

  FakeClock clock;
  SimFs fs{clock};
  ManualExecutor executor;
  int files = 0;
  std::unique_ptr<TraceRecorder> recorder;
};

TEST_F(TraceRecorderTest, ItsFileSaysWhatWasSaid) {
  start(parts());
  say("a", {user("one")}, "first");
  say("b", {user("one"), said("first"), user("two")}, "second");
  executor.run_all();
  const Trace read = trace();
  ASSERT_EQ(read.turns.size(), 2U);
  EXPECT_EQ(read.header.made_by, "test");
  EXPECT_EQ(read.turns[1].after, "a");
  EXPECT_EQ(read.turns[1].wait_ms, 1000);
  EXPECT_EQ(read.turns[1].dialect, "messages");
  EXPECT_EQ(read.turns[1].figures.prompt, 7);
  EXPECT_EQ(Histories(read).recorded_messages(1)[1].content, "first");
  EXPECT_EQ(recorder->counts().written, 2U);
}

TEST_F(TraceRecorderTest, HandingOverDoesNotTouchTheDisk) {
  start(parts());
  const auto writes = fs.calls(FsOp::write);
  say("a", {user("one")}, "first");
  EXPECT_EQ(fs.calls(FsOp::write), writes);
  executor.run_all();
  EXPECT_GT(fs.calls(FsOp::write), writes);
}

TEST_F(TraceRecorderTest, ShedsWhatDoesNotFitAndGoesOn) {
  auto limited = parts();
  limited.turns_max = 3;
  start(std::move(limited));
  for (int i = 0; i < 10; ++i) say("t" + std::to_string(i), {user("q" + std::to_string(i))}, "r");
  EXPECT_EQ(executor.pending(), 3U);
  EXPECT_EQ(recorder->counts().shed, 7U);
  executor.run_all();
  say("later", {user("later")}, "r");
  executor.run_all();
  EXPECT_EQ(trace().turns.size(), 4U);
  EXPECT_EQ(trace().turns.back().id, "later");
}

TEST_F(TraceRecorderTest, BoundsTheBytesThatWait) {
  auto limited = parts();
  limited.bytes_max = 10'000;
  start(std::move(limited));
  for (int i = 0; i < 10; ++i) say("t" + std::to_string(i), {user(std::string(4'000, 'x'))}, "r");
  EXPECT_LT(executor.pending(), 4U);
  EXPECT_GT(executor.pending(), 0U);
  EXPECT_EQ(recorder->counts().shed, 10 - executor.pending());
}

TEST_F(TraceRecorderTest, AFullDiskLosesTurnsAndNothingElse) {
  start(parts());
  say("a", {user("one")}, "first");
  executor.run_all();
  fs.shorten_write(5);  // the line is torn
  say("b", {user("one"), said("first"), user("two")}, "second");
  executor.run_all();
  EXPECT_EQ(recorder->counts().lost, 1U);
  say("c", {user("other")}, "third");  // too soon to try again
  executor.run_all();
  EXPECT_EQ(recorder->counts().lost, 2U);
  clock.advance(10 * kSecond);
  say("d", {user("one"), said("first"), user("two"), said("second"), user("three")}, "fourth");
  say("e", {user("x")}, "y");
  executor.run_all();
  const Trace read = trace();
  ASSERT_EQ(read.turns.size(), 3U);
  EXPECT_EQ(read.notes.size(), 1U);          // the torn line
  EXPECT_TRUE(read.turns[1].after.empty());  // what was lost is followed by nothing
  EXPECT_EQ(read.turns[1].messages.size(), 5U);
  EXPECT_EQ(read.turns[2].id, "e");
  EXPECT_EQ(recorder->counts().written, 3U);
}

TEST_F(TraceRecorderTest, ADiskThatFailsTwiceInARowLeavesATrace) {
  start(parts());
  say("a", {user("one")}, "first");
  executor.run_all();
  for (const char* id : {"b", "c"}) {  // a turn, then the header that was to follow
    fs.shorten_write(5);
    say(id, {user("two")}, "second");
    executor.run_all();
    clock.advance(10 * kSecond);
  }
  EXPECT_EQ(recorder->counts().lost, 2U);
  say("d", {user("three")}, "third");
  executor.run_all();
  const Trace read = trace();
  ASSERT_EQ(read.turns.size(), 2U);
  EXPECT_EQ(read.turns[1].id, "d");
  EXPECT_EQ(read.notes.size(), 1U);
}

TEST_F(TraceRecorderTest, ADiskThatStaysFullIsTriedAgainSometimes) {
  start(parts());
  fs.set_disk_bytes(fs.used_bytes());
  for (int i = 0; i < 20; ++i) {
    say("t" + std::to_string(i), {user(std::string(5'000, 'q'))}, "r");
    executor.run_all();
  }
  EXPECT_EQ(recorder->counts().written, 0U);
  EXPECT_EQ(recorder->counts().lost, 20U);
  fs.set_disk_bytes(1 << 20);
  clock.advance(10 * kSecond);
  say("again", {user("q")}, "r");
  executor.run_all();
  EXPECT_EQ(recorder->counts().written, 1U);
}

TEST_F(TraceRecorderTest, WhatACrashLeavesIsATrace) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    start(parts());
    fs.sync_all();
    for (int i = 0; i < 5; ++i) say("t" + std::to_string(i), {user("q" + std::to_string(i))}, "r");
    executor.run_all();
    const auto path = "/trace" + std::to_string(files - 1);
    const auto bytes = fs.read_raw(path);
    const std::string whole(bytes->begin(), bytes->end());
    for (std::size_t size = whole.find('\n', 1) + 1; size < whole.size(); size += 3 + seed) {
      EXPECT_TRUE(read_trace(whole.substr(0, size)).has_value());
    }
    executor.drop_all();
    recorder.reset();
  }
}

TEST_F(TraceRecorderTest, AFileThatCannotBeOpenedIsAnErrorAtTheStart) {
  fs.fail_next(FsOp::create, FsFault::denied);
  TraceRecorder::Parts broken = parts();
  broken.open = [this] { return open_file(); };
  const auto opened = TraceRecorder::open(std::move(broken));
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().field, "--record");
}

TEST_F(TraceRecorderTest, KeepsTextOutIfToldTo) {
  auto redacting = parts();
  redacting.redact = RedactOptions{.key = "k"};
  start(std::move(redacting));
  say("a", {user("the secret of the house")}, "another secret");
  say("b", {user("the secret of the house"), said("another secret"), user("more")}, "x");
  executor.run_all();
  EXPECT_EQ(text().find("secret"), std::string::npos);
  const Trace read = trace();
  EXPECT_TRUE(read.header.redacted);
  EXPECT_EQ(read.turns[1].after, read.turns[0].id);
  EXPECT_EQ(read.turns[1].returned, Returned::whole);
}

}  // namespace
}  // namespace samovar::replay
