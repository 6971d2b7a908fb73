// Goal: what the store counts is what happened to its files: each that was published, by kind, with
// its bytes; each that left, once, by its true cause. Method: one cause at a time, compared with
// the folder.
#include "base/log.h"
#include "store/store.h"
#include "tests/support/recording_meter.h"
#include "tests/support/store_rig.h"

namespace samovar {
namespace {

using namespace testing;

class StoreCountsTest : public ::testing::Test {
 protected:
  StoreCountsTest() { log_set_level(LogLevel::off); }
  ~StoreCountsTest() override { log_set_level(LogLevel::info); }

  void open(std::uint64_t size_max = 0) {
    if (size_max > 0) rig.options.size_max = size_max;
    rig.options.meter = &meter;
    ASSERT_TRUE(rig.open());
  }
  StoreStats stats() const { return rig.store->stats(); }
  std::uint64_t files() const { return rig.files(".seg").size() + rig.files(".snap").size(); }
  static std::uint64_t left(const StoreStats& stats) {
    return stats.evicted + stats.evicted_full_disk + stats.superseded + stats.unmatchable +
           stats.quarantined + stats.gone;
  }
  static std::uint64_t published(const StoreStats& stats) {
    return stats.segments_written + stats.snapshots_written;
  }

  RecordingMeter meter;
  StoreRig rig;
  Talk talk = talk_of(1, {100, 300, 500, 700});
};

TEST_F(StoreCountsTest, WhatIsPublishedByKindWithItsBytes) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 700));
  const StoreStats now = stats();
  EXPECT_EQ(now.segments_written, rig.files(".seg").size());
  EXPECT_EQ(now.snapshots_written, rig.files(".snap").size());
  std::uint64_t bytes = 0;
  for (const std::string& file : rig.files(".seg")) bytes += rig.fs.read_raw(file)->size();
  EXPECT_EQ(now.segment_bytes_written, bytes);
  EXPECT_EQ(now.segment_bytes_written + now.snapshot_bytes_written, now.bytes_written);
  EXPECT_EQ(meter.told().written.size(), files());
  EXPECT_EQ(left(now), 0U);
}

TEST_F(StoreCountsTest, WhatWasGivenUpIsNotWritten) {
  open();
  rig.fs.fail_next(FsOp::write, FsFault::io);
  rig.write_settled(talk, 100);
  EXPECT_EQ(published(stats()), files());
  EXPECT_GT(stats().shed, 0U);
  EXPECT_EQ(stats().write_errors, 1U);
}

TEST_F(StoreCountsTest, TheBudgetAndNewerSnapshots) {
  open(std::uint64_t{20} * 8192);
  for (int i = 1; i <= 40; ++i) {
    rig.write_settled(talk_of(i, {100}), 100);
    rig.clock.advance(3600 * kSecond);
  }
  StoreStats now = stats();
  EXPECT_GT(now.evicted, 0U);
  EXPECT_EQ(published(now) - left(now), files());
  EXPECT_EQ(left(now), now.evicted);
  const Talk longer = talk_of(99, {100, 200, 300});
  for (const Position end : longer.ends) ASSERT_TRUE(rig.write_settled(longer, end));
  now = stats();
  EXPECT_EQ(now.superseded, 2U);
  EXPECT_EQ(published(now) - left(now), files());
}

TEST_F(StoreCountsTest, AFullDisk) {
  open();
  for (int i = 1; i <= 20; ++i) ASSERT_TRUE(rig.write_settled(talk_of(i, {100}), 100));
  rig.fs.fail_next(FsOp::write, FsFault::full);
  rig.write_settled(talk_of(50, {100}), 100);
  EXPECT_GT(stats().evicted_full_disk, 0U);
  EXPECT_EQ(stats().evicted, 0U);
  EXPECT_EQ(published(stats()) - left(stats()), files());
}

TEST_F(StoreCountsTest, DamagedOnesAndThoseThatSomebodyRemoved) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 700));
  rig.fs.flip_bit(rig.path_of(BlobKind::segment, talk, 500), 8 * 4100);
  EXPECT_EQ(rig.restore_any(talk), 0);
  EXPECT_EQ(stats().quarantined, 1U);
  EXPECT_EQ(stats().gone, 0U);

  const Talk other = talk_of(2, {100, 200});
  ASSERT_TRUE(rig.write_settled(other, 200));
  ASSERT_TRUE(rig.fs.remove(rig.path_of(BlobKind::segment, other, 100)));
  EXPECT_EQ(rig.restore_any(other), 0);
  EXPECT_EQ(stats().gone, 1U);
  EXPECT_EQ(stats().quarantined, 1U);
}

TEST_F(StoreCountsTest, WhatHangsOnNothingAfterTheStart) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 700));
  const auto whole = files();
  rig.close();
  ASSERT_TRUE(rig.fs.remove(rig.path_of(BlobKind::segment, talk, 300)));
  rig.reopen();
  EXPECT_EQ(stats().unmatchable, whole - 2) << "all but the first segment";
  EXPECT_EQ(files(), 1U);
}

TEST_F(StoreCountsTest, AFolderThatSomebodyRemoved) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 500));
  const auto whole = files();
  rig.fs.remove_tree("/disk/store");
  rig.write_settled(talk, 700);
  EXPECT_EQ(stats().gone, whole);
  EXPECT_EQ(left(stats()), whole);
}

TEST_F(StoreCountsTest, TheReasonOfAFailedRestoreIsTold) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 700));
  const auto fault_after = [&](const std::function<void()>& harm) {
    auto restore = rig.store->restore(*rig.store->longest(talk.tokens, 700), talk.tokens);
    harm();
    while (restore->state() != StoreRestore::State::failed) {
      if (restore->state() == StoreRestore::State::done) return RestoreFault::turn_ended;
      if (restore->state() == StoreRestore::State::ready) (void)restore->take();
      rig.readers.run_all();
    }
    return restore->fault();
  };
  EXPECT_EQ(fault_after([&] { rig.fs.fail_next(FsOp::read, FsFault::io); }),
            RestoreFault::unreadable);
  rig.settle();
  ASSERT_TRUE(rig.write_settled(talk, 700));
  EXPECT_EQ(
      fault_after([&] { rig.fs.flip_bit(rig.path_of(BlobKind::segment, talk, 500), 8 * 4100); }),
      RestoreFault::damaged);
  rig.settle();
  ASSERT_TRUE(rig.write_settled(talk, 700));
  EXPECT_EQ(
      fault_after([&] { ASSERT_TRUE(rig.fs.remove(rig.path_of(BlobKind::segment, talk, 500))); }),
      RestoreFault::missing);
  rig.settle();
  ASSERT_TRUE(rig.write_settled(talk, 700));
  const auto chain = rig.store->longest(talk.tokens, 700);
  ASSERT_TRUE(chain.has_value());
  for (const std::string& file : rig.files(".seg")) ASSERT_TRUE(rig.fs.remove(file));
  EXPECT_EQ(rig.restore_any(talk), 0);
  auto late = rig.store->restore(*chain, talk.tokens);
  EXPECT_EQ(late->state(), StoreRestore::State::failed);
  EXPECT_EQ(late->fault(), RestoreFault::evicted);
}

}  // namespace
}  // namespace samovar
