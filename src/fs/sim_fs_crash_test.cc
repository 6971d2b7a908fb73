// Goal: in a crash SimFs keeps what POSIX promises and breaks everything else that a crash may
// break. Method: few operations, many seeds; what must hold holds for all of them, what may happen
// happens for some.
#include <gtest/gtest.h>

#include <array>

#include "fs/sim_fs_testing.h"

namespace samovar {
namespace {

using testing::bytes_of;
using testing::SimFsTest;

// --- bytes

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

// --- names

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

// --- handles

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

}  // namespace
}  // namespace samovar
