// Goal: the owner's operations do what they say, to the files that they say, and hold the lock for
// it (S8). Method: small stores in SimFs, and once with a real catalog on the machine's file
// system.
#include "store/store_admin.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fs/posix_fs.h"
#include "store/store_family.h"
#include "tests/support/sim_fs.h"
#include "tests/support/small_store.h"
#include "tests/support/temporary_folder.h"

namespace samovar {
namespace {

using testing::model_named;
using testing::session_of;
using testing::SmallStore;

constexpr const char* kRoot = "/store";

class StoreAdminTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<StoreAdmin>> try_open(StoreAccess access) {
    return StoreAdmin::open(fs, clock, {.folder = kRoot, .access = access, .catalog = false});
  }
  std::unique_ptr<StoreAdmin> open(StoreAccess access = StoreAccess::change) {
    auto admin = try_open(access);
    EXPECT_TRUE(admin) << admin.error().describe();
    return admin ? std::move(*admin) : nullptr;
  }
  StoreContents look() { return *open(StoreAccess::read)->look(); }
  bool there(const SmallStore::Node& node, BlobKind kind = BlobKind::segment) {
    return fs.stat(store.path(node, kind)).has_value();
  }

  FakeClock clock;
  SimFs fs{clock};
  SmallStore store{fs, kRoot};
};

TEST_F(StoreAdminTest, AMissingFolderIsNoStoreAndAnEmptyOneIsEmpty) {
  const auto missing = try_open(StoreAccess::read);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("there is no store in /store"), std::string::npos);
  ASSERT_FALSE(try_open(StoreAccess::change));
  ASSERT_TRUE(fs.make_directory(kRoot));
  EXPECT_TRUE(look().records.empty());
}

TEST_F(StoreAdminTest, AFolderWithOtherFilesIsLeftAlone) {
  fs.write_raw("/store/letter.txt", {});
  EXPECT_FALSE(try_open(StoreAccess::change));
  EXPECT_EQ(fs.paths(), (std::vector<std::string>{"/store/", "/store/letter.txt"}));
}

TEST_F(StoreAdminTest, ReadingWorksBesideAServerAndChangingSaysWhoOwnsTheFolder) {
  store.add({}, {}, 1);
  auto server = *fs.lock("/store/lock", "process 77");
  EXPECT_EQ(look().records.size(), 2U);
  EXPECT_TRUE(open(StoreAccess::read)->verify(false, false, {}));
  const auto change = try_open(StoreAccess::change);
  ASSERT_FALSE(change);
  EXPECT_EQ(change.error().message, "process 77 owns the store in /store");
  EXPECT_NE(change.error().remedy.find("Stop the server"), std::string::npos);
  server.reset();
  EXPECT_TRUE(try_open(StoreAccess::change));
}

TEST_F(StoreAdminTest, ChangingHoldsTheLockForItsWholeLife) {
  store.add({}, {}, 1);
  {
    const auto admin = open();
    EXPECT_FALSE(fs.lock("/store/lock", "a server"));
  }
  EXPECT_TRUE(fs.lock("/store/lock", "a server"));
}

TEST_F(StoreAdminTest, ALookTellsFilesApart) {
  const auto node = store.add({}, {}, 1);
  store.add({.model = model_named('o'), .session = session_of(2)}, {}, 2, false);
  fs.write_raw(store.path(node) + ".7.tmp", std::vector<std::uint8_t>(5000));
  fs.write_raw("/store/quarantine/x", std::vector<std::uint8_t>(10));
  fs.write_raw("/store/notes", {});
  const StoreContents contents = look();
  EXPECT_EQ(contents.records.size(), 3U);
  EXPECT_EQ(contents.temporary.files, 1U);
  EXPECT_EQ(contents.temporary.bytes, 8192U);
  EXPECT_EQ(contents.quarantined.files, 1U);
  EXPECT_EQ(contents.foreign, 1U);
  EXPECT_FALSE(contents.from_catalog);
  EXPECT_EQ(summarise_models(contents).size(), 2U);
}

TEST_F(StoreAdminTest, RemovingTakesTheFilesAndThePinsOnThem) {
  const auto first = store.add({}, {}, 1);
  const auto second = store.add({}, first, 2);
  const auto admin = open();
  ASSERT_TRUE(admin->set_pins({first.identity, second.identity}));
  const StoreContents contents = *admin->look();
  const auto removed = admin->remove(
      contents, {{BlobKind::segment, second.identity}, {BlobKind::snapshot, second.identity}});
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->files, 2U);
  EXPECT_TRUE(there(first));
  EXPECT_FALSE(there(second));
  EXPECT_EQ(admin->look()->pins, std::vector{first.identity});
}

TEST_F(StoreAdminTest, RemovingBeginsWithWhatStandsOnOthers) {
  const auto first = store.add({}, {}, 1);
  const auto second = store.add({}, first, 2);
  const auto admin = open();
  const StoreContents contents = *admin->look();
  fs.fail_next(FsOp::remove, FsFault::io, 2, 100);
  EXPECT_FALSE(admin->remove(contents, {{BlobKind::segment, first.identity},
                                        {BlobKind::snapshot, first.identity},
                                        {BlobKind::segment, second.identity},
                                        {BlobKind::snapshot, second.identity}}));
  fs.clear_faults();
  EXPECT_TRUE(there(first));
  EXPECT_FALSE(there(second)) << "the two that went";
  EXPECT_FALSE(there(second, BlobKind::snapshot));
}

TEST_F(StoreAdminTest, GcRemovesWhatIsWorthless) {
  const auto first = store.add({}, {}, 1);
  const auto second = store.add({}, first, 2);
  const auto other = store.add({.session = session_of(2)}, {}, 3);
  fs.write_raw(store.path(other) + ".7.tmp", std::vector<std::uint8_t>(5000));
  fs.write_raw("/store/quarantine/x", std::vector<std::uint8_t>(10));
  fs.flip_bit(store.path(first), 8 * 300);  // a reserved byte: its header does not hold
  const auto dry = open(StoreAccess::read)->gc(look(), std::nullopt, true);
  ASSERT_TRUE(dry);
  EXPECT_TRUE(there(second)) << "a dry run";
  const auto admin = open();
  const auto report = admin->gc(*admin->look(), std::nullopt, false);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->temporaries.files, 1U);
  EXPECT_EQ(report->quarantined.files, 2U);
  EXPECT_EQ(report->unreachable.files, 3U) << "a snapshot without its segment, and what followed";
  EXPECT_EQ(report->freed(), dry->freed());
  EXPECT_TRUE(there(other));
  const StoreContents left = *admin->look();
  EXPECT_EQ(left.records.size(), 2U);
  EXPECT_EQ(bytes_that_count(left), report->bytes_left);
  EXPECT_EQ(left.temporary.files + left.quarantined.files + left.damaged.size(), 0U);
}

TEST_F(StoreAdminTest, GcShrinksToASizeButNeverTakesPins) {
  SmallStore::Node node;
  for (std::uint32_t i = 0; i < 4; ++i) node = store.add({}, node, i);
  const auto pinned = store.add({.session = session_of(2)}, {}, 10);
  const auto admin = open();
  ASSERT_TRUE(admin->set_pins({pinned.identity}));
  const std::uint64_t all = bytes_that_count(*admin->look());
  const auto half = admin->gc(*admin->look(), all / 2, false);
  ASSERT_TRUE(half);
  EXPECT_TRUE(half->fits);
  EXPECT_LE(bytes_that_count(*admin->look()), all / 2);
  const auto none = admin->gc(*admin->look(), 0, false);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->fits);
  EXPECT_TRUE(there(pinned));
  EXPECT_TRUE(there(pinned, BlobKind::snapshot));
  EXPECT_EQ(admin->look()->records.size(), 2U);
}

TEST_F(StoreAdminTest, VerifyReadsEveryByte) {
  const auto first = store.add({}, {}, 1);
  const auto second = store.add({}, first, 2);
  const std::uint64_t size = fs.stat(store.path(second))->bytes;
  fs.flip_bit(store.path(second), 8 * (size - 1));
  const auto reader = open(StoreAccess::read);
  EXPECT_TRUE(reader->verify(true, false, {})->bad.empty()) << "headers are right";
  const auto report = reader->verify(false, false, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->good.files, 3U);
  ASSERT_EQ(report->bad.size(), 1U);
  EXPECT_EQ(report->bad[0].path, store.path(second));
  EXPECT_FALSE(report->bad[0].repaired);
  EXPECT_EQ(report->unreachable.files, 1U) << "the snapshot that stands there";
  EXPECT_TRUE(there(second));
}

TEST_F(StoreAdminTest, RepairMovesDamagedFilesToQuarantineAndLeavesUnreadableOnes) {
  const auto first = store.add({}, {}, 1);
  const auto second = store.add({}, first, 2, false);
  fs.truncate(store.path(second), 100);
  fs.set_hook([&](FsOp op, const std::string& path, std::uint64_t) -> std::optional<FsFault> {
    const bool hit = op == FsOp::read && path == store.path(first);
    return hit ? std::optional(FsFault::io) : std::nullopt;
  });
  const auto admin = open();
  const auto report = admin->verify(false, true, {});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->bad.size(), 2U);
  EXPECT_EQ(std::ranges::count(report->bad, true, &BadFile::repaired), 1);
  EXPECT_TRUE(there(first)) << "it may be fine";
  EXPECT_FALSE(there(second));
  fs.clear_faults();
  EXPECT_EQ(admin->look()->quarantined.files, 1U);
}

TEST_F(StoreAdminTest, VerifyFindsFilesUnderAnotherOnesName) {
  const auto first = store.add({}, {}, 1, false);
  const auto second = store.add({}, first, 2, false);
  fs.write_raw(store.path(second), *fs.read_raw(store.path(first)));
  const auto report = open(StoreAccess::read)->verify(false, false, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->bad.size(), 1U);
}

TEST_F(StoreAdminTest, FilesOfNewerVersionsAreCountedOnly) {
  const auto node = store.add({}, {}, 1, false);
  auto bytes = *fs.read_raw(store.path(node));
  bytes[8] = 9;  // the version
  fs.write_raw(store.path(node), bytes);
  const auto admin = open();
  const auto report = admin->verify(false, true, {});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->bad.empty());
  EXPECT_EQ(report->unknown_versions.files, 1U);
  const auto gc = admin->gc(*admin->look(), 0, false);
  ASSERT_TRUE(gc);
  EXPECT_FALSE(gc->fits);
  EXPECT_TRUE(there(node));
}

TEST_F(StoreAdminTest, EverythingIsEverythingButWhatIsNotOurs) {
  const auto node = store.add({}, {}, 1);
  const auto newer = store.add({}, node, 2, false);
  auto bytes = *fs.read_raw(store.path(newer));
  bytes[8] = 9;
  fs.write_raw(store.path(newer), bytes);
  fs.write_raw(store.path(node) + ".7.tmp", bytes);
  fs.write_raw("/store/quarantine/x", bytes);
  fs.write_raw("/store/notes", {});
  const auto admin = open();
  ASSERT_TRUE(admin->set_pins({node.identity}));
  const auto removed = admin->remove_everything();
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->files, 5U);
  EXPECT_EQ(fs.paths(), (std::vector<std::string>{"/store/", "/store/lock", "/store/notes",
                                                  "/store/pins", "/store/quarantine/"}));
  EXPECT_TRUE(admin->look()->pins.empty());
}

// --- with a catalog -----------------------------------------------------------------------------

class StoreAdminCatalogTest : public ::testing::Test {
 protected:
  std::unique_ptr<StoreAdmin> open(StoreAccess access) {
    auto admin = StoreAdmin::open(fs, system_clock(), {.folder = root.path(), .access = access});
    EXPECT_TRUE(admin) << admin.error().describe();
    return admin ? std::move(*admin) : nullptr;
  }

  testing::TemporaryFolder root;
  PosixFs fs;
};

TEST_F(StoreAdminCatalogTest, TheCatalogIsReadWhereItMayBeAndKeptInStep) {
  SmallStore store(fs, root.path());
  const auto first = store.add({}, {}, 1);
  store.add({}, first, 2);
  EXPECT_FALSE(open(StoreAccess::read)->look()->from_catalog) << "there is none yet";
  EXPECT_EQ(open(StoreAccess::change)->rebuild()->records, 4U);
  EXPECT_TRUE(open(StoreAccess::read)->look()->from_catalog);
  {
    const auto server = fs.lock(root.at("lock"), "process 77");
    const StoreContents contents = *open(StoreAccess::read)->look();
    EXPECT_FALSE(contents.from_catalog);
    EXPECT_EQ(contents.owner, "process 77");
    EXPECT_EQ(contents.records.size(), 4U);
  }
  {
    const auto admin = open(StoreAccess::change);
    const StoreContents contents = *admin->look();
    ASSERT_TRUE(admin->remove(contents, {{BlobKind::snapshot, first.identity}}));
  }
  const auto catalog = Catalog::open(root.at("catalog.db"));
  EXPECT_EQ((*catalog)->load()->size(), 3U);
}

TEST_F(StoreAdminCatalogTest, TheCatalogRemembersWhatGcEvictedAndNothingElse) {
  SmallStore store(fs, root.path());
  const auto first = store.add({}, {}, 1);
  store.add({}, first, 2);
  {
    const auto admin = open(StoreAccess::change);
    ASSERT_TRUE(admin->remove(*admin->look(), {{BlobKind::snapshot, first.identity}}));
    ASSERT_TRUE(admin->gc(*admin->look(), 0, true));  // says only what it would do
  }
  EXPECT_TRUE((*Catalog::open(root.at("catalog.db")))->evicted().empty());
  {
    const auto admin = open(StoreAccess::change);
    ASSERT_TRUE(admin->gc(*admin->look(), 0, false));
  }
  EXPECT_EQ((*Catalog::open(root.at("catalog.db")))->evicted().size(), 3U);
}

TEST_F(StoreAdminCatalogTest, ADamagedCatalogIsMadeAgainFromTheFiles) {
  SmallStore store(fs, root.path());
  store.add({}, {}, 1);
  {
    const auto catalog = fs.create(root.at("catalog.db"));
    const std::vector<std::uint8_t> noise(8192, 7);
    ASSERT_TRUE((*catalog)->write(noise));
  }
  const StoreContents contents = *open(StoreAccess::read)->look();
  EXPECT_EQ(contents.records.size(), 2U);
  EXPECT_FALSE(contents.from_catalog);
  EXPECT_TRUE(open(StoreAccess::read)->look()->from_catalog);
}

}  // namespace
}  // namespace samovar
