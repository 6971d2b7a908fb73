// Goal: whatever the disk does, the store says what is wrong, offers nothing bad, leaves nothing
// lying about, and writes again when the fault has gone (S9). Method: every fault at every
// operation of its kind, during the same writes; then the special cases.
#include <algorithm>
#include <cctype>

#include "base/log.h"
#include "store/store.h"
#include "tests/support/store_rig.h"

namespace samovar {
namespace {

using namespace testing;

// All that is logged while it lives.
class Log {
 public:
  Log() { ::testing::internal::CaptureStderr(); }
  ~Log() {
    if (!taken_) (void)::testing::internal::GetCapturedStderr();
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  std::string text() {
    taken_ = true;
    return ::testing::internal::GetCapturedStderr();
  }

 private:
  bool taken_ = false;
};

class StoreFaultsTest : public ::testing::Test {
 protected:
  void open() { ASSERT_TRUE(rig.open()); }
  StoreStats stats() const { return rig.store->stats(); }
  void expect_recovery() {
    rig.fs.clear_faults();
    rig.clock.advance(600 * kSecond);
    rig.store->tend();
    rig.settle();
    ASSERT_TRUE(rig.write_settled(talk, 700));
    EXPECT_TRUE(stats().online);
    EXPECT_EQ(stats().trouble, "");
    EXPECT_EQ(rig.restore_any(talk), 700);
    EXPECT_EQ(rig.untidy(), "");
  }

  StoreRig rig;
  const Talk talk = talk_of(1, {300, 500, 700});
  const Talk other = talk_of(2, {250});
};

// --- every operation
// ------------------------------------------------------------------------------

struct Fault {
  FsOp op;
  FsFault what;
  std::uint64_t times;  // in a row
};

std::string name_of(const ::testing::TestParamInfo<Fault>& info) {
  const Fault& fault = info.param;
  std::string name = std::string(verb_of(fault.op)) + "_" + std::string(reason_of(fault.what)) +
                     "_" + std::to_string(fault.times);
  std::erase_if(name, [](char c) { return std::isalnum(c) == 0 && c != '_'; });
  return name;
}

class StoreFaultSweep : public ::testing::TestWithParam<Fault> {};
INSTANTIATE_TEST_SUITE_P(Faults, StoreFaultSweep,
                         ::testing::ValuesIn(std::vector<Fault>{
                             {FsOp::write, FsFault::full, 1},
                             {FsOp::write, FsFault::full, 99},
                             {FsOp::write, FsFault::io, 1},
                             {FsOp::sync, FsFault::io, 1},
                             {FsOp::sync, FsFault::io, 99},
                             {FsOp::sync_directory, FsFault::io, 1},
                             {FsOp::sync_directory, FsFault::io, 99},
                             {FsOp::create, FsFault::full, 1},
                             {FsOp::create, FsFault::denied, 99},
                             {FsOp::rename, FsFault::io, 1},
                             {FsOp::rename, FsFault::full, 99},
                             {FsOp::remove, FsFault::io, 99},
                             {FsOp::read, FsFault::io, 1},
                             {FsOp::read, FsFault::io, 3},
                             {FsOp::open, FsFault::io, 1},
                             {FsOp::open, FsFault::denied, 99},
                             {FsOp::list, FsFault::io, 1},
                             {FsOp::stat, FsFault::io, 2},
                             {FsOp::touch, FsFault::io, 99},
                             {FsOp::make_directory, FsFault::full, 1},
                             {FsOp::make_directory, FsFault::io, 99},
                             {FsOp::lock, FsFault::io, 1}}),
                         name_of);

struct Writes {
  Talk talk = talk_of(1, {300, 500, 700});
  Talk other = talk_of(2, {250});
  void run(StoreRig& rig) const {
    for (const auto& [what, until] :
         {std::pair{&talk, 300}, {&other, 250}, {&talk, 500}, {&talk, 700}}) {
      rig.write_settled(*what, until);
      rig.store->tend();
      rig.settle();
      rig.restore_any(*what);
      rig.clock.advance(3 * kSecond);
    }
  }
};

void expect_all_is_well(StoreRig& rig, const Writes& writes) {
  rig.fs.clear_faults();
  rig.clock.advance(600 * kSecond);
  rig.store->tend();
  rig.settle();
  writes.run(rig);
  ASSERT_EQ(rig.restore_any(writes.talk), 700);
  ASSERT_EQ(rig.restore_any(writes.other), 250);
  ASSERT_TRUE(rig.store->stats().online);
  rig.close();
  ASSERT_TRUE(rig.open());
  ASSERT_EQ(rig.restore_any(writes.talk), 700);
  ASSERT_EQ(rig.restore_any(writes.other), 250);
  ASSERT_EQ(rig.untidy(), "");
}

TEST_P(StoreFaultSweep, AtEveryOperationOfItsKindWhileWriting) {
  const auto [op, fault, times] = GetParam();
  log_set_level(LogLevel::off);
  const Writes writes;
  std::uint64_t calls = 0;
  for (std::uint64_t after = 0; after <= calls && !HasFatalFailure(); ++after) {
    SCOPED_TRACE("after " + std::to_string(after) + " calls");
    StoreRig rig;
    ASSERT_TRUE(rig.open());
    const std::uint64_t before = rig.fs.calls(op);
    rig.fs.fail_next(op, fault, after, times);
    writes.run(rig);
    if (after == 0) calls = 30;
    if (rig.fs.calls(op) - before <= after) break;  // there are no more
    expect_all_is_well(rig, writes);
  }
  log_set_level(LogLevel::info);
}

TEST_P(StoreFaultSweep, AtEveryOperationOfItsKindWhileOpening) {
  const auto [op, fault, times] = GetParam();
  log_set_level(LogLevel::off);
  const Writes writes;
  for (std::uint64_t after = 0; after <= 30 && !HasFatalFailure(); ++after) {
    SCOPED_TRACE("after " + std::to_string(after) + " calls");
    StoreRig rig;
    ASSERT_TRUE(rig.open());
    ASSERT_TRUE(rig.write_settled(writes.talk, 500));
    ASSERT_TRUE(rig.write_settled(writes.other, 250));
    rig.close();
    const std::uint64_t before = rig.fs.calls(op);
    rig.fs.fail_next(op, fault, after, times);
    ASSERT_TRUE(rig.open()) << "a fault of the disk does not keep the server from starting";
    const bool met = rig.fs.calls(op) - before > after;
    rig.fs.clear_faults();
    rig.clock.advance(600 * kSecond);
    rig.store->tend();
    rig.settle();
    ASSERT_EQ(rig.restore_any(writes.talk), 500) << "what is on disk is found when it can be read";
    ASSERT_EQ(rig.restore_any(writes.other), 250);
    expect_all_is_well(rig, writes);
    if (!met) break;
  }
  log_set_level(LogLevel::info);
}

// --- bytes that are not those written
// -------------------------------------------------------------

TEST_F(StoreFaultsTest, ABitFlippedAnywhereIsNoticedAndNeverOfferedAgain) {
  log_set_level(LogLevel::off);
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    StoreRig one;
    ASSERT_TRUE(one.open());
    ASSERT_TRUE(one.write_settled(talk, 300));
    ASSERT_TRUE(one.write_settled(talk, 700, AnchorKind::message));
    auto files = one.files(".seg");
    for (std::string& path : one.files(".snap")) files.push_back(std::move(path));
    const std::string& victim = files[random() % files.size()];
    const std::uint64_t size = one.fs.read_raw(victim)->size();
    one.fs.flip_bit(victim, random() % (size * 8));
    if (round % 2 == 0) {
      one.close();
      one.reopen();
    }
    const Position left = one.restore_any(talk);  // compares every byte
    EXPECT_LE(left, 700);
    EXPECT_EQ(one.untidy(), "");
    one.close();
    one.reopen();
    EXPECT_EQ(one.restore(talk), left) << "and the bad file does not come back";
    EXPECT_EQ(one.untidy(), "");
    ASSERT_TRUE(one.write_settled(talk, 700));
    EXPECT_EQ(one.restore(talk), 700);
  }
  log_set_level(LogLevel::info);
}

TEST_F(StoreFaultsTest, ATornHeaderIsQuarantinedByTheScan) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 300));
  ASSERT_TRUE(rig.write_settled(other, 250));
  rig.close();
  rig.fs.truncate(rig.path_of(BlobKind::segment, talk, 300), 1000);
  Log log;
  rig.reopen();
  EXPECT_NE(log.text().find("is damaged and is put in quarantine"), std::string::npos);
  EXPECT_EQ(stats().quarantined, 1U);
  EXPECT_EQ(rig.offered(talk), 0);
  EXPECT_EQ(rig.restore(other), 250);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreFaultsTest, ATruncatedPayloadIsQuarantinedWhenItIsRead) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 300));
  const std::string path = rig.path_of(BlobKind::snapshot, talk, 300);
  rig.fs.truncate(path, rig.fs.read_raw(path)->size() - 1);
  Log log;
  EXPECT_EQ(rig.restore(talk), std::nullopt);
  const std::string said = log.text();
  EXPECT_NE(said.find(path), std::string::npos) << "names the file: " << said;
  EXPECT_NE(said.find("it is not used"), std::string::npos);
  EXPECT_EQ(rig.offered(talk), 0);
  EXPECT_EQ(rig.files(".snap").front().find("/disk/store/quarantine/"), 0U);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreFaultsTest, AShortReadFailsTheRestoreOnly) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 300));
  rig.fs.shorten_read(100, 1);
  EXPECT_EQ(rig.restore(talk), std::nullopt);
  expect_recovery();
}

TEST_F(StoreFaultsTest, AShortWriteIsADiskThatIsFull) {
  for (std::uint64_t after = 0; after < 4; ++after) {
    StoreRig one;
    ASSERT_TRUE(one.open());
    one.fs.shorten_write(100, after);
    Log log;
    one.write_settled(talk, 300);
    EXPECT_NE(log.text().find("No space left on device"), std::string::npos);
    EXPECT_EQ(one.offered(talk), 0);
    EXPECT_TRUE(one.files(".tmp").empty());
    one.clock.advance(10 * kSecond);
    ASSERT_TRUE(one.write_settled(talk, 300));
    EXPECT_EQ(one.restore(talk), 300);
    EXPECT_EQ(one.untidy(), "");
  }
}

// --- the disk as a whole
// --------------------------------------------------------------------------

TEST_F(StoreFaultsTest, AFullDiskStopsWritingUntilThereIsRoom) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 300));
  rig.fs.set_disk_bytes(rig.fs.used_bytes());
  Log log;
  rig.write_settled(other, 250);
  const std::string said = log.text();
  EXPECT_NE(said.find("No space left on device; sessions stay in memory only"), std::string::npos)
      << said;
  EXPECT_FALSE(stats().online);
  EXPECT_FALSE(rig.store->accepts(true));
  rig.fs.set_disk_bytes(1 << 30);
  Log later;
  expect_recovery();
  EXPECT_NE(later.text().find("writes again"), std::string::npos);
}

// A file that fits after one that did not must not hide the error: else every group fails anew.
TEST_F(StoreFaultsTest, WritingRestsAfterAnErrorThoughOtherFilesOfTheGroupWereWritten) {
  open();
  rig.fs.fail_next(FsOp::write, FsFault::io, 4);
  rig.write(other, 250);
  rig.write(talk, 700);
  rig.settle();
  EXPECT_EQ(rig.restore(other), 250);
  EXPECT_FALSE(rig.store->accepts(true));
  EXPECT_NE(stats().trouble, "");
  expect_recovery();
}

TEST_F(StoreFaultsTest, TheRestAfterErrorsGrowsAndEndsWithSuccess) {
  open();
  rig.fs.fail_next(FsOp::write, FsFault::io, 0, 1000);
  Micros last = 0;
  for (int error = 0; error < 6; ++error) {
    const Micros began = rig.clock.now();
    rig.write_settled(talk, 300);
    ASSERT_FALSE(rig.store->accepts(true));
    while (!rig.store->accepts(true)) rig.clock.advance(kSecond);
    const Micros rested = rig.clock.now() - began;
    EXPECT_GT(rested, last);
    last = rested;
  }
  expect_recovery();
}

TEST_F(StoreFaultsTest, ADiskThatIsReadOnlyFromTheStartIsTriedAgain) {
  rig.fs.set_read_only(true);
  Log log;
  ASSERT_TRUE(rig.open()) << "the server starts";
  EXPECT_NE(log.text().find("Read-only file system"), std::string::npos);
  EXPECT_FALSE(rig.store->accepts(true));
  EXPECT_EQ(rig.offered(talk), 0);
  rig.clock.advance(10 * kSecond);
  rig.store->tend();
  rig.settle();
  EXPECT_FALSE(rig.store->accepts(true));
  rig.fs.set_read_only(false);
  expect_recovery();
}

TEST_F(StoreFaultsTest, ADiskThatBecomesReadOnlyIsStillReadFrom) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 500));
  rig.fs.set_read_only(true);
  rig.write_settled(talk, 700);
  EXPECT_FALSE(stats().online);
  EXPECT_EQ(rig.restore(talk), 500);
  rig.fs.set_read_only(false);
  expect_recovery();
}

TEST_F(StoreFaultsTest, AFolderRemovedWhileRunningIsMadeAgain) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 500));
  rig.fs.remove_tree("/disk/store");
  rig.write_settled(talk, 700);
  EXPECT_EQ(rig.offered(talk), 0);
  EXPECT_EQ(rig.restore_any(talk), 0);
  rig.clock.advance(10 * kSecond);
  rig.store->tend();  // locks the new folder
  rig.settle();
  ASSERT_TRUE(rig.write_settled(talk, 700));
  EXPECT_EQ(rig.restore(talk), 700);
  rig.close();
  rig.reopen();
  EXPECT_EQ(rig.restore(talk), 700);
}

TEST_F(StoreFaultsTest, AModelsFolderRemovedWhileRunningIsMadeAgain) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 500));
  const std::string path = rig.path_of(BlobKind::segment, talk, 300);
  rig.fs.remove_tree(path.substr(0, path.rfind('/')));
  EXPECT_EQ(rig.restore_any(talk), 0);
  rig.write_settled(talk, 700);
  expect_recovery();
}

// --- other people's files
// -------------------------------------------------------------------------

TEST_F(StoreFaultsTest, ASecondStoreOnTheFolderIsToldWhoHasItAndWhatToDo) {
  open();
  Log log;
  const auto second =
      Store::open(rig.fs, rig.time, rig.options, {rig.writer, rig.readers, rig.catalog});
  const std::string said = log.text();
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("process "), std::string::npos) << second.error().message;
  EXPECT_NE(second.error().remedy.find("folder of its own"), std::string::npos);
  EXPECT_EQ(said.find("tried again"), std::string::npos) << "it is not: " << said;
  ASSERT_TRUE(rig.write_settled(talk, 300)) << "the first is not disturbed";
  EXPECT_EQ(rig.restore(talk), 300);
}

TEST_F(StoreFaultsTest, AFileOfAnUnknownVersionIsLeftAloneAndCounted) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 300));
  rig.close();
  const std::string path = rig.path_of(BlobKind::segment, talk, 300);
  auto bytes = *rig.fs.read_raw(path);
  bytes[8] = 99;  // the version, behind the magic
  rig.fs.write_raw(path, bytes);
  rig.reopen();
  EXPECT_EQ(stats().unknown_versions, 1U);
  EXPECT_EQ(rig.offered(talk), 0);
  EXPECT_TRUE(rig.fs.read_raw(path));
  EXPECT_EQ(*rig.fs.read_raw(path), bytes);
  EXPECT_EQ(rig.untidy(), "");
}

TEST_F(StoreFaultsTest, ForeignFilesAreLeftAlone) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 300));
  rig.close();
  const std::vector<std::uint8_t> bytes(100, 7);
  rig.fs.write_raw("/disk/store/notes.txt", bytes);
  rig.fs.write_raw(rig.path_of(BlobKind::segment, talk, 300) + ".bak", bytes);
  rig.reopen();
  EXPECT_TRUE(rig.fs.read_raw("/disk/store/notes.txt"));
  EXPECT_TRUE(rig.fs.read_raw(rig.path_of(BlobKind::segment, talk, 300) + ".bak"));
  EXPECT_EQ(rig.restore(talk), 300);
}

// A header that cannot be read now may be fine: what hangs on it stays until it can be.
TEST_F(StoreFaultsTest, AFileThatCannotBeReadAtTheStartCostsNothingForGood) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 700));
  rig.close();
  const std::string root = rig.path_of(BlobKind::segment, talk, 300);
  rig.fs.set_hook([&](FsOp op, const std::string& path, std::uint64_t) -> std::optional<FsFault> {
    if (op == FsOp::read && path == root) return FsFault::io;
    return std::nullopt;
  });
  rig.reopen();
  EXPECT_EQ(rig.offered(talk), 0);
  rig.fs.clear_faults();
  rig.close();
  rig.reopen();
  EXPECT_EQ(rig.restore(talk), 700);
}

TEST_F(StoreFaultsTest, AFileThatStaysUnreadableIsLookedAtLessAndLess) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 700));
  rig.close();
  const std::string root = rig.path_of(BlobKind::segment, talk, 300);
  std::uint64_t looks = 0;
  rig.fs.set_hook([&](FsOp op, const std::string& path, std::uint64_t) -> std::optional<FsFault> {
    if (op != FsOp::read || path != root) return std::nullopt;
    ++looks;
    return FsFault::io;
  });
  rig.reopen();
  for (int minute = 0; minute < 600; ++minute) {
    rig.clock.advance(60 * kSecond);
    rig.store->tend();
    rig.settle();
  }
  EXPECT_GT(looks, 5U);
  EXPECT_LT(looks, 20U);
  EXPECT_EQ(rig.untidy(), "") << "and it counts";
}

// One failed read may be the cable's fault; two are the file's.
TEST_F(StoreFaultsTest, AFileThatCannotBeReadTwiceIsQuarantined) {
  open();
  ASSERT_TRUE(rig.write_settled(talk, 300));
  for (int time = 1; time <= 2; ++time) {
    EXPECT_EQ(rig.offered(talk), 300);
    rig.fs.fail_next(FsOp::read, FsFault::io);
    EXPECT_EQ(rig.restore(talk), std::nullopt);
    EXPECT_EQ(rig.offered(talk), 0);
    EXPECT_EQ(stats().quarantined, time == 1 ? 0U : 1U);
    rig.clock.advance(120 * kSecond);
    rig.store->tend();
    rig.settle();
  }
  EXPECT_EQ(rig.offered(talk), 0);
  EXPECT_EQ(rig.untidy(), "");
}

}  // namespace
}  // namespace samovar
