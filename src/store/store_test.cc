// Goal: what was written is found again and comes back byte for byte, what is bad never reaches
// anybody, and nothing that goes wrong with one file spoils another. Method: the store over SimFs
// and executors that run when told to.
#include "store/store.h"

#include <algorithm>

#include "tests/support/store_rig.h"

namespace samovar {
namespace {

using namespace testing;
using State = StoreRestore::State;

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(rig.open()); }
  StoreStats stats() const { return rig.store->stats(); }

  StoreRig rig;
  const Talk talk = talk_of(1, {300, 500, 700});
};

// --- writing and finding
// --------------------------------------------------------------------------

TEST_F(StoreTest, WhatWasWrittenComesBack) {
  EXPECT_EQ(rig.offered(talk), 0);
  ASSERT_TRUE(rig.write(talk, 700));
  EXPECT_EQ(rig.offered(talk), 0) << "before it is on disk";
  rig.settle();
  EXPECT_EQ(rig.offered(talk), 700);
  EXPECT_EQ(rig.restore(talk), 700);
  EXPECT_EQ(stats().restores, 1U);
  EXPECT_EQ(stats().segments_written, 3U);
  EXPECT_EQ(stats().snapshots_written, 1U);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreTest, ItIsFoundAfterARestart) {
  ASSERT_TRUE(rig.write_settled(talk, 700));
  rig.close();
  rig.reopen();
  EXPECT_EQ(rig.restore(talk), 700);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreTest, PayloadsOfManyChunksComeBack) {
  rig.token_bytes = 9000;  // segments of 2.7 and 1.8 MB
  rig.snapshot_bytes = 3'000'001;
  ASSERT_TRUE(rig.write_settled(talk, 300));
  ASSERT_TRUE(rig.write_settled(talk, 500));
  EXPECT_EQ(rig.restore(talk), 500);
}

TEST_F(StoreTest, APrefixIsFoundForAPromptThatGoesOnDifferently) {
  ASSERT_TRUE(rig.write_settled(talk, 300));
  const Talk other = branch_of(talk, 300, 2, {450, 600});
  EXPECT_EQ(rig.offered(other), 300);
  ASSERT_TRUE(rig.write_settled(other, 600));
  EXPECT_EQ(rig.restore(other), 600);
  EXPECT_EQ(rig.restore(talk), 300);
  EXPECT_EQ(stats().segments_written, 3U) << "what both share is written once";
}

TEST_F(StoreTest, NothingIsWrittenTwice) {
  ASSERT_TRUE(rig.write(talk, 500));
  ASSERT_TRUE(rig.write(talk, 500));
  rig.settle();
  ASSERT_TRUE(rig.write_settled(talk, 500));
  EXPECT_EQ(stats().segments_written, 2U);
  EXPECT_EQ(stats().snapshots_written, 1U);
}

TEST_F(StoreTest, AModelWithoutSnapshotsResumesAtAnySegmentsEnd) {
  rig.close();
  rig.options.needs_snapshot = false;
  rig.reopen();
  ASSERT_TRUE(rig.write_settled(talk, 500));
  EXPECT_EQ(rig.restore(talk), 500);
  EXPECT_EQ(stats().snapshots_written, 0U);
}

TEST_F(StoreTest, AnotherModelsFilesAreNeverOffered) {
  ASSERT_TRUE(rig.write_settled(talk, 500));
  rig.close();
  rig.options.model = model_named('n');
  rig.reopen();
  EXPECT_EQ(rig.offered(talk), 0);
  EXPECT_GT(stats().bytes, 0U) << "but they count";
  ASSERT_TRUE(rig.write_settled(talk, 300));
  EXPECT_EQ(rig.restore(talk), 300);
}

// --- restores
// -------------------------------------------------------------------------------------

TEST_F(StoreTest, ARestoreLetGoMidwayReleasesItsHolds) {
  ASSERT_TRUE(rig.write_settled(talk, 700));
  {
    auto restore = rig.store->restore(*rig.store->longest(talk.tokens, 700), talk.tokens);
    EXPECT_EQ(restore->state(), State::waiting);
    rig.readers.run_one();
    ASSERT_EQ(restore->state(), State::ready);
    (void)restore->take();
  }
  rig.settle();
  EXPECT_EQ(stats().restore_failures, 0U);
  rig.close();
  rig.options.size_max = 1;  // everything must go, and nothing is held
  rig.reopen();
  EXPECT_EQ(stats().entries, 0U);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreTest, ARestoreLetGoBeforeItsReadsRanReadsNothing) {
  ASSERT_TRUE(rig.write_settled(talk, 700));
  const std::uint64_t before = rig.fs.read_bytes();
  auto restore = rig.store->restore(*rig.store->longest(talk.tokens, 700), talk.tokens);
  EXPECT_EQ(restore->state(), State::waiting);
  restore.reset();
  rig.settle();
  EXPECT_EQ(rig.fs.read_bytes(), before);
  EXPECT_EQ(rig.restore(talk), 700);
}

TEST_F(StoreTest, PartsThatArriveOutOfOrderComeOutInOrder) {
  const Talk longer = talk_of(3, {100, 200, 300, 400, 500, 600, 700, 800});
  ASSERT_TRUE(rig.write_settled(longer, 800));
  auto restore = rig.store->restore(*rig.store->longest(longer.tokens, 800), longer.tokens);
  Position reached = 0;
  while (restore->state() != State::done) {
    if (restore->state() == State::waiting) {
      ASSERT_GT(rig.readers.pending(), 0U);
      rig.readers.run_one(rig.readers.pending() - 1);
      continue;
    }
    ASSERT_EQ(restore->state(), State::ready);
    const RestoredPart part = restore->take();
    EXPECT_EQ(part.snapshot ? part.end : part.begin, reached);
    reached = part.end;
  }
  EXPECT_EQ(reached, 800);
}

TEST_F(StoreTest, APartThatTheEngineRefusesIsNeverOfferedAgain) {
  ASSERT_TRUE(rig.write_settled(talk, 300, AnchorKind::system));
  ASSERT_TRUE(rig.write_settled(talk, 700, AnchorKind::message));
  auto restore = rig.store->restore(*rig.store->longest(talk.tokens, 700), talk.tokens);
  EXPECT_EQ(restore->state(), State::waiting);
  for (int part = 0; part < 2; ++part) {
    rig.readers.run_all();
    ASSERT_EQ(restore->state(), State::ready);
    (void)restore->take();
  }
  restore->refused();  // [300, 500)
  EXPECT_EQ(restore->state(), State::failed);
  EXPECT_EQ(rig.offered(talk), 300) << "at once";
  restore.reset();
  rig.settle();
  EXPECT_EQ(rig.files(".seg").size(), 3U);
  EXPECT_EQ(stats().quarantined, 1U);
  EXPECT_EQ(rig.untidy(), "");
  rig.close();
  rig.reopen();
  EXPECT_EQ(rig.restore(talk), 300);
}

// The new file of that name is not the one that was refused.
TEST_F(StoreTest, WhatIsWrittenAgainAfterARefusalStays) {
  ASSERT_TRUE(rig.write_settled(talk, 300));
  auto restore = rig.store->restore(*rig.store->longest(talk.tokens, 700), talk.tokens);
  EXPECT_EQ(restore->state(), State::waiting);
  rig.readers.run_all();
  ASSERT_EQ(restore->state(), State::ready);
  (void)restore->take();
  restore->refused();
  restore.reset();
  ASSERT_TRUE(rig.write(talk, 300)) << "before the bad file was moved";
  rig.settle();
  EXPECT_EQ(rig.restore(talk), 300);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreTest, AFileThatGoesWhileItIsReadFailsTheRestoreOnly) {
  ASSERT_TRUE(rig.write_settled(talk, 300, AnchorKind::system));
  ASSERT_TRUE(rig.write_settled(talk, 700, AnchorKind::message));
  ASSERT_TRUE(rig.fs.remove(rig.path_of(BlobKind::segment, talk, 500)));
  EXPECT_EQ(rig.restore(talk), std::nullopt);
  EXPECT_NE(rig.trouble.find("No such file"), std::string::npos) << rig.trouble;
  EXPECT_EQ(rig.restore(talk), 300);
}

TEST_F(StoreTest, AChainThatLostAPartIsCompletedAgain) {
  ASSERT_TRUE(rig.write_settled(talk, 700));
  rig.fs.flip_bit(rig.path_of(BlobKind::segment, talk, 500), 8 * 4100);
  EXPECT_EQ(rig.restore_any(talk), 0) << "no shorter checkpoint";
  ASSERT_TRUE(rig.write_settled(talk, 700));
  EXPECT_EQ(rig.restore(talk), 700);
  EXPECT_EQ(stats().segments_written, 4U) << "only the part that was lost";
}

TEST_F(StoreTest, LossesAreCounted) {
  ASSERT_TRUE(rig.write_settled(talk, 700));
  const std::uint64_t before = rig.store->losses();
  ASSERT_TRUE(rig.fs.remove(rig.path_of(BlobKind::segment, talk, 500)));
  EXPECT_EQ(rig.restore(talk), std::nullopt);
  EXPECT_GT(rig.store->losses(), before);
}

// --- chains and buffers
// ---------------------------------------------------------------------------

TEST_F(StoreTest, AChainWhoseParentFailedIsGivenUpEntirelyAndWrittenAgainWhenAsked) {
  rig.fs.fail_next(FsOp::write, FsFault::io, 2);  // the payload of [300, 500)
  rig.write(talk, 700);
  const Talk other = talk_of(5, {200});
  rig.write(other, 200);  // has nothing to do with it
  rig.settle();
  EXPECT_EQ(rig.offered(talk), 0);
  EXPECT_EQ(stats().entries, 1U) << "[0, 300)";
  EXPECT_GE(stats().shed, 3U);
  rig.clock.advance(10 * kSecond);
  ASSERT_TRUE(rig.write_settled(talk, 700));
  EXPECT_EQ(rig.restore(talk), 700);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreTest, WithoutBuffersWritingIsRefusedNotBlocked) {
  const std::size_t half = rig.options.buffer_bytes / 2;
  auto first = rig.store->buffer(half - 1000);
  ASSERT_TRUE(first);
  EXPECT_FALSE(rig.store->buffer(2000));
  EXPECT_FALSE(rig.write(talk, 300));
  first.reset();
  EXPECT_TRUE(rig.write_settled(talk, 300));
  EXPECT_EQ(rig.restore(talk), 300);
}

TEST_F(StoreTest, ARestoreWaitsForBuffersOfAnother) {
  rig.close();
  rig.options.buffer_bytes = 2 * 6000;  // one part of 300 tokens at a time
  rig.reopen();
  ASSERT_TRUE(rig.write_settled(talk, 300));
  ASSERT_TRUE(rig.write_settled(talk, 500));
  ASSERT_TRUE(rig.write_settled(talk, 700));
  const auto chain = rig.store->longest(talk.tokens, 700);
  auto first = rig.store->restore(*chain, talk.tokens);
  auto second = rig.store->restore(*chain, talk.tokens);
  EXPECT_EQ(first->state(), State::waiting);
  EXPECT_EQ(second->state(), State::waiting);
  rig.readers.run_all();
  EXPECT_EQ(first->state(), State::ready);
  EXPECT_EQ(second->state(), State::waiting);
  first.reset();
  rig.readers.run_all();
  EXPECT_EQ(second->state(), State::waiting);
  rig.readers.run_all();
  EXPECT_EQ(second->state(), State::ready);
}

TEST_F(StoreTest, APartLargerThanTheBuffersIsNotOffered) {
  ASSERT_TRUE(rig.write_settled(talk, 300));
  const Talk large = branch_of(talk, 300, 7, {9000, 9100});
  ASSERT_TRUE(rig.write_settled(large, 9000, AnchorKind::message));
  rig.close();
  rig.options.buffer_bytes = 2 * 8000;
  rig.reopen();
  EXPECT_EQ(rig.offered(large), 300);
  EXPECT_EQ(rig.restore(large), 300);
}

// --- superseded
// -----------------------------------------------------------------------------------

TEST_F(StoreTest, ASessionThatGrowsKeepsItsLastTip) {
  const Talk longer = talk_of(3, {100, 200, 300, 400, 500, 600, 700, 800});
  for (const Position end : longer.ends) ASSERT_TRUE(rig.write_settled(longer, end));
  EXPECT_EQ(rig.files(".snap").size(), 1U);
  EXPECT_EQ(stats().superseded, 7U);
  EXPECT_EQ(rig.restore(longer), 800);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreTest, ATipThatABranchLeavesFromStays) {
  ASSERT_TRUE(rig.write_settled(talk, 300));
  const Talk branch = branch_of(talk, 300, 2, {450});
  ASSERT_TRUE(rig.write_settled(branch, 450));
  ASSERT_TRUE(rig.write_settled(talk, 500));
  ASSERT_TRUE(rig.write_settled(talk, 700));
  EXPECT_EQ(rig.files(".snap").size(), 3U) << "300, 450, 700";
  EXPECT_EQ(rig.restore(branch), 450);
}

// A reply's end does not outgrow the end of its own history: nobody knows yet which of the two the
// next prompt goes on from.
TEST_F(StoreTest, BothTipsOfATurnAreKept) {
  ASSERT_TRUE(rig.write(talk, 500, AnchorKind::history_end));
  ASSERT_TRUE(rig.write(talk, 700, AnchorKind::reply_end));
  rig.settle();
  EXPECT_EQ(rig.files(".snap").size(), 2U);
  EXPECT_EQ(rig.restore(branch_of(talk, 500, 2, {640})), 500);
}

// --- the end
// --------------------------------------------------------------------------------------

TEST_F(StoreTest, WhatIsQueuedWhenItClosesIsGivenUp) {
  ASSERT_TRUE(rig.write_settled(talk, 300));
  ASSERT_TRUE(rig.write(talk, 700));
  rig.store->close();
  rig.settle();
  EXPECT_EQ(rig.offered(talk), 300);
  rig.close();
  rig.reopen();
  EXPECT_EQ(rig.restore(talk), 300);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreTest, DrainingSaysWhetherAnythingWasLeft) {
  EXPECT_TRUE(rig.store->drain(0));
  ASSERT_TRUE(rig.write(talk, 700));
  EXPECT_FALSE(rig.store->drain(0));
  rig.settle();
  EXPECT_TRUE(rig.store->drain(0));
}

TEST_F(StoreTest, ClosingDuringTheFirstScanLosesNothing) {
  ASSERT_TRUE(rig.write_settled(talk, 700));
  rig.close();
  for (std::uint64_t n = 0; n < 12; ++n) {
    std::uint64_t seen = 0;
    rig.fs.set_hook([&](FsOp, const std::string&, std::uint64_t) -> std::optional<FsFault> {
      if (seen++ == n + 6 && rig.store) rig.store->close();
      return std::nullopt;
    });
    auto opened =
        Store::open(rig.fs, rig.time, rig.options, {rig.writer, rig.readers, rig.catalog});
    ASSERT_TRUE(opened);
    rig.store = std::move(*opened);
    rig.settle();
    rig.fs.clear_faults();
    rig.close();
  }
  rig.reopen();
  EXPECT_EQ(rig.restore(talk), 700);
}

}  // namespace
}  // namespace samovar
