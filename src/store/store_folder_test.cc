// Goal: a scan tells the truth about the folder and touches nothing; what is found damaged is never
// found again (S4); pins survive anything. Method: blobs of the test kit in SimFs, and the same
// once on the machine's own file system.
#include "store/store_folder.h"

#include <algorithm>

#include "fs/posix_fs.h"
#include "tests/support/blobs.h"
#include "tests/support/sim_fs.h"
#include "tests/support/temporary_folder.h"

namespace samovar {
namespace {

using testing::Blob;
using testing::file_of;

constexpr const char* kRoot = "/store";

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

BlobKey key_of(const Blob& blob) { return {blob.header.kind, blob.header.identity}; }

class StoreFolderTest : public ::testing::Test {
 protected:
  std::string put(const Blob& blob) {
    const std::string path = folder.blob_path(blob.header.model, key_of(blob));
    fs.write_raw(path, file_of(blob));
    return path;
  }
  StoreFolder::Scan scan(const std::vector<BlobRecord>& known = {}) {
    auto result = folder.scan(known, {});
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : StoreFolder::Scan{};
  }

  FakeClock clock;
  SimFs fs{clock};
  StoreFolder folder{fs, kRoot};
  const Blob segment = testing::example_segment();
  const Blob snapshot = testing::example_snapshot();
};

TEST_F(StoreFolderTest, FilesLieWhereTheLayoutSays) {
  const std::string model = segment.header.model.hex();
  EXPECT_EQ(folder.blob_path(segment.header.model, key_of(segment)),
            "/store/" + model.substr(0, 16) + "/" + segment.header.identity.hex() + ".seg");
  EXPECT_EQ(folder.lock_path(), "/store/lock");
  EXPECT_EQ(folder.catalog_path(), "/store/catalog.db");
}

TEST_F(StoreFolderTest, PreparedFoldersOutliveACrash) {
  ASSERT_TRUE(fs.make_directory(kRoot));
  fs.sync_all();
  ASSERT_TRUE(folder.prepare(&segment.header.model));
  ASSERT_TRUE(folder.prepare(&segment.header.model)) << "twice";
  fs.crash(1);
  EXPECT_TRUE(fs.stat(folder.model_folder(segment.header.model)));
  EXPECT_TRUE(fs.stat("/store/quarantine"));
}

TEST_F(StoreFolderTest, PreparingOnAReadOnlyDiskFails) {
  fs.set_read_only(true);
  EXPECT_EQ(folder.prepare(nullptr).error().fault, FsFault::read_only);
}

TEST_F(StoreFolderTest, ScanOfAFolderThatIsNotThereSaysSo) {
  EXPECT_EQ(folder.scan({}, {}).error().fault, FsFault::not_found);
}

TEST_F(StoreFolderTest, FilesThatAreNotKnownAreFoundByTheirHeaders) {
  put(segment);
  put(snapshot);
  StoreFolder::Scan found = scan();
  ASSERT_EQ(found.found.size(), 2U);
  std::sort(found.found.begin(), found.found.end(),
            [](const auto& a, const auto& b) { return a.kind < b.kind; });
  const BlobRecord& record = found.found[0];
  EXPECT_EQ(record.kind, BlobKind::segment);
  EXPECT_EQ(record.identity, segment.header.identity);
  EXPECT_EQ(record.model, segment.header.model);
  EXPECT_EQ(record.parent, segment.header.parent);
  EXPECT_EQ(record.begin, segment.header.begin);
  EXPECT_EQ(record.end, segment.header.end);
  EXPECT_EQ(record.payload_bytes, segment.payload.size());
  EXPECT_EQ(record.file_bytes, file_of(segment).size());
  EXPECT_EQ(record.session, segment.header.session);
  EXPECT_EQ(record.cost, segment.header.cost);
  EXPECT_EQ(record.created, segment.header.created);
  EXPECT_EQ(record.label, segment.header.label);
  EXPECT_EQ(record.last_used, clock.wall_seconds());
  EXPECT_EQ(found.found[1].anchor, snapshot.header.anchor);
  EXPECT_EQ(found.found[1].canonical, snapshot.header.canonical);
}

TEST_F(StoreFolderTest, KnownFilesAreNotRead) {
  put(segment);
  put(snapshot);
  const auto known = scan().found;
  const std::uint64_t opened = fs.calls(FsOp::open);
  const StoreFolder::Scan again = scan(known);
  EXPECT_EQ(fs.calls(FsOp::open), opened);
  EXPECT_TRUE(again.found.empty());
  EXPECT_TRUE(again.missing.empty());
}

TEST_F(StoreFolderTest, KnownFilesThatAreGoneAreMissing) {
  put(segment);
  const std::string path = put(snapshot);
  const auto known = scan().found;
  ASSERT_TRUE(fs.remove(path));
  EXPECT_EQ(scan(known).missing, (std::vector<BlobKey>{key_of(snapshot)}));
  fs.remove_tree(folder.model_folder(segment.header.model));
  EXPECT_EQ(scan(known).missing.size(), 2U);
}

TEST_F(StoreFolderTest, TheSameIdentityOfAnotherModelIsNotKnown) {
  put(segment);
  auto known = scan().found;
  known[0].model.bytes[0] ^= 1;
  const StoreFolder::Scan result = scan(known);
  EXPECT_EQ(result.found.size(), 1U);
  EXPECT_EQ(result.missing.size(), 1U);
}

TEST_F(StoreFolderTest, TemporariesAreListedAndLeftAlone) {
  const std::string path = put(segment);
  const std::vector<std::string> temporaries = {path + ".1.tmp", path + ".23.tmp",
                                                "/store/pins.tmp"};
  for (const std::string& temporary : temporaries) fs.write_raw(temporary, bytes_of("half"));
  StoreFolder::Scan result = scan();
  std::sort(result.temporaries.begin(), result.temporaries.end());
  EXPECT_EQ(result.temporaries, temporaries);
  EXPECT_EQ(result.found.size(), 1U);
  EXPECT_EQ(result.foreign, 0U);
  for (const std::string& temporary : temporaries) EXPECT_TRUE(fs.stat(temporary));
}

TEST_F(StoreFolderTest, ForeignFilesAreCountedAndLeftAlone) {
  const std::string path = put(segment);
  const std::string model = folder.model_folder(segment.header.model);
  const std::vector<std::string> foreign = {
      model + "/notes.txt", model + "/x.tmp",         path + ".tmp", path + ".x1.tmp",
      model + "/abc.seg",   model + "/sub/inner.seg", "/store/mine", "/store/lost+found/a"};
  for (const std::string& name : foreign) fs.write_raw(name, bytes_of("mine"));
  for (const char* ours : {"lock", "pins", "catalog.db", "catalog.db-wal", "quarantine/x.seg"}) {
    fs.write_raw(std::string("/store/") + ours, bytes_of("ours"));
  }
  const StoreFolder::Scan result = scan();
  EXPECT_EQ(result.foreign, foreign.size());
  EXPECT_TRUE(result.damaged.empty());
  EXPECT_TRUE(result.temporaries.empty());
  for (const std::string& name : foreign) EXPECT_TRUE(fs.stat(name));
}

TEST_F(StoreFolderTest, FilesOfANewerVersionAreCountedAndLeftAlone) {
  const std::string path = put(segment);
  auto bytes = *fs.read_raw(path);
  bytes[8] = 99;  // the version: docs/store-format.md
  fs.write_raw(path, bytes);
  const StoreFolder::Scan result = scan();
  EXPECT_EQ(result.unknown_versions, 1U);
  EXPECT_EQ(result.unknown_version_bytes, on_disk(bytes.size()));
  EXPECT_TRUE(result.damaged.empty());
  EXPECT_TRUE(result.found.empty());
  EXPECT_TRUE(fs.stat(path));
}

TEST_F(StoreFolderTest, DamagedHeadersAreReported) {
  const std::string path = put(segment);
  put(snapshot);
  fs.flip_bit(path, 8 * 200);
  const StoreFolder::Scan result = scan();
  EXPECT_EQ(result.damaged, (std::vector<std::string>{path}));
  EXPECT_EQ(result.found.size(), 1U);
}

TEST_F(StoreFolderTest, ShortAndEmptyFilesAreDamaged) {
  const std::string path = put(segment);
  fs.truncate(path, file_of(segment).size() - 1);
  EXPECT_EQ(scan().damaged.size(), 1U);
  fs.truncate(path, 0);
  EXPECT_EQ(scan().damaged.size(), 1U);
}

TEST_F(StoreFolderTest, FilesUnderAnotherNameOrInAnotherFolderAreDamaged) {
  const std::string path = put(segment);
  const std::string model = folder.model_folder(segment.header.model);
  ASSERT_TRUE(
      fs.rename(path, join_path(model, blob_name(BlobKind::snapshot, segment.header.identity))));
  EXPECT_EQ(scan().damaged.size(), 1U);
  fs.write_raw("/store/0123456789abcdef/" + segment.header.identity.hex() + ".seg",
               file_of(segment));
  EXPECT_EQ(scan().damaged.size(), 2U);
}

TEST_F(StoreFolderTest, FilesThatCannotBeReadAreNotCalledDamaged) {
  put(segment);
  fs.fail_next(FsOp::read, FsFault::io);
  const StoreFolder::Scan result = scan();
  EXPECT_TRUE(result.damaged.empty());
  EXPECT_TRUE(result.found.empty());
}

TEST_F(StoreFolderTest, AFailingDiskFailsTheScanAndNothingIsCalledMissing) {
  put(segment);
  fs.fail_next(FsOp::list, FsFault::io, 1);
  EXPECT_EQ(folder.scan({}, {}).error().fault, FsFault::io);
}

TEST_F(StoreFolderTest, AFolderRemovedWhileScanningIsAnEmptyOne) {
  put(segment);
  const auto known = scan().found;
  int lists = 0;
  fs.set_hook([&](FsOp op, const std::string&, std::uint64_t) -> std::optional<FsFault> {
    if (op == FsOp::list && ++lists == 2) {
      fs.remove_tree(folder.model_folder(segment.header.model));
    }
    return std::nullopt;
  });
  const StoreFolder::Scan result = scan(known);
  EXPECT_EQ(result.missing, (std::vector<BlobKey>{key_of(segment)}));
}

TEST_F(StoreFolderTest, AFileRemovedWhileScanningIsNothing) {
  const std::string path = put(segment);
  fs.set_hook([&](FsOp op, const std::string&, std::uint64_t) -> std::optional<FsFault> {
    if (op == FsOp::open) fs.remove_tree(path);
    return std::nullopt;
  });
  const StoreFolder::Scan result = scan();
  EXPECT_TRUE(result.found.empty());
  EXPECT_TRUE(result.damaged.empty());
}

TEST_F(StoreFolderTest, AScanThatIsStoppedCallsNothingMissingThatItDidNotLookFor) {
  put(segment);
  auto known = scan().found;
  known[0].model.bytes[0] ^= 1;
  int asked = 0;
  const auto result = folder.scan(known, [&] { return ++asked > 1; });
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->found.empty());
  EXPECT_TRUE(result->missing.empty());
}

TEST_F(StoreFolderTest, QuarantinedFilesAreNeverFoundAgainAndStillCount) {
  ASSERT_TRUE(folder.prepare(&segment.header.model));
  EXPECT_EQ(folder.quarantined_bytes(), 0U);
  put(segment);
  ASSERT_TRUE(folder.quarantine(segment.header.model, key_of(segment)));
  ASSERT_TRUE(folder.quarantine(segment.header.model, key_of(segment))) << "gone already";
  EXPECT_TRUE(scan().found.empty());
  EXPECT_EQ(folder.quarantined_bytes(), on_disk(file_of(segment).size()));
  put(segment);  // written again, damaged again
  ASSERT_TRUE(folder.quarantine(segment.header.model, key_of(segment)));
  EXPECT_EQ(folder.quarantined_bytes(), on_disk(file_of(segment).size()));
  EXPECT_EQ(folder.empty_quarantine(), on_disk(file_of(segment).size()));
  EXPECT_EQ(folder.quarantined_bytes(), 0U);
}

TEST_F(StoreFolderTest, ADamagedFileThatCannotBeMovedIsRemoved) {
  const std::string path = put(segment);
  fs.fail_next(FsOp::rename, FsFault::full);
  ASSERT_TRUE(folder.quarantine(segment.header.model, key_of(segment)));
  EXPECT_FALSE(fs.stat(path));
}

TEST_F(StoreFolderTest, EmptyingQuarantineSaysWhenItCannot) {
  EXPECT_EQ(folder.empty_quarantine(), 0U) << "no such folder";
  put(segment);
  ASSERT_TRUE(folder.quarantine(segment.header.model, key_of(segment)));
  fs.set_read_only(true);
  EXPECT_EQ(folder.empty_quarantine().error().fault, FsFault::read_only);
}

TEST_F(StoreFolderTest, PinsComeBack) {
  ASSERT_TRUE(folder.prepare(nullptr));
  EXPECT_TRUE(folder.read_pins()->empty());
  const std::vector<Identity> pins = {segment.header.identity, segment.header.model};
  ASSERT_TRUE(folder.write_pins(pins));
  EXPECT_EQ(*folder.read_pins(), pins);
  ASSERT_TRUE(folder.write_pins({}));
  EXPECT_TRUE(folder.read_pins()->empty());
}

TEST_F(StoreFolderTest, LinesThatAreNoPinsAreIgnored) {
  const std::string pin = segment.header.identity.hex();
  fs.write_raw("/store/pins", bytes_of("# mine\n\n" + pin + "\n" + pin.substr(1) + "\n\xff\n" +
                                       pin + "\n" + pin + "00"));
  EXPECT_EQ(*folder.read_pins(), (std::vector<Identity>{segment.header.identity}));
}

TEST_F(StoreFolderTest, PinsAreReplacedAtomically) {
  ASSERT_TRUE(folder.prepare(nullptr));
  const std::vector<Identity> old_pins = {segment.header.identity};
  const std::vector<Identity> new_pins = {segment.header.model};
  ASSERT_TRUE(folder.write_pins(old_pins));
  for (const FsOp op : {FsOp::create, FsOp::write, FsOp::sync, FsOp::rename}) {
    fs.fail_next(op, FsFault::full);
    EXPECT_FALSE(folder.write_pins(new_pins));
    EXPECT_EQ(*folder.read_pins(), old_pins);
    EXPECT_FALSE(fs.stat("/store/pins.tmp"));
  }
  fs.write_raw("/store/pins.tmp", bytes_of("left by a crash"));
  fs.sync_all();
  ASSERT_TRUE(folder.write_pins(new_pins));
  fs.crash(7);
  EXPECT_EQ(*folder.read_pins(), new_pins);
}

TEST_F(StoreFolderTest, PinsAreTheOldOrTheNewOnesAfterACrashAtAnyPoint) {
  const std::vector<Identity> old_pins = {segment.header.identity};
  const std::vector<Identity> new_pins = {segment.header.model};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SimFs disk(clock);
    StoreFolder store(disk, kRoot);
    ASSERT_TRUE(store.prepare(nullptr));
    ASSERT_TRUE(store.write_pins(old_pins));
    disk.sync_all();
    std::uint64_t calls = 0;
    disk.set_hook([&](FsOp, const std::string&, std::uint64_t) -> std::optional<FsFault> {
      if (++calls == 1 + seed % 6) disk.crash(seed);
      return std::nullopt;
    });
    (void)store.write_pins(new_pins);
    disk.clear_faults();
    const auto pins = store.read_pins();
    ASSERT_TRUE(pins);
    ASSERT_TRUE(*pins == old_pins || *pins == new_pins) << seed;
  }
}

TEST(StoreFolderOnDisk, ScansAndKeepsPinsAsInMemory) {
  const testing::TemporaryFolder parent;
  PosixFs fs;
  StoreFolder folder(fs, parent.at("store"));
  const Blob segment = testing::example_segment();
  ASSERT_TRUE(folder.prepare(&segment.header.model));
  const std::string path = folder.blob_path(segment.header.model, key_of(segment));
  const BlobToWrite blob{segment.header, segment.payload};
  ASSERT_TRUE(write_blob(fs, path + ".1.tmp", blob, {}));
  ASSERT_TRUE(fs.rename(path + ".1.tmp", path));
  ASSERT_TRUE(write_blob(fs, path + ".2.tmp", blob, {}));
  ASSERT_TRUE(folder.write_pins({segment.header.identity}));

  const auto first = folder.scan({}, {});
  ASSERT_TRUE(first);
  ASSERT_EQ(first->found.size(), 1U);
  EXPECT_EQ(first->temporaries, (std::vector<std::string>{path + ".2.tmp"}));
  EXPECT_EQ(first->foreign, 0U);
  EXPECT_EQ(folder.read_pins()->size(), 1U);
  ASSERT_TRUE(folder.quarantine(segment.header.model, key_of(segment)));
  EXPECT_EQ(folder.quarantined_bytes(), on_disk(file_of(segment).size()));
  const auto second = folder.scan(first->found, {});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->missing.size(), 1U);
}

}  // namespace
}  // namespace samovar
