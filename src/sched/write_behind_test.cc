// Goal: sessions reach the disk before they are lost, at the price of few snapshots and of each
// token's K/V once; and no turn ever waits or fails for it. Method: scheduler, fake engine and fake
// clock over a real store in SimFs, whose writes are counted by kind.
#include "sched/write_behind_testing.h"

namespace samovar {
namespace {

// --- when ---------------------------------------------------------------------------------------

TEST_F(WriteBehindTest, AQuietSessionIsWrittenAfterTwoSecondsAndNotBefore) {
  boot();
  Conversation talk = new_talk(400, 1);
  turn(talk, 200);
  pass(1900 * kMillisecond);
  EXPECT_EQ(written.segments + written.snapshots, 0);
  pass(200 * kMillisecond);
  EXPECT_GT(stored(talk), 600);
  EXPECT_EQ(written.snapshots, 3) << "system, end of history, end of reply";
  pass(60 * kSecond);
  EXPECT_EQ(written.snapshots, 3) << "and that is all";
}

TEST_F(WriteBehindTest, BothTipsOfAFreshSessionStayUntilItGoesOn) {
  boot();
  Conversation talk = new_talk(400, 1);
  turn(talk, 200);
  pass(10 * kSecond);
  EXPECT_EQ(rig.store->stats().superseded, 0U);
  EXPECT_EQ(rig.files(".snap").size(), 3U);
}

// Fifty calls in five minutes, 0.8 s of engine time each.
TEST_F(WriteBehindTest, AToolLoopCostsATenthOfASnapshotPerCallAndItsKvOnce) {
  boot();
  Conversation talk = new_talk(18'000, 1);
  for (int call = 0; call < 50; ++call) {
    const Micros began = rig.clock.now();
    turn(talk, call == 0 ? 2000 : 760);
    pass(std::max<Micros>(0, began + 6 * kSecond - rig.clock.now()));
  }
  pass(60 * kSecond);
  EXPECT_LE(written.snapshots, 5);
  const Position total = talk.prompt().size();
  EXPECT_GT(total, 57'000);
  EXPECT_LE(written.segment_bytes, kv_bytes(total) * 102 / 100);
  EXPECT_GE(written.segment_bytes, kv_bytes(total) * 98 / 100) << "everything is there";
  EXPECT_GT(stored(talk), total - 100);
}

TEST_F(WriteBehindTest, AToolLoopWhoseRepliesComeBackChangedWritesItsKvOnceToo) {
  boot();
  Conversation talk = new_talk(18'000, 1);
  for (int call = 0; call < 50; ++call) {
    const Micros began = rig.clock.now();
    turn(talk, call == 0 ? 2000 : 760, false);
    pass(std::max<Micros>(0, began + 6 * kSecond - rig.clock.now()));
  }
  pass(60 * kSecond);
  EXPECT_LE(written.snapshots, 5);
  EXPECT_LE(written.segment_bytes, kv_bytes(talk.prompt().size()) * 102 / 100);
  EXPECT_GT(stored(talk), talk.prompt().size() - 900);
}

TEST_F(WriteBehindTest, ABusySessionIsWrittenAfterAWindowOfEngineTime) {
  boot();
  const Conversation talk{.messages = {words(300, 1), words(50'000, 2)}};  // 50 s
  auto sink = send(talk);
  const auto run_for = [&](Micros time) {
    const Micros until = rig.clock.now() + time;
    while (rig.clock.now() < until && !sink->ended()) step();
  };
  run_for(29 * kSecond);
  EXPECT_EQ(written.snapshots, 0);
  EXPECT_GT(written.segments, 0) << "K/V is written as it comes";
  run_for(5 * kSecond);
  EXPECT_GE(written.snapshots, 1);
  EXPECT_FALSE(sink->ended());
  EXPECT_GT(stored(talk), 24'000);
  finish(*sink);
  EXPECT_TRUE(sink->finished);
}

TEST_F(WriteBehindTest, ASnapshotThatWasSupersededBeforeItWasWrittenIsNeverWritten) {
  boot();
  Conversation talk = new_talk(400, 1);
  turn(talk, 200);
  pass(kSecond);
  turn(talk, 200);
  pass(kSecond);
  const Prompt last = talk.prompt();
  turn(talk, 200);
  pass(20 * kSecond);
  EXPECT_LE(written.snapshots, 3) << "system and the last tips";
  EXPECT_GT(stored(talk), last.size());
}

TEST_F(WriteBehindTest, ASessionThatMustLeaveMemoryIsWrittenFirst) {
  engine_options.cells = 3000;
  engine_options.sequences = 2;
  boot();
  Conversation first = new_talk(300, 1);
  turn(first, 1200);
  Conversation second = new_talk(300, 2);
  turn(second, 2000);  // at once: there is no room for both
  EXPECT_EQ(scheduler->memory().evictions(), 1);
  EXPECT_GT(stored(first), 1400);
  const auto sink = turn(first, 100);
  EXPECT_EQ(sink->timings().source, ReuseSource::store);
  EXPECT_LT(sink->timings().computed_tokens, 200);
}

// What was evicted from the disk while the session was in memory is written when it leaves that.
TEST_F(WriteBehindTest, WhatTheStoreGaveUpMeanwhileIsWrittenAgainWhenTheSessionLeaves) {
  engine_options.cells = 3000;
  engine_options.sequences = 2;
  boot();
  Conversation first = new_talk(300, 1);
  turn(first, 1200);
  pass(10 * kSecond);
  ASSERT_GT(stored(first), 1400);
  for (const char* kind : {".seg", ".snap"}) {
    for (const std::string& file : rig.files(kind)) ASSERT_TRUE(rig.fs.remove(file));
  }
  const auto tokens = first.prompt().tokens;
  {
    const auto lost = rig.store->restore(
        *rig.store->longest(tokens, static_cast<Position>(tokens.size()) - 1), tokens);
    while (lost->state() == StoreRestore::State::waiting) rig.readers.run_one();
  }
  rig.settle();
  ASSERT_EQ(stored(first), 0);
  Conversation second = new_talk(300, 2);
  turn(second, 2000);
  EXPECT_GT(stored(first), 1400);
}

TEST_F(WriteBehindTest, AStoreSmallerThanWhatIsResidentIsNotWrittenInCircles) {
  log_set_level(LogLevel::off);
  engine_options.sequences = 8;
  engine_options.token_bytes = 64;
  rig.options.size_max = 900'000;  // about four of the eight
  boot();
  for (unsigned i = 1; i <= 8; ++i) {
    Conversation talk = new_talk(300, i);
    turn(talk, 3000);
    pass(10 * kSecond);
  }
  const int before = written.segments + written.snapshots;
  pass(600 * kSecond);
  EXPECT_EQ(written.segments + written.snapshots, before);
  EXPECT_GT(rig.store->stats().evicted, 0U);
  log_set_level(LogLevel::info);
}

// Evicted from the disk to make room, and then from memory: the last chance to keep it.
TEST_F(WriteBehindTest, WhatWasEvictedFromTheDiskIsWrittenWhenTheSessionLeavesMemory) {
  log_set_level(LogLevel::off);
  engine_options.cells = 3000;
  engine_options.sequences = 2;
  rig.options.size_max = 20 * 8192;
  boot();
  Conversation first = new_talk(300, 1);
  turn(first, 1200);
  pass(10 * kSecond);
  ASSERT_GT(stored(first), 1400);
  rig.cost = 100'000 * kSecond;  // of others, worth more
  for (int other = 1; other <= 9; ++other) rig.write_settled(testing::talk_of(other, {100}), 100);
  ASSERT_EQ(stored(first), 0);
  pass(10 * kSecond);
  EXPECT_EQ(stored(first), 0) << "in memory it is not written again";
  rig.clock.advance(48 * 3600 * kSecond);
  Conversation second = new_talk(300, 2);
  turn(second, 2000);
  EXPECT_GT(stored(first), 1400);
  log_set_level(LogLevel::info);
}

TEST_F(WriteBehindTest, WhatTheDiskEvictedIsReportedWhenItIsComputedAgain) {
  log_set_level(LogLevel::off);
  engine_options.cells = 3000;
  engine_options.sequences = 2;
  rig.options.size_max = 40 * 8192;
  boot();
  Conversation first = new_talk(300, 1);
  EXPECT_EQ(turn(first, 1200)->started.facts.evicted_disk, 0);
  pass(10 * kSecond);
  Conversation second = new_talk(300, 2);
  turn(second, 2000);
  const Position kept = stored(first);
  ASSERT_GT(kept, 1400);
  rig.cost = 100'000 * kSecond;  // of others, worth more
  for (int other = 1; other <= 19; ++other) rig.write_settled(testing::talk_of(other, {100}), 100);
  ASSERT_EQ(stored(first), 0);
  const auto again = turn(first, 100);
  EXPECT_EQ(again->timings().source, ReuseSource::none);
  EXPECT_TRUE(again->started.facts.store_on);
  EXPECT_EQ(again->started.facts.stored, 0);
  EXPECT_EQ(again->started.facts.evicted_disk, kept);
  EXPECT_GT(again->started.facts.evicted_memory, 1400) << "that was before";
  log_set_level(LogLevel::info);
}

// --- the end ------------------------------------------------------------------------------------

TEST_F(WriteBehindTest, ShutdownWritesEverythingTheMostValuableFirst) {
  options.write_behind.quiet = 60 * kSecond;
  boot();
  Conversation shorter = new_talk(300, 1);
  turn(shorter, 500);
  Conversation longer = new_talk(300, 2);
  turn(longer, 3000);
  ASSERT_EQ(written.snapshots, 0);
  std::vector<std::size_t> sizes;
  scheduler->save_all(10 * kSecond);
  while (rig.writer.run_one()) sizes.push_back(written.order.size());
  EXPECT_GT(stored(shorter), 700);
  EXPECT_GT(stored(longer), 3200);
  // All segments of the longer come before any of the shorter one's: its tips are in one piece.
  const auto first_snapshot = std::ranges::find(written.order, "snap") - written.order.begin();
  EXPECT_GE(first_snapshot, 3);
  restart();
  const auto sink = turn(longer, 100);
  EXPECT_EQ(sink->timings().source, ReuseSource::store);
}

TEST_F(WriteBehindTest, ShutdownKeepsItsDeadlineAndSavesTheMostValuable) {
  engine_options.export_token_us = 1000;
  options.write_behind.quiet = 60 * kSecond;
  options.write_behind.segment_tokens = 2048;
  boot();
  Conversation shorter = new_talk(300, 1);
  turn(shorter, 1500);
  Conversation longer = new_talk(300, 2);
  turn(longer, 3000);
  const Micros began = rig.clock.now();
  scheduler->save_all(4 * kSecond);
  EXPECT_LT(rig.clock.now() - began, 7 * kSecond) << "one piece more than the deadline at most";
  rig.settle();
  EXPECT_GT(stored(longer), 3200);
  EXPECT_LT(stored(shorter), 1700);
}

// --- the window ---------------------------------------------------------------------------------

// Under one long message there is no other anchor: the window makes its own.
TEST_F(WriteBehindTest, APowerCutInALongPrefillCostsTheWindowAtMost) {
  options.anchor_grid = 0;
  options.write_behind.window = 3 * kSecond;  // 3000 tokens here
  boot();
  Conversation talk = new_talk(300, 1);
  talk.messages.push_back(words(20'000, 5));
  const auto sink = send(talk);
  while (sink->progress.empty() || sink->progress.back().done < 15'000) step();
  for (int i = 0; i < 5; ++i) rig.settle();
  lose_power();
  EXPECT_GT(stored(talk), 15'000 - 3000 - 2 * 512);
}

// --- cells --------------------------------------------------------------------------------------

// A running reply takes the cells that a restore was promised: that is nobody's fault, least of all
// the file's.
TEST_F(WriteBehindTest, ARestoreThatRunsShortOfCellsIsPlannedAgainAndLosesNoFile) {
  options.reply_reserve = 1;
  boot();
  Conversation talk = new_talk(300, 1);
  turn(talk, 2000);
  talk.messages.push_back(words(30, 77));
  Conversation other = new_talk(100, 2);
  constexpr std::size_t kReply = 60;
  for (unsigned seed = 3;
       FakeEngine::expected_reply(other.prompt().tokens, kReply).size() < kReply ||
       FakeEngine::expected_reply(other.prompt().tokens, kReply).back() == FakeEngine::kEnd;
       ++seed) {
    other = new_talk(100, seed);
  }
  engine_options.cells = talk.prompt().size() + other.prompt().size() + 12;
  restart();
  const auto files = rig.files(".seg").size();
  const auto running = send(other, kReply);
  while (running->reply.empty()) step();
  const auto restored = send(talk);
  for (int i = 0; i < 30; ++i) scheduler->step();  // the disk is slow
  finish(*running);
  finish(*restored);
  EXPECT_EQ(running->reply, text_of(FakeEngine::expected_reply(other.prompt().tokens, kReply)));
  ASSERT_TRUE(restored->finished);
  EXPECT_EQ(restored->timings().source, ReuseSource::store);
  EXPECT_EQ(restored->reply, text_of(FakeEngine::expected_reply(talk.prompt().tokens, 20)));
  EXPECT_EQ(rig.store->stats().quarantined, 0U);
  EXPECT_GE(rig.files(".seg").size(), files);
}

// --- trouble ------------------------------------------------------------------------------------

TEST_F(WriteBehindTest, AStoreInTroubleNeverFailsOrDelaysATurn) {
  log_set_level(LogLevel::off);
  const auto run = [this](int trouble) {
    rig.fs.clear_faults();
    rig.fs.set_read_only(trouble == 1);
    Store* store = trouble == 0 ? nullptr : rig.store.get();
    start_engine(store);
    const Micros began = rig.clock.now();
    Conversation talk = new_talk(300, 1);
    for (int i = 0; i < 10; ++i) {
      talk.messages.push_back(words(700, static_cast<unsigned>(i + 50)));
      const auto sink = send(talk);
      while (!sink->ended()) {
        scheduler->step();
        if (trouble != 2) rig.settle();  // 2: the writer hangs
      }
      EXPECT_TRUE(sink->finished);
      const Tokens said = FakeEngine::expected_reply(talk.prompt().tokens, 20);
      EXPECT_EQ(sink->reply, text_of(said));
      talk.messages.push_back(as_reply(said));
      for (int wait = 0; wait < 40; ++wait) {
        scheduler->step();
        rig.clock.advance(100 * kMillisecond);
      }
    }
    const Micros took = rig.clock.now() - began;
    scheduler.reset();
    engine.reset();
    return took;
  };
  rig.options.buffer_bytes = 60'000;
  ASSERT_TRUE(rig.open());
  const Micros without = run(0);
  EXPECT_EQ(run(1), without) << "read-only";
  rig.close();
  rig.fs.set_read_only(false);
  ASSERT_TRUE(rig.open());
  EXPECT_EQ(run(2), without) << "behind";
  rig.settle();
  log_set_level(LogLevel::info);
}

TEST_F(WriteBehindTest, WhatFailedToBeWrittenIsWrittenWhenTheDiskIsWell) {
  log_set_level(LogLevel::off);
  boot();
  Conversation talk = new_talk(400, 1);
  turn(talk, 5000);
  rig.fs.fail_next(FsOp::write, FsFault::full, 3, 5);
  pass(300 * kSecond);
  EXPECT_GT(stored(talk), 5400);
  EXPECT_EQ(rig.untidy(), "");
  log_set_level(LogLevel::info);
}

// One reply longer than all buffers together: written in pieces that fit.
TEST_F(WriteBehindTest, AReplyLongerThanTheBuffersIsWrittenInPieces) {
  engine_options.never_ends = true;
  rig.options.buffer_bytes = 2 * 80'000;  // 5000 tokens
  boot();
  const Conversation talk{.messages = {words(300, 1), words(100, 2)}};
  auto sink = send(talk, 8000);
  finish(*sink);
  pass(60 * kSecond);
  Tokens all = talk.prompt().tokens;
  const Tokens said = scheduler->memory().resident(0).tokens;
  const auto chain = rig.store->longest(said, static_cast<Position>(said.size()));
  ASSERT_TRUE(chain);
  EXPECT_GT(chain->position, 8000);
}

// --- long lives ---------------------------------------------------------------------------------

TEST_F(WriteBehindTest, AHundredTurnsOverTwentyRestartsWriteEachTokenOnce) {
  for (const RewindKind kind : {RewindKind::snapshot, RewindKind::anywhere}) {
    for (const bool extend : {true, false}) {
      SCOPED_TRACE(std::string(kind == RewindKind::snapshot ? "hybrid" : "plain") +
                   (extend ? "" : ", replies come back changed"));
      written = {};
      engine_options.rewind = kind;
      rig.options.folder += "x";
      boot();
      Conversation talk = new_talk(600, extend ? 1 : 2);
      int restored = 0;
      for (int i = 0; i < 100; ++i) {
        const auto sink = turn(talk, 300, extend);
        restored += sink->timings().source == ReuseSource::store ? 1 : 0;
        EXPECT_LT(sink->timings().computed_tokens, i == 0 ? 1000 : 500) << "turn " << i;
        if (i % 5 == 4) restart();
      }
      EXPECT_GE(restored, 19);
      const Position total = talk.prompt().size();
      EXPECT_LE(written.segment_bytes, kv_bytes(total) * 105 / 100);
      stop();
      rig.close();
    }
  }
}

TEST_F(WriteBehindTest, AnInterruptedPrefillGoesOnAfterARestart) {
  for (const RewindKind kind : {RewindKind::snapshot, RewindKind::anywhere}) {
    SCOPED_TRACE(kind == RewindKind::snapshot ? "hybrid" : "plain");
    engine_options.rewind = kind;
    rig.options.folder += "x";
    boot();
    const Conversation talk{.messages = {words(300, 1), words(20'000, 2)}};
    auto sink = send(talk);
    const Position size = talk.prompt().size();
    while (sink->progress.empty() || sink->progress.back().done < size * 7 / 10) step();
    sink->cancel = true;
    pass(10 * kSecond);
    ASSERT_TRUE(sink->failed);
    lose_power();
    auto again = send(talk);
    finish(*again);
    ASSERT_TRUE(again->finished);
    EXPECT_EQ(again->timings().source, ReuseSource::store);
    EXPECT_GE(again->timings().reused_tokens, size * 65 / 100);
    EXPECT_EQ(again->reply, text_of(FakeEngine::expected_reply(talk.prompt().tokens, 20)));
    stop();
    rig.close();
  }
}

TEST_F(WriteBehindTest, APowerCutCostsTheLastTwoSecondsOfASession) {
  boot();
  Conversation talk = new_talk(600, 1);
  for (int i = 0; i < 5; ++i) {
    turn(talk, 300);
    pass(40 * kSecond);
    lose_power();
  }
  const auto sink = turn(talk, 300);
  EXPECT_EQ(sink->timings().source, ReuseSource::store);
  EXPECT_LT(sink->timings().computed_tokens, 400);
}

// After a restore there is nothing to write, and the engine thread is left alone.
TEST_F(WriteBehindTest, NothingIsLeftToDoWhenAllIsWritten) {
  boot();
  Conversation talk = new_talk(600, 1);
  turn(talk, 9000);
  restart();
  turn(talk, 100);
  pass(60 * kSecond);
  const int before = written.segments + written.snapshots;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(scheduler->step());
    rig.clock.advance(kSecond);
  }
  EXPECT_EQ(written.segments + written.snapshots, before);
}

TEST_F(WriteBehindTest, ARestoredSessionLeavesTheEngineThreadAloneAtOnce) {
  options.write_behind.quiet = options.write_behind.window = 3600 * kSecond;
  boot();
  Conversation talk = new_talk(600, 1);
  turn(talk, 9000);
  restart();
  turn(talk, 100);
  for (int i = 0; i < 5; ++i) step();
  EXPECT_FALSE(scheduler->step()) << "nothing is due";
}

// A file that was given up while later ones of the session were handed over.
TEST_F(WriteBehindTest, WhatIsLostWhileATaskRunsIsWrittenAgain) {
  log_set_level(LogLevel::off);
  for (std::uint64_t n = 0; n < 12; ++n) {
    rig.options.folder += "x";
    boot();
    Conversation talk = new_talk(600, 1);
    turn(talk, 9000);
    rig.fs.fail_next(FsOp::sync, FsFault::io, n);
    pass(30 * kSecond);
    EXPECT_GT(stored(talk), 9500) << n;
    stop();
    rig.close();
  }
  log_set_level(LogLevel::info);
}

}  // namespace
}  // namespace samovar
