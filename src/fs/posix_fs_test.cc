// Goal: PosixFs does what Fs promises and names what fails. Method: a temporary folder; limits of
// the process and special files provoke faults; what needs missing rights is skipped for root.
#include "fs/posix_fs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "fs/posix_calls.h"
#include "tests/support/temporary_folder.h"

namespace samovar {
namespace {

namespace stdfs = std::filesystem;

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class PosixFsTest : public ::testing::Test {
 protected:
  void TearDown() override { ::umask(022); }

  std::string at(const std::string& name) const { return folder_.at(name); }

  void put(const std::string& name, std::string_view content) {
    auto writer = fs_.create(at(name));
    ASSERT_TRUE(writer) << writer.error().message;
    ASSERT_TRUE((*writer)->write(bytes_of(content)));
  }

  std::string content(const std::string& name) {
    std::ifstream file(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  mode_t mode(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  PosixFs fs_;
  testing::TemporaryFolder folder_;
};

TEST_F(PosixFsTest, WritesAndReads) {
  auto writer = fs_.create(at("a"));
  ASSERT_TRUE(writer);
  EXPECT_TRUE((*writer)->write(bytes_of("hello ")));
  EXPECT_TRUE((*writer)->write({}));
  EXPECT_TRUE((*writer)->write(bytes_of("world")));
  EXPECT_TRUE((*writer)->sync());
  EXPECT_TRUE(fs_.sync_directory(folder_.path()));

  auto reader = fs_.open(at("a"));
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader)->size(), 11U);
  std::string text(20, '.');
  const MutableBytes into{reinterpret_cast<std::uint8_t*>(text.data()), text.size()};
  EXPECT_EQ((*reader)->read_at(0, into.first(5)).value(), 5U);
  EXPECT_EQ(text.substr(0, 6), "hello.");
  EXPECT_EQ((*reader)->read_at(6, into).value(), 5U);  // less at the end of the file
  EXPECT_EQ(text.substr(0, 6), "world.");
  EXPECT_EQ((*reader)->read_at(11, into).value(), 0U);
  EXPECT_EQ((*reader)->read_at(100, into).value(), 0U);
}

TEST_F(PosixFsTest, WritesLargePieces) {
  std::string large(5'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31 / 7);
  put("large", large);
  EXPECT_TRUE(content("large") == large);
  auto reader = fs_.open(at("large"));
  std::vector<std::uint8_t> back(large.size());
  EXPECT_EQ((*reader)->read_at(0, back).value(), large.size());
  EXPECT_TRUE(std::ranges::equal(back, bytes_of(large)));
}

TEST_F(PosixFsTest, FilesAreTheirOwnersAlone) {
  for (const mode_t mask : {0000, 0022, 0077, 0777}) {
    ::umask(mask);
    const std::string name = "mask" + std::to_string(mask);
    ASSERT_TRUE(fs_.make_directory(at(name + "/inner")));
    auto writer = fs_.create(at(name + "/file"));
    auto lock = fs_.lock(at(name + "/lock"), "me");
    ASSERT_TRUE(writer && lock);
    EXPECT_EQ(mode(at(name)), 0700U);
    EXPECT_EQ(mode(at(name + "/inner")), 0700U);
    EXPECT_EQ(mode(at(name + "/file")), 0600U);
    EXPECT_EQ(mode(at(name + "/lock")), 0600U);
  }
}

TEST_F(PosixFsTest, DescriptorsAreNotInherited) {
  const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
  std::vector<bool> before(64);
  for (int fd = 0; fd < 64; ++fd) before[static_cast<std::size_t>(fd)] = is_open(fd);
  auto writer = fs_.create(at("a"));
  auto reader = fs_.open(at("a"));
  auto lock = fs_.lock(at("lock"), "me");
  ASSERT_TRUE(writer && reader && lock);
  int opened = 0;
  for (int fd = 0; fd < 64; ++fd) {
    if (before[static_cast<std::size_t>(fd)] || !is_open(fd)) continue;
    ++opened;
    EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC) << fd;
  }
  EXPECT_EQ(opened, 3);
}

TEST_F(PosixFsTest, CreateNeverTouchesAFileThatExists) {
  put("a", "old");
  const auto again = fs_.create(at("a"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().fault, FsFault::exists);
  EXPECT_EQ(again.error().message, "cannot create " + at("a") + ": File exists");
  EXPECT_EQ(content("a"), "old");
}

TEST_F(PosixFsTest, WhatIsNotThereIsNotFound) {
  const std::string none = at("none");
  EXPECT_EQ(fs_.open(none).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.open(none).error().message, "cannot open " + none + ": No such file or directory");
  EXPECT_EQ(fs_.create(join_path(none, "x")).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.rename(none, at("x")).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.remove(none).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.touch(none).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.sync_directory(none).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.list(none, true).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.stat(none).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.space(none).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.lock(join_path(none, "lock"), "me").error().fault, FsFault::not_found);

  put("file", "");
  EXPECT_EQ(fs_.open(at("file/x")).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.list(at("file"), false).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.sync_directory(at("file")).error().fault, FsFault::not_found);
}

TEST_F(PosixFsTest, AFolderIsNoFile) {
  const auto reader = fs_.open(folder_.path());
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().message, "cannot open " + folder_.path() + ": Is a directory");
}

TEST_F(PosixFsTest, RenameReplaces) {
  put("a", "new");
  put("b", "old");
  EXPECT_TRUE(fs_.rename(at("a"), at("b")));
  EXPECT_EQ(content("b"), "new");
  EXPECT_FALSE(stdfs::exists(at("a")));
  const auto failed = fs_.rename(at("a"), at("b"));
  EXPECT_EQ(failed.error().message,
            "cannot rename " + at("a") + " to " + at("b") + ": No such file or directory");
}

TEST_F(PosixFsTest, RemovesFilesAndEmptyFolders) {
  put("a", "x");
  ASSERT_TRUE(fs_.make_directory(at("d")));
  put("d/b", "x");
  EXPECT_TRUE(fs_.remove(at("a")));
  EXPECT_FALSE(stdfs::exists(at("a")));
  EXPECT_FALSE(fs_.remove(at("d")));
  EXPECT_TRUE(stdfs::exists(at("d/b")));
  EXPECT_TRUE(fs_.remove(at("d/b")));
  EXPECT_TRUE(fs_.remove(at("d")));
  EXPECT_FALSE(stdfs::exists(at("d")));
}

TEST_F(PosixFsTest, ARemovedFileCanStillBeRead) {
  put("a", "text");
  auto reader = fs_.open(at("a"));
  EXPECT_TRUE(fs_.remove(at("a")));
  std::array<std::uint8_t, 4> into;
  EXPECT_EQ((*reader)->read_at(0, into).value(), 4U);
}

TEST_F(PosixFsTest, TouchSetsTheTimeToNow) {
  put("a", "x");
  const struct timespec past[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, at("a").c_str(), past, 0), 0);
  EXPECT_EQ(fs_.stat(at("a"))->modified, 1000);
  EXPECT_TRUE(fs_.touch(at("a")));
  EXPECT_GT(fs_.stat(at("a"))->modified, 1'600'000'000);
  EXPECT_EQ(content("a"), "x");
}

TEST_F(PosixFsTest, MakesFoldersWithTheirParents) {
  EXPECT_TRUE(fs_.make_directory(at("a/b//c/")));
  EXPECT_TRUE(stdfs::is_directory(at("a/b/c")));
  EXPECT_TRUE(fs_.make_directory(at("a/b/c")));
  EXPECT_TRUE(fs_.make_directory("/"));
  put("file", "");
  EXPECT_EQ(fs_.make_directory(at("file")).error().fault, FsFault::exists);
  EXPECT_FALSE(fs_.make_directory(at("file/below")));
}

TEST_F(PosixFsTest, ExistingFoldersKeepTheirRights) {
  ASSERT_EQ(::mkdir(at("open").c_str(), 0755), 0);
  EXPECT_TRUE(fs_.make_directory(at("open")));
  EXPECT_EQ(mode(at("open")), 0755U);
}

TEST_F(PosixFsTest, Lists) {
  put("a", "12345");
  ASSERT_TRUE(fs_.make_directory(at("d")));
  ASSERT_EQ(::symlink(folder_.path().c_str(), at("link").c_str()), 0);
  for (const bool details : {false, true}) {
    auto entries = fs_.list(folder_.path(), details);
    ASSERT_TRUE(entries);
    std::ranges::sort(*entries, {}, &DirEntry::name);
    ASSERT_EQ(entries->size(), 3U);
    EXPECT_EQ(entries->at(0).name, "a");
    EXPECT_FALSE(entries->at(0).directory);
    EXPECT_EQ(entries->at(0).bytes, details ? 5U : 0U);
    EXPECT_EQ(entries->at(0).modified > 0, details);
    EXPECT_EQ(entries->at(1).name, "d");
    EXPECT_TRUE(entries->at(1).directory);
    EXPECT_FALSE(entries->at(2).directory);  // a link is never followed
  }
  EXPECT_TRUE(fs_.list(at("d"), true)->empty());
}

TEST_F(PosixFsTest, Stat) {
  put("a", "12345");
  const auto file = fs_.stat(at("a"));
  EXPECT_EQ(file->name, "a");
  EXPECT_EQ(file->bytes, 5U);
  EXPECT_FALSE(file->directory);
  const auto folder = fs_.stat(folder_.at(""));
  EXPECT_EQ(folder->name, stdfs::path(folder_.path()).filename());
  EXPECT_TRUE(folder->directory);
}

TEST_F(PosixFsTest, Space) {
  const auto space = fs_.space(folder_.path());
  ASSERT_TRUE(space);
  EXPECT_GT(space->total, 0U);
  EXPECT_LE(space->free, space->total);
}

TEST_F(PosixFsTest, ALockHasOneOwnerAndSaysWho) {
  auto lock = fs_.lock(at("lock"), "samovar, process 7");
  ASSERT_TRUE(lock);
  EXPECT_EQ(content("lock"), "samovar, process 7\n");
  const auto second = fs_.lock(at("lock"), "samovar, process 8");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().fault, FsFault::exists);
  EXPECT_EQ(second.error().message, "cannot lock " + at("lock") + ": samovar, process 7 holds it");
  EXPECT_EQ(content("lock"), "samovar, process 7\n");
  lock->reset();
  EXPECT_EQ(content("lock"), "");
  EXPECT_TRUE(fs_.lock(at("lock"), "samovar, process 8"));
}

TEST_F(PosixFsTest, AHolderWithoutANameIsAnotherProcess) {
  const int fd = ::open(at("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  EXPECT_EQ(fs_.lock(at("lock"), "me").error().message,
            "cannot lock " + at("lock") + ": another process holds it");
  ::close(fd);
}

TEST_F(PosixFsTest, TheOwnersLineReplacesALongerOne) {
  put("lock", "a process that died, with a long name\n");
  auto lock = fs_.lock(at("lock"), "me");
  ASSERT_TRUE(lock);
  EXPECT_EQ(content("lock"), "me\n");
}

// Whoever has a lock has the file that others find under its path, however often it is removed.
TEST_F(PosixFsTest, ALockIsNeverOnARemovedFile) {
  std::atomic<bool> stop = false;
  std::atomic<int> held = 0;
  std::thread remover([&] {
    while (!stop) {
      // Only while nobody holds it: removing a held lock file gives its name to the next.
      const int fd = ::open(at("lock").c_str(), O_RDWR | O_CLOEXEC);
      if (fd < 0) continue;
      if (::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(at("lock").c_str());
      ::close(fd);
    }
  });
  std::vector<std::thread> takers;
  for (int i = 0; i < 2; ++i) {
    takers.emplace_back([&] {
      for (int k = 0; k < 300; ++k) {
        const auto lock = fs_.lock(at("lock"), "me");
        if (!lock) continue;
        EXPECT_EQ(++held, 1);
        --held;
      }
    });
  }
  for (std::thread& taker : takers) taker.join();
  stop = true;
  remover.join();
}

// A limit on file sizes cuts a write short like a disk that fills up.
TEST_F(PosixFsTest, AWriteCutShortGoesOnUntilItFails) {
  struct rlimit usual = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  auto writer = fs_.create(at("a"));
  const struct rlimit small = {.rlim_cur = 5, .rlim_max = usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const FsStatus first = (*writer)->write(bytes_of("123"));
  const FsStatus second = (*writer)->write(bytes_of("456"));
  ::setrlimit(RLIMIT_FSIZE, &usual);
  ::signal(SIGXFSZ, handler);
  EXPECT_TRUE(first);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "cannot write " + at("a") + ": File too large");
  EXPECT_EQ(content("a"), "12345");
}

TEST_F(PosixFsTest, ALockNeedsNoRoomForItsLine) {
  struct rlimit usual = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &usual), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit none = {.rlim_cur = 0, .rlim_max = usual.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const auto lock = fs_.lock(at("lock"), "me");
  ::setrlimit(RLIMIT_FSIZE, &usual);
  ::signal(SIGXFSZ, handler);
  EXPECT_TRUE(lock);
  EXPECT_EQ(fs_.lock(at("lock"), "you").error().fault, FsFault::exists);
}

TEST_F(PosixFsTest, AFullDiskIsFull) {
  if (!stdfs::exists("/dev/full")) GTEST_SKIP();
  const Fd full = open_fd("/dev/full", O_WRONLY);
  EXPECT_FALSE(write_all(full.get(), bytes_of("x"), 0));
  EXPECT_EQ(fault_of(errno), FsFault::full);
}

TEST_F(PosixFsTest, AReadThatFailsSaysSo) {
  if (!stdfs::exists("/proc/self/mem")) GTEST_SKIP();
  auto reader = fs_.open("/proc/self/mem");  // nothing is mapped at 0
  ASSERT_TRUE(reader);
  std::array<std::uint8_t, 8> into;
  const auto read = (*reader)->read_at(0, into);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().fault, FsFault::io);
  EXPECT_EQ(read.error().message, "cannot read /proc/self/mem: Input/output error");
}

TEST_F(PosixFsTest, MissingRightsAreDenied) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may everything";
  put("a", "x");
  ASSERT_EQ(::chmod(at("a").c_str(), 0), 0);
  EXPECT_EQ(fs_.open(at("a")).error().fault, FsFault::denied);
  ASSERT_TRUE(fs_.make_directory(at("d")));
  ASSERT_EQ(::chmod(at("d").c_str(), 0500), 0);
  EXPECT_EQ(fs_.create(at("d/x")).error().fault, FsFault::denied);
  EXPECT_EQ(fs_.make_directory(at("d/x")).error().fault, FsFault::denied);
  EXPECT_EQ(fs_.lock(at("d/lock"), "me").error().fault, FsFault::denied);
  ASSERT_EQ(::chmod(at("d").c_str(), 0), 0);
  EXPECT_EQ(fs_.list(at("d"), true).error().fault, FsFault::denied);
  ASSERT_EQ(::chmod(at("d").c_str(), 0700), 0);
}

TEST(PosixCalls, ErrnoBecomesAFault) {
  EXPECT_EQ(fault_of(ENOSPC), FsFault::full);
  EXPECT_EQ(fault_of(EDQUOT), FsFault::full);
  EXPECT_EQ(fault_of(EROFS), FsFault::read_only);
  EXPECT_EQ(fault_of(EACCES), FsFault::denied);
  EXPECT_EQ(fault_of(EPERM), FsFault::denied);
  EXPECT_EQ(fault_of(EIO), FsFault::io);
  EXPECT_EQ(fault_of(ENOENT), FsFault::not_found);
  EXPECT_EQ(fault_of(ENOTDIR), FsFault::not_found);
  EXPECT_EQ(fault_of(EEXIST), FsFault::exists);
  EXPECT_EQ(fault_of(EMFILE), FsFault::other);
}

TEST(PosixCalls, InterruptedCallsAreRepeated) {
  int left = 3;
  const int answer = uninterrupted([&] {
    errno = EINTR;
    return --left > 0 ? -1 : 42;
  });
  EXPECT_EQ(answer, 42);
  EXPECT_EQ(left, 0);
}

TEST(PosixCalls, JoinPathAddsOneSlash) {
  EXPECT_EQ(join_path("/a", "b"), "/a/b");
  EXPECT_EQ(join_path("/a/", "b"), "/a/b");
}

// Goal: what CacheFs adds. Files go on at their end, links say where they lead, rights follow the
// umask.
TEST_F(PosixFsTest, CacheFilesGoOnAtTheirEnd) {
  ::umask(027);
  for (const char* piece : {"one", "two"}) {
    auto writer = fs_.append(at("a"));
    ASSERT_TRUE(writer) << writer.error().message;
    ASSERT_TRUE((*writer)->write(bytes_of(piece)));
    ASSERT_TRUE((*writer)->sync());
  }
  EXPECT_EQ(content("a"), "onetwo");
  EXPECT_EQ(mode(at("a")), 0640U);
  ASSERT_TRUE(fs_.make_shared_directory(at("f/g")));
  EXPECT_EQ(mode(at("f/g")), 0750U);
  EXPECT_TRUE(fs_.make_shared_directory(at("f/g")));
  EXPECT_EQ(fs_.make_shared_directory(at("a")).error().fault, FsFault::exists);
  EXPECT_EQ(fs_.append(at("none/a")).error().fault, FsFault::not_found);
}

TEST_F(PosixFsTest, LinksLeadWhereTheySay) {
  put("a", "text");
  ASSERT_TRUE(fs_.link("a", at("l")));
  EXPECT_EQ(*fs_.read_link(at("l")), "a");
  EXPECT_EQ(fs_.link("b", at("l")).error().fault, FsFault::exists);
  EXPECT_EQ(fs_.read_link(at("none")).error().fault, FsFault::not_found);
  EXPECT_EQ(fs_.read_link(at("a")).error().fault, FsFault::other);
  EXPECT_EQ(fs_.stat(at("l"))->bytes, 4U) << "of what it leads to";
}

}  // namespace
}  // namespace samovar
