// Goal: every restore that is begun is accepted once or rejected once, with its true reason, bytes
// and time; and one that was given up counts nothing as reused. Method: each way that a restore can
// end, over a store whose disk does what the test says.
#include "base/log.h"
#include "sched/turn_meter.h"
#include "sched/write_behind_testing.h"

namespace samovar {
namespace {

class RestoreMeterTest : public WriteBehindTest {
 protected:
  RestoreMeterTest() { log_set_level(LogLevel::error); }
  ~RestoreMeterTest() override { log_set_level(LogLevel::info); }

  // A conversation that is on disk only, and its next message.
  Conversation stored_talk() {
    Conversation talk = new_talk(300, 1);
    turn(talk, 2000);
    restart();
    talk.messages.push_back(words(30, 77));
    return talk;
  }
  // The last byte of each file of a kind.
  void damage(const std::string& ending) {
    for (const std::string& file : rig.files(ending)) {
      rig.fs.flip_bit(file, 8 * (rig.fs.read_raw(file)->size() - 1));
    }
  }
  std::vector<RestoreFault> faults() const {
    std::vector<RestoreFault> faults;
    for (const auto& [fault, restore] : meter.told().rejected) faults.push_back(fault);
    return faults;
  }
  void expect_all_accounted_for() const {
    const auto told = meter.told();
    EXPECT_EQ(static_cast<std::size_t>(told.tried), told.accepted.size() + told.rejected.size());
  }
};

TEST_F(RestoreMeterTest, AcceptedWithTheBytesThatCameInAndTheTimeItTook) {
  boot();
  const Conversation talk = stored_talk();
  const auto sink = send(talk);
  for (int i = 0; i < 5; ++i) {  // the disk is slow
    scheduler->step();
    rig.clock.advance(kSecond);
  }
  finish(*sink);
  const auto told = meter.told();
  EXPECT_EQ(told.tried, 1);
  ASSERT_EQ(told.accepted.size(), 1U);
  const Position reused = sink->timings().reused_tokens;
  EXPECT_EQ(told.accepted[0].bytes, kv_bytes(reused) + engine_options.snapshot_bytes);
  EXPECT_EQ(told.accepted[0].took, sink->timings().restore);
  EXPECT_GE(told.accepted[0].took, 5 * kSecond);
  const EndedTurn ended = ended_turn(sink->timings(), TurnEnd::complete);
  EXPECT_EQ(ended.from, ReusedFrom::disk);
  EXPECT_EQ(ended.reused, reused);
  EXPECT_EQ(ended.restore, told.accepted[0].took);
  expect_all_accounted_for();
}

TEST_F(RestoreMeterTest, ADamagedFileIsARejectedRestoreAndNoHit) {
  boot();
  const Conversation talk = stored_talk();
  damage(".seg");
  const auto sink = send(talk);
  finish(*sink);
  ASSERT_TRUE(sink->finished);
  const auto told = meter.told();
  EXPECT_TRUE(told.accepted.empty());
  ASSERT_FALSE(told.rejected.empty());
  for (const RestoreFault fault : faults()) EXPECT_EQ(fault, RestoreFault::damaged);
  const EndedTurn ended = ended_turn(sink->timings(), TurnEnd::complete);
  EXPECT_EQ(ended.reused, 0);
  EXPECT_EQ(ended.computed, ended.offered);
  EXPECT_TRUE(ended.restore.has_value()) << "the time it took was taken";
  expect_all_accounted_for();
}

// Some parts were in the engine already when the bad one came.
TEST_F(RestoreMeterTest, WhatWasTakenInBeforeABadPartIsCountedAsWasted) {
  boot();
  Conversation talk = stored_talk();
  damage(".snap");
  const auto sink = send(talk);
  finish(*sink);
  const auto told = meter.told();
  ASSERT_FALSE(told.rejected.empty());
  EXPECT_EQ(faults().front(), RestoreFault::damaged);
  EXPECT_EQ(ended_turn(sink->timings(), TurnEnd::complete).reused,
            sink->timings().prompt_tokens - sink->timings().computed_tokens);
  expect_all_accounted_for();
}

TEST_F(RestoreMeterTest, AMissingAndAnUnreadableFileAreTold) {
  boot();
  const Conversation talk = stored_talk();
  rig.fs.fail_next(FsOp::read, FsFault::io);
  finish(*send(talk));
  ASSERT_EQ(faults().size(), 1U);
  EXPECT_EQ(faults().front(), RestoreFault::unreadable);

  Conversation other = new_talk(300, 5);
  turn(other, 1500);
  restart();
  other.messages.push_back(words(30, 78));
  for (const std::string& file : rig.files(".seg")) ASSERT_TRUE(rig.fs.remove(file));
  const auto sink = send(other);
  finish(*sink);
  EXPECT_EQ(faults().back(), RestoreFault::missing);
  EXPECT_EQ(sink->timings().reused_tokens, 0);
  expect_all_accounted_for();
}

TEST_F(RestoreMeterTest, AClientThatLeavesInTheMiddleRejectsItsRestore) {
  boot();
  const Conversation talk = stored_talk();
  const auto sink = send(talk);
  scheduler->step();
  rig.clock.advance(3 * kSecond);
  sink->cancel = true;
  scheduler->step();
  ASSERT_TRUE(sink->failed);
  const auto told = meter.told();
  ASSERT_EQ(told.rejected.size(), 1U);
  EXPECT_EQ(told.rejected[0].first, RestoreFault::turn_ended);
  EXPECT_GE(told.rejected[0].second.took, 3 * kSecond);
  const EndedTurn ended = ended_turn(sink->timings(), end_of(sink->failed->error));
  EXPECT_EQ(ended.end, TurnEnd::cancelled);
  EXPECT_EQ(ended.reused, 0);
  EXPECT_GE(ended.restore.value_or(0), 3 * kSecond);
  EXPECT_FALSE(ended.prefill.has_value());
  expect_all_accounted_for();
}

TEST_F(RestoreMeterTest, CellsThatRunningTurnsNeedAreAReasonOfTheirOwn) {
  options.reply_reserve = 1;
  boot();
  Conversation talk = new_talk(300, 1);
  turn(talk, 2000);
  talk.messages.push_back(words(30, 77));
  Conversation other = new_talk(100, 2);
  constexpr std::size_t kReply = 60;
  for (unsigned seed = 3; FakeEngine::expected_reply(other.prompt().tokens, kReply).size() < kReply;
       ++seed) {
    other = new_talk(100, seed);
  }
  engine_options.cells = talk.prompt().size() + other.prompt().size() + 12;
  restart();
  const auto running = send(other, kReply);
  while (running->reply.empty()) step();
  const auto restored = send(talk);
  while (running->sampled.size() + 4 < kReply) scheduler->step();  // the disk is slow
  finish(*running);
  finish(*restored);
  ASSERT_TRUE(restored->finished);
  ASSERT_FALSE(faults().empty());
  EXPECT_EQ(faults().front(), RestoreFault::no_room);
  EXPECT_EQ(meter.told().accepted.size(), 1U) << "the turn found room later";
  EXPECT_EQ(restored->timings().restores, meter.told().tried);
  expect_all_accounted_for();
}

TEST_F(RestoreMeterTest, TheTimeToWriteEveryFileIsToldThoseThatFailToo) {
  boot();
  Conversation talk = new_talk(300, 1);
  turn(talk, 2000);
  pass(10 * kSecond);
  const auto files = rig.files(".seg").size() + rig.files(".snap").size();
  EXPECT_GE(meter.told().written.size(), files);
  const auto before = meter.told().written.size();
  rig.fs.fail_next(FsOp::write, FsFault::io);
  turn(talk, 1500);
  pass(60 * kSecond);
  EXPECT_GT(meter.told().written.size(), before);
  EXPECT_EQ(rig.store->stats().write_errors, 1U);
}

}  // namespace
}  // namespace samovar
