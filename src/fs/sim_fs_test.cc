// Goal: SimFs answers as PosixFs does, and fails, fills up and rots as it is told to; what a crash
// leaves is sim_fs_crash_test.cc's. Method: few operations at a time.
#include "tests/support/sim_fs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <thread>

#include "fs/sim_fs_testing.h"
#include "tests/support/manual_executor.h"

namespace samovar {
namespace {

using testing::bytes_of;
using testing::SimFsTest;

// --- as PosixFs

TEST_F(SimFsTest, WritesAndReads) {
  put(fs_, "/s/m/a", "hello world", true);
  auto reader = fs_.open("/s/m/a");
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader)->size(), 11U);
  std::array<std::uint8_t, 8> into;
  EXPECT_EQ((*reader)->read_at(6, into).value(), 5U);
  EXPECT_EQ((*reader)->read_at(99, into).value(), 0U);
  EXPECT_TRUE(fs_.remove("/s/m/a"));
  EXPECT_EQ((*reader)->read_at(0, into).value(), 8U);
  EXPECT_EQ(fs_.open("/s").error().message, "cannot open /s: Is a directory");
}

TEST_F(SimFsTest, RefusesWhatPosixRefuses) {
  put(fs_, "/s/m/a", "a", true);
  EXPECT_EQ(fs_.create("/s/m/a").error().fault, FsFault::exists);
  EXPECT_EQ(fs_.create("/s/none/a").error().message,
            "cannot create /s/none/a: No such file or directory");
  EXPECT_EQ(fs_.create("/s/m/a/b").error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.open("/s/none").error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.rename("/s/none", "/s/x").error().message,
            "cannot rename /s/none to /s/x: No such file or directory");
  EXPECT_FALSE(fs_.rename("/s/m/a", "/s/q"));
  EXPECT_TRUE(fs_.rename("/s/m/a", "/s/m/a"));
  EXPECT_EQ(fs_.remove("/s/m").error().fault, FsFault::other);
  EXPECT_EQ(fs_.remove("/s/none").error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.touch("/s/none").error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.sync_directory("/s/m/a").error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.list("/s/m/a", true).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.stat("/s/none").error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.space("/s/none").error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.make_directory("/s/m/a").error().fault, FsFault::exists);
  EXPECT_EQ(fs_.make_directory("/s/m/a/b").error().fault, FsFault::not_found);
  EXPECT_TRUE(fs_.remove("/s/m/a"));
  EXPECT_TRUE(fs_.remove("/s/m/"));
}

TEST_F(SimFsTest, ListsAndLooks) {
  put(fs_, "/s/m/a", "12345", false);
  ASSERT_TRUE(fs_.make_directory("/s/m/d"));
  for (const bool details : {false, true}) {
    auto entries = fs_.list("/s/m", details);
    ASSERT_TRUE(entries);
    std::ranges::sort(*entries, {}, &DirEntry::name);
    ASSERT_EQ(entries->size(), 2U);
    EXPECT_EQ(entries->at(0).bytes, details ? 5U : 0U);
    EXPECT_EQ(entries->at(0).modified, details ? clock_.wall_seconds() : 0);
    EXPECT_TRUE(entries->at(1).directory);
  }
  EXPECT_EQ(fs_.stat("/s/m/")->name, "m");
  EXPECT_EQ(fs_.paths(), (std::vector<std::string>{"/s/", "/s/m/", "/s/m/a", "/s/m/d/", "/s/q/"}));
}

TEST_F(SimFsTest, ALockHasOneOwnerAndSaysWho) {
  auto lock = fs_.lock("/s/lock", "process 7");
  ASSERT_TRUE(lock);
  EXPECT_EQ(content(fs_, "/s/lock"), "process 7\n");
  const auto second = fs_.lock("/s/lock", "process 8");
  EXPECT_EQ(second.error().fault, FsFault::exists);
  EXPECT_EQ(second.error().message, "cannot lock /s/lock: process 7 holds it");
  lock->reset();
  EXPECT_TRUE(fs_.lock("/s/lock", "process 8"));
}

// --- faults

TEST_F(SimFsTest, EveryOperationCanFail) {
  put(fs_, "/s/m/a", "a", true);
  auto writer = fs_.create("/s/m/b");
  auto reader = fs_.open("/s/m/a");
  std::array<std::uint8_t, 4> into;
  const std::vector<std::pair<FsOp, std::function<FsFault()>>> table = {
      {FsOp::open, [&] { return fs_.open("/s/m/a").error().fault; }},
      {FsOp::create, [&] { return fs_.create("/s/m/c").error().fault; }},
      {FsOp::write, [&] { return (*writer)->write(bytes_of("x")).error().fault; }},
      {FsOp::sync, [&] { return (*writer)->sync().error().fault; }},
      {FsOp::read, [&] { return (*reader)->read_at(0, into).error().fault; }},
      {FsOp::rename, [&] { return fs_.rename("/s/m/a", "/s/m/c").error().fault; }},
      {FsOp::remove, [&] { return fs_.remove("/s/m/a").error().fault; }},
      {FsOp::touch, [&] { return fs_.touch("/s/m/a").error().fault; }},
      {FsOp::make_directory, [&] { return fs_.make_directory("/s/n").error().fault; }},
      {FsOp::sync_directory, [&] { return fs_.sync_directory("/s/m").error().fault; }},
      {FsOp::list, [&] { return fs_.list("/s/m", true).error().fault; }},
      {FsOp::stat, [&] { return fs_.stat("/s/m/a").error().fault; }},
      {FsOp::space, [&] { return fs_.space("/s").error().fault; }},
      {FsOp::lock, [&] { return fs_.lock("/s/lock", "me").error().fault; }},
  };
  ASSERT_EQ(table.size(), kFsOps);
  const auto paths = fs_.paths();
  for (const auto& [op, call] : table) {
    const std::uint64_t before = fs_.calls(op);
    fs_.fail_next(op, FsFault::denied);
    EXPECT_EQ(call(), FsFault::denied) << verb_of(op);
    fs_.set_hook([op = op](FsOp asked, const std::string&, std::uint64_t) {
      return asked == op ? std::optional(FsFault::io) : std::nullopt;
    });
    EXPECT_EQ(call(), FsFault::io) << verb_of(op);
    fs_.clear_faults();
    EXPECT_EQ(fs_.calls(op), before + 2) << verb_of(op);
  }
  EXPECT_EQ(fs_.paths(), paths);
}

TEST_F(SimFsTest, FaultsComeWhenTheyWereOrdered) {
  fs_.fail_next(FsOp::stat, FsFault::io, 2, 2);
  fs_.fail_next(FsOp::stat, FsFault::denied, 5);
  std::vector<bool> good;
  for (int i = 0; i < 7; ++i) good.push_back(fs_.stat("/s").has_value());
  EXPECT_EQ(good, (std::vector<bool>{true, true, false, false, true, false, true}));
}

TEST_F(SimFsTest, AHookSeesTheCallAndMayUseTheFileSystem) {
  put(fs_, "/s/m/a", "a", true);
  auto writer = fs_.create("/s/m/b");
  std::vector<std::string> seen;
  fs_.set_hook(
      [&](FsOp op, const std::string& path, std::uint64_t bytes) -> std::optional<FsFault> {
        seen.push_back(std::string(verb_of(op)) + " " + path + " " + std::to_string(bytes));
        if (op == FsOp::rename) fs_.remove_tree("/s/m");
        if (op == FsOp::write) fs_.crash(1);
        return std::nullopt;
      });
  EXPECT_EQ((*writer)->write(bytes_of("xyz")).error().fault, FsFault::io);
  EXPECT_EQ(fs_.rename("/s/m/a", "/s/m/c").error().fault, FsFault::not_found);
  EXPECT_EQ(seen, (std::vector<std::string>{"write /s/m/b 3", "rename /s/m/a 0"}));
}

TEST_F(SimFsTest, ShortWritesStoreAPartAndAreFull) {
  auto writer = fs_.create("/s/m/a");
  fs_.shorten_write(3, 1);
  EXPECT_TRUE((*writer)->write(bytes_of("ab")));
  const FsStatus cut = (*writer)->write(bytes_of("cdefgh"));
  EXPECT_EQ(cut.error().message, "cannot write /s/m/a: No space left on device");
  EXPECT_EQ(cut.error().fault, FsFault::full);
  EXPECT_EQ(content(fs_, "/s/m/a"), "abcde");
}

TEST_F(SimFsTest, ShortReadsEndEarly) {
  put(fs_, "/s/m/a", "abcdef", true);
  auto reader = fs_.open("/s/m/a");
  std::array<std::uint8_t, 6> into;
  fs_.shorten_read(2);
  EXPECT_EQ((*reader)->read_at(0, into).value(), 2U);
  EXPECT_EQ((*reader)->read_at(0, into).value(), 6U);
  fs_.truncate("/s/m/a", 4);
  EXPECT_EQ((*reader)->size(), 6U);
  EXPECT_EQ((*reader)->read_at(0, into).value(), 4U);
}

TEST_F(SimFsTest, ADiskFillsUpByPages) {
  fs_.set_disk_bytes(3 * SimDisk::kPage);
  put(fs_, "/s/m/a", "1", true);
  EXPECT_EQ(fs_.used_bytes(), SimDisk::kPage);
  EXPECT_EQ(fs_.space("/s")->free, 2 * SimDisk::kPage);
  auto writer = fs_.create("/s/m/b");
  EXPECT_TRUE((*writer)->write(bytes_of(std::string(5000, 'x'))));
  EXPECT_EQ((*writer)->write(bytes_of(std::string(5000, 'x'))).error().fault, FsFault::full);
  EXPECT_EQ(fs_.stat("/s/m/b")->bytes, 2 * SimDisk::kPage);
  EXPECT_EQ(fs_.space("/s")->free, 0U);
  EXPECT_TRUE(fs_.lock("/s/lock", "me"));  // without its line

  EXPECT_TRUE(fs_.rename("/s/m/b", "/s/m/a"));  // frees what it replaces
  EXPECT_EQ(fs_.used_bytes(), 2 * SimDisk::kPage);
  EXPECT_TRUE(fs_.remove("/s/m/a"));
  EXPECT_EQ(fs_.used_bytes(), 0U);
  fs_.set_disk_bytes(0);
  EXPECT_TRUE((*writer)->write(bytes_of("x")));  // a removed file needs no room
}

TEST_F(SimFsTest, UsedBytesFollowACrash) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimFs fs(clock_);
    start(fs);
    put(fs, "/s/m/a", std::string(9000, 'x'), false);
    put(fs, "/s/m/b", std::string(9000, 'x'), true);
    ASSERT_TRUE(fs.rename("/s/m/b", "/s/q/b"));
    fs.crash(seed);
    std::uint64_t pages = 0;
    const auto add = [&](const std::string& path) {
      if (const auto bytes = fs.read_raw(path)) pages += (bytes->size() + 4095) / 4096;
    };
    add("/s/m/a");
    add(fs.read_raw("/s/m/b") ? "/s/m/b" : "/s/q/b");
    EXPECT_EQ(fs.used_bytes(), pages * 4096);
    fs.remove_tree("/s");
    EXPECT_EQ(fs.used_bytes(), 0U);
  }
}

TEST_F(SimFsTest, AReadOnlyDiskCanBeRead) {
  put(fs_, "/s/m/a", "a", true);
  fs_.sync_all();
  auto writer = fs_.create("/s/m/b");
  fs_.set_read_only(true);
  EXPECT_EQ(fs_.create("/s/m/c").error().message, "cannot create /s/m/c: Read-only file system");
  EXPECT_EQ((*writer)->write(bytes_of("x")).error().fault, FsFault::read_only);
  EXPECT_EQ(fs_.rename("/s/m/a", "/s/m/c").error().fault, FsFault::read_only);
  EXPECT_EQ(fs_.remove("/s/m/a").error().fault, FsFault::read_only);
  EXPECT_EQ(fs_.touch("/s/m/a").error().fault, FsFault::read_only);
  EXPECT_EQ(fs_.lock("/s/lock", "me").error().fault, FsFault::read_only);
  EXPECT_EQ(fs_.make_directory("/s/n").error().fault, FsFault::read_only);
  EXPECT_TRUE(fs_.make_directory("/s/m"));
  EXPECT_EQ(fs_.sync_directory("/s/m").error().fault, FsFault::read_only);  // b is not durable
  EXPECT_TRUE(fs_.sync_directory("/s"));
  EXPECT_TRUE(fs_.open("/s/m/a") && fs_.list("/s", true) && fs_.stat("/s") && fs_.space("/s"));
  fs_.set_read_only(false);
  EXPECT_TRUE((*writer)->write(bytes_of("x")));
}

TEST_F(SimFsTest, RotAndStrangers) {
  const auto work = [](SimFs& fs) {
    put(fs, "/s/m/a", "aaa", true);
    ASSERT_TRUE(fs.sync_directory("/s/m"));
    fs.flip_bit("/s/m/a", 9);
    fs.write_raw("/s/new/raw", bytes_of("raw"));
    put(fs, "/s/m/again", "old and unsynced", false);
    fs.write_raw("/s/m/again", bytes_of("again"));
  };
  EXPECT_EQ(crashes(work,
                    [](SimFs& fs) {
                      return content(fs, "/s/m/a") == "aca" && content(fs, "/s/new/raw") == "raw" &&
                             content(fs, "/s/m/again") == "again";
                    }),
            kSeeds);
}

TEST_F(SimFsTest, AFolderMayVanishWhileItIsUsed) {
  put(fs_, "/s/m/a", "a", true);
  auto reader = fs_.open("/s/m/a");
  auto writer = fs_.create("/s/m/b");
  fs_.remove_tree("/s");
  EXPECT_TRUE(fs_.paths().empty());
  std::array<std::uint8_t, 1> into;
  EXPECT_TRUE((*reader)->read_at(0, into));
  EXPECT_TRUE((*writer)->write(bytes_of("x")));
  EXPECT_EQ(fs_.rename("/s/m/b", "/s/m/c").error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.sync_directory("/s/m").error().fault, FsFault::not_found);
  EXPECT_TRUE(fs_.make_directory("/s/m"));
}

TEST_F(SimFsTest, CostsAreCounted) {
  SimFs fs(clock_, {.write_micros_per_byte = 2, .read_micros_per_byte = 0.5, .sync_micros = 100});
  put(fs, "/a", "0123456789", true);
  ASSERT_TRUE(fs.sync_directory("/"));
  std::array<std::uint8_t, 4> into;
  EXPECT_TRUE((*fs.open("/a"))->read_at(0, into));
  EXPECT_EQ(fs.written_bytes(), 10U);
  EXPECT_EQ(fs.read_bytes(), 4U);
  EXPECT_EQ(fs.spent(), 222);
  EXPECT_EQ(clock_.now(), 0);
}

TEST_F(SimFsTest, ManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this, i] {
      const std::string name = "/s/m/" + std::to_string(i);
      for (std::uint64_t k = 0; k < 100; ++k) {
        if (i == 0 && k % 10 == 0) fs_.crash(k);
        auto writer = fs_.create(name + ".tmp");
        if (writer && (*writer)->write(bytes_of("text")) && (*writer)->sync()) {
          [[maybe_unused]] const FsStatus moved = fs_.rename(name + ".tmp", name);
        }
        [[maybe_unused]] const FsStatus gone = fs_.remove(name + ".tmp");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// --- ManualExecutor

TEST(ManualExecutor, RunsWhenToldTo) {
  ManualExecutor executor;
  std::string order;
  executor.post([&] {
    order += 'a';
    executor.post([&] { order += 'd'; });
  });
  executor.post([&] { order += 'b'; });
  executor.post([&] { order += 'c'; });
  EXPECT_EQ(executor.pending(), 3U);
  EXPECT_TRUE(executor.run_one(1));
  EXPECT_FALSE(executor.run_one(2));
  EXPECT_EQ(executor.run_all(), 3U);
  EXPECT_EQ(order, "bacd");
  EXPECT_FALSE(executor.run_one());
}

TEST(ManualExecutor, DroppedJobsVanish) {
  ManualExecutor executor;
  auto held = std::make_shared<int>(1);
  executor.post([held] { ++*held; });
  executor.post([held] { ++*held; });
  EXPECT_EQ(executor.drop_all(), 2U);
  EXPECT_EQ(executor.pending(), 0U);
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 1);
}

}  // namespace
}  // namespace samovar
