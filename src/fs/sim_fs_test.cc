// Goal: SimFs promises what POSIX promises and breaks everything else that a crash may break.
// Method: few operations, many seeds; what must hold holds for all of them, what may happen happens
// for some.
#include "tests/support/sim_fs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/support/manual_executor.h"

namespace samovar {
namespace {

constexpr std::uint64_t kSeeds = 300;

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class SimFsTest : public ::testing::Test {
 protected:
  void SetUp() override { start(fs_); }

  static void start(SimFs& fs) {
    ASSERT_TRUE(fs.make_directory("/s/m"));
    ASSERT_TRUE(fs.make_directory("/s/q"));
    fs.sync_all();
  }

  static void put(SimFs& fs, const std::string& path, std::string_view content, bool sync) {
    auto writer = fs.create(path);
    ASSERT_TRUE(writer) << writer.error().message;
    ASSERT_TRUE((*writer)->write(bytes_of(content)));
    if (sync) {
      ASSERT_TRUE((*writer)->sync());
    }
  }

  static std::optional<std::string> content(SimFs& fs, const std::string& path) {
    const auto bytes = fs.read_raw(path);
    if (!bytes) return std::nullopt;
    return std::string(bytes->begin(), bytes->end());
  }

  // For every seed: a fresh file system, `work`, a crash. How often `holds` did.
  template <class Work, class Check>
  std::uint64_t crashes(Work work, Check holds) {
    std::uint64_t count = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      SimFs fs(clock_);
      start(fs);
      work(fs);
      fs.crash(seed);
      if (holds(fs)) ++count;
    }
    return count;
  }

  static bool some(std::uint64_t count) { return count > 0 && count < kSeeds; }

  FakeClock clock_;
  SimFs fs_{clock_};
};

// --- crashes: bytes

TEST_F(SimFsTest, PublishingInFourStepsSurvivesEveryCrash) {
  const std::string text(10'000, 'x');
  const auto publish = [&](SimFs& fs) {
    put(fs, "/s/m/a.tmp", text, true);
    ASSERT_TRUE(fs.rename("/s/m/a.tmp", "/s/m/a"));
    ASSERT_TRUE(fs.sync_directory("/s/m"));
  };
  EXPECT_EQ(crashes(publish, [&](SimFs& fs) { return content(fs, "/s/m/a") == text; }), kSeeds);
  EXPECT_EQ(crashes(publish, [](SimFs& fs) { return fs.read_raw("/s/m/a.tmp").has_value(); }), 0U);
}

TEST_F(SimFsTest, WithoutSyncingTheFolderTheNewNameIsWholeOrAbsent) {
  const std::string text(10'000, 'x');
  const auto publish = [&](SimFs& fs) {
    put(fs, "/s/m/a.tmp", text, true);
    ASSERT_TRUE(fs.rename("/s/m/a.tmp", "/s/m/a"));
  };
  EXPECT_TRUE(some(crashes(publish, [&](SimFs& fs) { return content(fs, "/s/m/a") == text; })));
  EXPECT_EQ(crashes(publish,
                    [&](SimFs& fs) {
                      const auto found = content(fs, "/s/m/a");
                      return !found || found == text;
                    }),
            kSeeds);
}

TEST_F(SimFsTest, WithoutSyncingTheFileANameMayShowAnything) {
  const std::string text(3 * SimDisk::kPage, 'x');
  const auto publish = [&](SimFs& fs) {
    put(fs, "/s/m/a.tmp", text, false);
    ASSERT_TRUE(fs.rename("/s/m/a.tmp", "/s/m/a"));
    ASSERT_TRUE(fs.sync_directory("/s/m"));
  };
  const auto page = [&](SimFs& fs, std::size_t index) {
    return content(fs, "/s/m/a")->substr(index * SimDisk::kPage, SimDisk::kPage);
  };
  const std::string whole(SimDisk::kPage, 'x');
  const std::string zeros(SimDisk::kPage, '\0');
  EXPECT_EQ(crashes(publish, [&](SimFs& fs) { return content(fs, "/s/m/a").has_value(); }), kSeeds);
  EXPECT_TRUE(some(crashes(publish, [&](SimFs& fs) { return content(fs, "/s/m/a") == ""; })));
  EXPECT_TRUE(some(crashes(publish, [&](SimFs& fs) { return content(fs, "/s/m/a") == text; })));
  EXPECT_TRUE(some(crashes(publish, [&](SimFs& fs) {
    const std::size_t size = content(fs, "/s/m/a")->size();
    return size > 0 && size < text.size();
  })));
  // The second page lost though the first and the third are there; and a page in two parts.
  EXPECT_TRUE(some(crashes(publish, [&](SimFs& fs) {
    return content(fs, "/s/m/a")->size() == text.size() && page(fs, 0) == whole &&
           page(fs, 1) == zeros && page(fs, 2) == whole;
  })));
  EXPECT_TRUE(some(crashes(publish, [&](SimFs& fs) {
    if (content(fs, "/s/m/a")->size() != text.size()) return false;
    const std::string first = page(fs, 0);
    return first.front() == 'x' && first.back() == '\0';
  })));
  EXPECT_TRUE(some(crashes(publish, [&](SimFs& fs) {
    if (content(fs, "/s/m/a")->size() != text.size()) return false;
    const std::string first = page(fs, 0);
    return first.front() == '\0' && first.back() == 'x';
  })));
}

TEST_F(SimFsTest, WhatWasSyncedStaysUnderWhatWasNot) {
  const std::string first(5000, 'a');
  const auto work = [&](SimFs& fs) {
    auto writer = fs.create("/s/m/a");
    ASSERT_TRUE((*writer)->write(bytes_of(first)));
    ASSERT_TRUE((*writer)->sync());
    ASSERT_TRUE((*writer)->write(bytes_of(std::string(9000, 'b'))));
    ASSERT_TRUE(fs.sync_directory("/s/m"));
  };
  EXPECT_EQ(crashes(work,
                    [&](SimFs& fs) {
                      const std::string found = *content(fs, "/s/m/a");
                      return found.starts_with(first) && found.size() <= 14'000 &&
                             found.find_first_not_of(std::string("b\0", 2), 5000) == found.npos;
                    }),
            kSeeds);
}

TEST_F(SimFsTest, AfterAFailedSyncTheBytesAreLostWhateverTheNextSyncSays) {
  const auto work = [&](SimFs& fs) {
    auto writer = fs.create("/s/m/a");
    ASSERT_TRUE((*writer)->write(bytes_of(std::string(5000, 'a'))));
    fs.fail_next(FsOp::sync, FsFault::io);
    const FsStatus failed = (*writer)->sync();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().message, "cannot sync /s/m/a: Input/output error");
    EXPECT_TRUE((*writer)->sync());
    ASSERT_TRUE(fs.sync_directory("/s/m"));
    EXPECT_EQ(content(fs, "/s/m/a"), std::string(5000, 'a'));
  };
  EXPECT_TRUE(some(
      crashes(work, [&](SimFs& fs) { return content(fs, "/s/m/a") == std::string(5000, 'a'); })));
}

TEST_F(SimFsTest, ASecondCrashChangesNothing) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimFs fs(clock_);
    start(fs);
    put(fs, "/s/m/a", std::string(9000, 'x'), false);
    put(fs, "/s/m/b", "b", true);
    ASSERT_TRUE(fs.rename("/s/m/b", "/s/q/b"));
    fs.crash(seed);
    const auto paths = fs.paths();
    const auto a = fs.read_raw("/s/m/a");
    fs.crash(seed + 1000);
    EXPECT_EQ(fs.paths(), paths);
    EXPECT_EQ(fs.read_raw("/s/m/a"), a);
  }
}

TEST_F(SimFsTest, ASeedAlwaysDecidesTheSame) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<std::vector<std::string>> paths;
    std::vector<std::optional<std::string>> contents;
    for (int run = 0; run < 2; ++run) {
      SimFs fs(clock_);
      start(fs);
      for (const char* name : {"/s/m/a", "/s/m/b", "/s/q/c"}) {
        put(fs, name, std::string(9000, 'x'), false);
      }
      fs.crash(seed);
      paths.push_back(fs.paths());
      contents.push_back(content(fs, "/s/m/a"));
    }
    EXPECT_EQ(paths[0], paths[1]);
    EXPECT_EQ(contents[0], contents[1]);
  }
}

// --- crashes: names

TEST_F(SimFsTest, ASyncedFileHasNoDurableName) {
  const auto work = [](SimFs& fs) { put(fs, "/s/m/a", "text", true); };
  EXPECT_TRUE(some(crashes(work, [](SimFs& fs) { return fs.read_raw("/s/m/a").has_value(); })));
}

TEST_F(SimFsTest, NameChangesOfAFolderSurviveIndependently) {
  const auto work = [](SimFs& fs) {
    put(fs, "/s/m/old", "old", true);
    ASSERT_TRUE(fs.sync_directory("/s/m"));
    put(fs, "/s/m/a", "a", true);
    put(fs, "/s/m/b", "b", true);
    ASSERT_TRUE(fs.remove("/s/m/old"));
  };
  for (unsigned wanted = 0; wanted < 8; ++wanted) {
    EXPECT_TRUE(some(crashes(work, [&](SimFs& fs) {
      return fs.read_raw("/s/m/a").has_value() == ((wanted & 1) != 0) &&
             fs.read_raw("/s/m/b").has_value() == ((wanted & 2) != 0) &&
             fs.read_raw("/s/m/old").has_value() == ((wanted & 4) != 0);
    }))) << wanted;
  }
}

TEST_F(SimFsTest, ARenameIsAtomic) {
  const auto work = [](SimFs& fs) {
    put(fs, "/s/m/new", "new", true);
    put(fs, "/s/m/name", "old", true);
    ASSERT_TRUE(fs.sync_directory("/s/m"));
    ASSERT_TRUE(fs.rename("/s/m/new", "/s/m/name"));
  };
  const auto happened = [](SimFs& fs) {
    return content(fs, "/s/m/name") == "new" && !fs.read_raw("/s/m/new");
  };
  const auto did_not = [](SimFs& fs) {
    return content(fs, "/s/m/name") == "old" && content(fs, "/s/m/new") == "new";
  };
  const std::uint64_t count = crashes(work, happened);
  EXPECT_TRUE(some(count));
  EXPECT_EQ(crashes(work, did_not), kSeeds - count);
}

TEST_F(SimFsTest, AFileThatMovesToAnotherFolderIsNeverLost) {
  for (const char* synced : {"", "/s/m", "/s/q"}) {
    const auto work = [&](SimFs& fs) {
      put(fs, "/s/m/a", "a", true);
      ASSERT_TRUE(fs.sync_directory("/s/m"));
      ASSERT_TRUE(fs.rename("/s/m/a", "/s/q/a"));
      if (*synced != 0) {
        ASSERT_TRUE(fs.sync_directory(synced));
      }
    };
    const auto there = [](SimFs& fs) { return content(fs, "/s/q/a") == "a"; };
    const auto here = [](SimFs& fs) { return content(fs, "/s/m/a") == "a"; };
    const auto both = [&](SimFs& fs) { return there(fs) && here(fs); };
    const std::string folder = synced;
    EXPECT_EQ(crashes(work, [&](SimFs& fs) { return there(fs) || here(fs); }), kSeeds) << folder;
    EXPECT_EQ(some(crashes(work, both)), folder != "/s/m") << folder;
    EXPECT_EQ(crashes(work, there) == kSeeds, folder != "") << folder;
  }
}

TEST_F(SimFsTest, AFoldersOwnNameBelongsToItsParent) {
  const auto work = [](bool sync_parent) {
    return [sync_parent](SimFs& fs) {
      ASSERT_TRUE(fs.make_directory("/s/n"));
      put(fs, "/s/n/a", "a", true);
      ASSERT_TRUE(fs.sync_directory("/s/n"));
      if (sync_parent) {
        ASSERT_TRUE(fs.sync_directory("/s"));
      }
    };
  };
  const auto there = [](SimFs& fs) { return content(fs, "/s/n/a") == "a"; };
  EXPECT_TRUE(some(crashes(work(false), there)));
  EXPECT_EQ(crashes(work(true), there), kSeeds);
}

TEST_F(SimFsTest, AFailedSyncOfAFolderPromisesNothing) {
  const auto work = [](SimFs& fs) {
    put(fs, "/s/m/a", "a", true);
    fs.fail_next(FsOp::sync_directory, FsFault::io);
    EXPECT_FALSE(fs.sync_directory("/s/m"));
  };
  EXPECT_TRUE(some(crashes(work, [](SimFs& fs) { return fs.read_raw("/s/m/a").has_value(); })));
}

TEST_F(SimFsTest, ATouchMayBeForgotten) {
  const auto work = [this](SimFs& fs) {
    put(fs, "/s/m/a", "a", true);
    ASSERT_TRUE(fs.sync_directory("/s/m"));
    clock_.advance(kSecond);
    ASSERT_TRUE(fs.touch("/s/m/a"));
    EXPECT_EQ(fs.stat("/s/m/a")->modified, clock_.wall_seconds());
  };
  EXPECT_TRUE(some(crashes(
      work, [this](SimFs& fs) { return fs.stat("/s/m/a")->modified == clock_.wall_seconds(); })));
}

TEST_F(SimFsTest, TheOldestOfVeryManyNameChangesAreDurable) {
  std::uint64_t last = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimFs fs(clock_);
    start(fs);
    for (int i = 0; i < 1100; ++i) fs.create("/s/m/" + std::to_string(i)).value();
    fs.crash(seed);
    EXPECT_TRUE(fs.read_raw("/s/m/0"));
    if (fs.read_raw("/s/m/1099")) ++last;
  }
  EXPECT_TRUE(last > 0 && last < 20) << last;
}

// --- crashes: handles

TEST_F(SimFsTest, ACrashKillsHandlesAndReleasesLocks) {
  put(fs_, "/s/m/a", "text", true);
  fs_.sync_all();
  auto writer = fs_.create("/s/m/b");
  auto reader = fs_.open("/s/m/a");
  auto lock = fs_.lock("/s/lock", "first");
  fs_.crash(1);
  std::array<std::uint8_t, 4> into;
  EXPECT_EQ((*writer)->write(bytes_of("x")).error().fault, FsFault::io);
  EXPECT_EQ((*writer)->sync().error().fault, FsFault::io);
  EXPECT_EQ((*reader)->read_at(0, into).error().fault, FsFault::io);
  const auto next = fs_.lock("/s/lock", "second");
  ASSERT_TRUE(next);
  lock->reset();  // the dead one does not release the other
  EXPECT_FALSE(fs_.lock("/s/lock", "third"));
  EXPECT_EQ((*fs_.open("/s/m/a"))->read_at(0, into).value(), 4U);
}

TEST_F(SimFsTest, AKilledProcessLosesNothingButItsHandles) {
  auto writer = fs_.create("/s/m/a");
  ASSERT_TRUE((*writer)->write(bytes_of("text")));
  auto lock = fs_.lock("/s/lock", "first");
  fs_.kill_process();
  EXPECT_FALSE((*writer)->write(bytes_of("x")));
  EXPECT_EQ(content(fs_, "/s/m/a"), "text");
  EXPECT_TRUE(fs_.lock("/s/lock", "second"));
}

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
