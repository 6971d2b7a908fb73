// Goal: the folder never takes more than it may, temporaries included; what is needed stays; and a
// day's writes are bounded whatever the clock does (S6). Method: small budgets, and a look at the
// disk at every operation.
#include <algorithm>

#include "base/log.h"
#include "store/store.h"
#include "tests/support/store_rig.h"

namespace samovar {
namespace {

using namespace testing;
using State = StoreRestore::State;

constexpr std::uint64_t kFile = 8192;  // a segment or snapshot of the rig: header and payload
constexpr std::uint64_t kLockFile = 4096;
constexpr std::int64_t kDay = 86'400;

class StoreBudgetTest : public ::testing::Test {
 protected:
  void open(std::uint64_t files) {
    rig.options.size_max = files * kFile + kLockFile;
    ASSERT_TRUE(rig.open());
  }
  static Talk small_talk(int seed) { return talk_of(seed, {100}); }
  StoreStats stats() const { return rig.store->stats(); }
  void watch_the_disk() {
    rig.fs.set_hook([this](FsOp, const std::string&, std::uint64_t) -> std::optional<FsFault> {
      most_ = std::max(most_, rig.fs.used_bytes());
      return std::nullopt;
    });
  }

  StoreRig rig;
  std::uint64_t most_ = 0;
};

TEST_F(StoreBudgetTest, TheFolderNeverTakesMoreThanItMay) {
  log_set_level(LogLevel::off);
  open(20);
  watch_the_disk();
  std::mt19937 random(1);
  for (int i = 1; i <= 200; ++i) {
    rig.write(small_talk(i), 100);
    if (random() % 4 == 0) rig.settle();
    if (random() % 8 == 0) rig.restore_any(small_talk(1 + static_cast<int>(random() % i)));
    rig.clock.advance(20 * kSecond);
  }
  rig.settle();
  most_ = std::max(most_, rig.fs.used_bytes());
  EXPECT_LE(most_, rig.options.size_max);
  EXPECT_GT(stats().evicted, 100U);
  EXPECT_EQ(rig.untidy(), "");
  rig.restore_any(small_talk(200));
  log_set_level(LogLevel::info);
}

TEST_F(StoreBudgetTest, OnceItIsFullItIsEmptiedToTheLowWaterMark) {
  open(100);
  for (int i = 1; i <= 50; ++i) ASSERT_TRUE(rig.write_settled(small_talk(i), 100));
  EXPECT_EQ(stats().evicted, 0U);
  rig.clock.advance(3600 * kSecond);
  ASSERT_TRUE(rig.write_settled(small_talk(51), 100));
  const std::uint64_t low = stats().bytes;
  EXPECT_LE(low, rig.options.size_max * 9 / 10);
  EXPECT_GE(low, rig.options.size_max * 8 / 10);
  ASSERT_TRUE(rig.write_settled(small_talk(52), 100));
  EXPECT_EQ(stats().bytes, low + 2 * kFile) << "and then nothing goes for a while";
  EXPECT_EQ(rig.restore(small_talk(51)), 100);
}

TEST_F(StoreBudgetTest, WhatHadToMakeRoomIsKnownUntilItIsThereAgain) {
  open(20);
  const Talk first = small_talk(1);
  const auto evicted = [&](const Talk& talk) { return rig.store->evicted(talk.tokens, 1000); };
  ASSERT_TRUE(rig.write_settled(first, 100));
  EXPECT_EQ(evicted(first), 0);
  for (int i = 2; rig.offered(first) > 0 && i < 100; ++i) {
    rig.clock.advance(3600 * kSecond);
    ASSERT_TRUE(rig.write_settled(small_talk(i), 100));
  }
  ASSERT_EQ(rig.offered(first), 0);
  EXPECT_EQ(evicted(first), 100);
  EXPECT_EQ(evicted(small_talk(1000)), 0) << "it never was there";
  ASSERT_TRUE(rig.write_settled(first, 100));
  EXPECT_EQ(evicted(first), 0);
}

TEST_F(StoreBudgetTest, ABudgetThatWasLoweredHoldsFromTheStart) {
  open(100);
  for (int i = 1; i <= 30; ++i) ASSERT_TRUE(rig.write_settled(small_talk(i), 100));
  rig.close();
  rig.clock.advance(3600 * kSecond);
  open(10);
  EXPECT_LE(rig.fs.used_bytes(), rig.options.size_max);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreBudgetTest, QuarantineCountsAndGoesFirst) {
  open(12);
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(rig.write_settled(small_talk(i), 100));
  rig.fs.flip_bit(rig.path_of(BlobKind::segment, small_talk(1), 100), 8 * 5000);
  EXPECT_EQ(rig.restore_any(small_talk(1)), 0);
  EXPECT_EQ(rig.untidy(), "") << "what is in quarantine counts";
  rig.clock.advance(3600 * kSecond);
  ASSERT_TRUE(rig.write_settled(small_talk(6), 100));
  ASSERT_TRUE(rig.write_settled(small_talk(7), 100));
  EXPECT_LE(rig.fs.used_bytes(), rig.options.size_max);
  EXPECT_EQ(rig.untidy(), "");
  for (int i = 3; i <= 7; ++i) EXPECT_EQ(rig.restore(small_talk(i)), 100) << i;
}

TEST_F(StoreBudgetTest, AFullDiskEmptiesTheQuarantineAndCountsIt) {
  open(100);
  for (int i = 1; i <= 5; ++i) ASSERT_TRUE(rig.write_settled(small_talk(i), 100));
  rig.fs.flip_bit(rig.path_of(BlobKind::segment, small_talk(1), 100), 8 * 5000);
  EXPECT_EQ(rig.restore_any(small_talk(1)), 0);
  rig.fs.fail_next(FsOp::write, FsFault::full);
  rig.write_settled(small_talk(9), 100);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreBudgetTest, PinnedCheckpointsStay) {
  open(100);
  const Talk pinned = small_talk(1);
  ASSERT_TRUE(rig.write_settled(pinned, 100));
  const std::string name = rig.path_of(BlobKind::segment, pinned, 100);
  rig.close();
  const std::string line = name.substr(name.rfind('/') + 1, 64) + "\n";
  rig.fs.write_raw("/disk/store/pins", {reinterpret_cast<const std::uint8_t*>(line.data()), 65});
  rig.clock.advance(3600 * kSecond);
  open(8);
  for (int i = 2; i <= 20; ++i) {
    ASSERT_TRUE(rig.write_settled(small_talk(i), 100));
    rig.clock.advance(3600 * kSecond);
  }
  EXPECT_EQ(rig.restore(pinned), 100);
  EXPECT_GT(stats().evicted, 20U);
}

TEST_F(StoreBudgetTest, AQueueLargerThanTheBudgetIsWrittenPieceByPiece) {
  open(40);
  for (int i = 1; i <= 60; ++i) ASSERT_TRUE(rig.write(small_talk(i), 100));
  watch_the_disk();
  rig.settle();
  EXPECT_LE(most_, rig.options.size_max);
  EXPECT_EQ(stats().trouble, "");
  EXPECT_EQ(stats().shed, 0U);
  EXPECT_GT(stats().entries, 30U);
  EXPECT_EQ(rig.restore(small_talk(60)), 100);
  EXPECT_EQ(rig.untidy(), "");
}

// Otherwise what is given up is handed over again at once, for ever.
TEST_F(StoreBudgetTest, WhenNothingMayGoWritingRests) {
  open(100);
  ASSERT_TRUE(rig.write_settled(small_talk(1), 100));
  const std::string name = rig.path_of(BlobKind::segment, small_talk(1), 100);
  rig.close();
  const std::string line = name.substr(name.rfind('/') + 1, 64) + "\n";
  rig.fs.write_raw("/disk/store/pins", {reinterpret_cast<const std::uint8_t*>(line.data()), 65});
  open(3);
  rig.write_settled(small_talk(2), 100);
  EXPECT_EQ(stats().shed, 2U);
  EXPECT_FALSE(rig.store->accepts(true));
  EXPECT_NE(stats().trouble, "");
  EXPECT_EQ(rig.restore(small_talk(1)), 100);
}

TEST_F(StoreBudgetTest, ARunningRestoreKeepsItsFiles) {
  open(8);
  const Talk talk = talk_of(1, {100, 200, 300});
  ASSERT_TRUE(rig.write_settled(talk, 300));
  rig.clock.advance(7200 * kSecond);
  auto restore = rig.store->restore(*rig.store->longest(talk.tokens, 300), talk.tokens);
  EXPECT_EQ(restore->state(), State::waiting);
  for (int i = 2; i <= 10; ++i) {
    rig.write(small_talk(i), 100);
    rig.writer.run_all();
    rig.clock.advance(1200 * kSecond);
  }
  EXPECT_GT(stats().evicted, 2U);
  while (restore->state() != State::done) {
    if (restore->state() == State::waiting) {
      ASSERT_TRUE(rig.readers.run_one());
      continue;
    }
    ASSERT_EQ(restore->state(), State::ready) << restore->error();
    (void)restore->take();
  }
  restore->succeeded();
  EXPECT_LE(rig.fs.used_bytes(), rig.options.size_max);
}

// Found, then evicted before the restore took hold: a failed restore, not a wrong one.
TEST_F(StoreBudgetTest, WhatWasEvictedBetweenFindingAndRestoringFailsCleanly) {
  open(8);
  const Talk talk = talk_of(1, {100, 200, 300});
  ASSERT_TRUE(rig.write_settled(talk, 300));
  auto chain = rig.store->longest(talk.tokens, 300);
  rig.clock.advance(7200 * kSecond);
  for (int i = 2; i <= 10; ++i) {
    rig.write_settled(small_talk(i), 100);
    rig.clock.advance(1200 * kSecond);
  }
  ASSERT_EQ(rig.offered(talk), 0);
  const auto restore = rig.store->restore(*chain, talk.tokens);
  EXPECT_EQ(restore->state(), State::failed);
  EXPECT_NE(restore->error(), "");
}

TEST_F(StoreBudgetTest, ARestoreThatWasLetGoDoesNotMindThatItsFilesWereEvicted) {
  open(8);
  const Talk talk = talk_of(1, {100, 200, 300});
  ASSERT_TRUE(rig.write_settled(talk, 300));
  rig.clock.advance(7200 * kSecond);
  // It is let go while a read is under way.
  auto restore = rig.store->restore(*rig.store->longest(talk.tokens, 300), talk.tokens);
  EXPECT_EQ(restore->state(), State::waiting);
  bool once = true;
  rig.fs.set_hook([&](FsOp op, const std::string&, std::uint64_t) -> std::optional<FsFault> {
    if (op != FsOp::open || !std::exchange(once, false)) return std::nullopt;
    restore.reset();
    for (int i = 2; i <= 10; ++i) {
      rig.write(small_talk(i), 100);
      rig.writer.run_all();
      rig.clock.advance(1200 * kSecond);
    }
    return std::nullopt;
  });
  rig.readers.run_all();
  rig.fs.clear_faults();
  EXPECT_EQ(rig.offered(talk), 0);
  EXPECT_EQ(stats().restore_failures, 0U);
  rig.settle();
  EXPECT_EQ(rig.untidy(), "");
}

// What is evicted to make room is gone on purpose: sessions in memory are not told to write it
// again, or a store that is smaller than they are would be written in circles.
TEST_F(StoreBudgetTest, EvictionIsNoLoss) {
  open(8);
  const std::uint64_t before = rig.store->losses();
  for (int i = 1; i <= 20; ++i) {
    ASSERT_TRUE(rig.write_settled(small_talk(i), 100));
    rig.clock.advance(1200 * kSecond);
  }
  EXPECT_GT(stats().evicted, 10U);
  EXPECT_EQ(rig.store->losses(), before);
}

TEST_F(StoreBudgetTest, EvictionGoesByUseAlthoughTheClockJumps) {
  for (const std::int64_t jump : {std::int64_t{-400 * kDay}, std::int64_t{400 * kDay}}) {
    StoreRig one;
    one.options.size_max = 20 * kFile + kLockFile;
    ASSERT_TRUE(one.open());
    for (int i = 1; i <= 9; ++i) {
      ASSERT_TRUE(one.write_settled(small_talk(i), 100));
      one.clock.advance(1200 * kSecond);
    }
    one.time.jump(jump);
    for (int round = 0; round < 3; ++round) ASSERT_EQ(one.restore(small_talk(1)), 100);
    one.settle();
    for (int i = 10; i <= 14; ++i) {
      ASSERT_TRUE(one.write_settled(small_talk(i), 100)) << jump;
      one.clock.advance(1200 * kSecond);
    }
    EXPECT_LE(one.fs.used_bytes(), one.options.size_max);
    EXPECT_EQ(one.restore(small_talk(1)), 100) << "the one that was used, clock " << jump;
    EXPECT_EQ(one.restore(small_talk(14)), 100) << "the newest, clock " << jump;
    EXPECT_EQ(one.untidy(), "");
  }
}

// --- a day's writes
// -------------------------------------------------------------------------------

class StoreDayTest : public StoreBudgetTest {
 protected:
  // `files` segments or snapshots a day.
  void open_for(std::uint64_t files) {
    rig.options.writes_per_day = files * kFile;
    open(1000);
    // Begin at midnight.
    rig.time.jump(kDay - rig.time.wall_seconds() % kDay);
  }
  // Writes talks until it is refused; how many bytes that were.
  std::uint64_t write_all(bool urgent) {
    const std::uint64_t before = stats().bytes_written;
    for (int i = 0; i < 100 && rig.store->accepts(urgent); ++i) {
      rig.write(small_talk(++next_), 100, AnchorKind::history_end, urgent);
      rig.settle();
    }
    return stats().bytes_written - before;
  }
  int next_ = 0;
};

TEST_F(StoreDayTest, FromEightyPercentOnOnlyWhatLeavesMemoryIsWritten) {
  open_for(40);
  const std::uint64_t usual = write_all(false);
  EXPECT_GE(usual, 32 * kFile * 9 / 10);
  EXPECT_LE(usual, 34 * kFile);
  EXPECT_FALSE(rig.store->accepts(false));
  EXPECT_TRUE(rig.store->accepts(true));
  const std::uint64_t urgent = write_all(true);
  EXPECT_GT(urgent, 4 * kFile);
  EXPECT_LE(usual + urgent, 42 * kFile);
  EXPECT_FALSE(rig.store->accepts(true));
}

TEST_F(StoreDayTest, WhatIsQueuedCountsToo) {
  open_for(40);
  int taken = 0;
  for (int i = 1; i <= 100; ++i) taken += rig.write(small_talk(i), 100) ? 1 : 0;
  rig.settle();
  EXPECT_LE(taken, 25);
  EXPECT_LE(stats().bytes_written, 34 * kFile);
}

TEST_F(StoreDayTest, TheNextDayItGoesOn) {
  open_for(40);
  write_all(true);
  ASSERT_FALSE(rig.store->accepts(true));
  rig.clock.advance(3600 * kSecond);
  EXPECT_FALSE(rig.store->accepts(true)) << "the same day";
  rig.clock.advance(kDay * kSecond);
  EXPECT_TRUE(rig.store->accepts(false));
  EXPECT_GE(write_all(false), 30 * kFile);
}

TEST_F(StoreDayTest, AClockThatGoesBackGivesNoNewBudget) {
  open_for(40);
  write_all(true);
  rig.time.jump(-3 * kDay);
  EXPECT_FALSE(rig.store->accepts(true));
  rig.clock.advance(kDay * kSecond);
  EXPECT_TRUE(rig.store->accepts(true)) << "a day later it does";
}

TEST_F(StoreDayTest, AClockThatWasInTheFutureForAMomentDoesNotStopWritingUntilThen) {
  open_for(40);
  rig.time.jump(5000 * kDay);
  write_all(true);
  rig.time.jump(-5000 * kDay);
  EXPECT_FALSE(rig.store->accepts(true));
  rig.clock.advance(kDay * kSecond);
  EXPECT_TRUE(rig.store->accepts(true));
}

// A snapshot in the queue is memory that nothing else counts: a slow disk must not fill it.
TEST_F(StoreBudgetTest, AWriterThatIsBehindTakesNoMoreSnapshotsThanSegments) {
  rig.options.buffer_bytes = 64'000;  // half of it for writing
  rig.snapshot_bytes = 10'000;
  open(100);
  const Talk talk = talk_of(1, {100, 200, 300});
  EXPECT_TRUE(rig.write(talk, 100));
  EXPECT_TRUE(rig.write(talk, 200));
  EXPECT_FALSE(rig.write(talk, 300));
  rig.settle();
  EXPECT_EQ(rig.offered(talk), 200);
  EXPECT_TRUE(rig.write_settled(talk, 300));
  EXPECT_EQ(rig.offered(talk), 300);
}

}  // namespace
}  // namespace samovar
