// Goal: a store's folder is seen as it is, its files can be dropped from the page cache, and a
// command of the user's runs as in a shell of his own.
#include "bench/store_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bench/shell_command.h"
#include "tests/support/temporary_folder.h"

namespace samovar::bench {
namespace {

using testing::TemporaryFolder;

void write(const std::string& path, std::size_t bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << std::string(bytes, 'x');
}

TEST(StoreFolder, FilesAndTheirSizes) {
  const TemporaryFolder folder;
  write(folder.at("a"), 10);
  write(folder.at("b/c"), 20000);
  const StoreFolder store(folder.path());
  const auto files = store.files();
  ASSERT_TRUE(files);
  EXPECT_EQ(files->size(), 2U);
  EXPECT_EQ(files->at(folder.path() + "/b/c"), 20000U);
  EXPECT_EQ(store.forget().value_or(0), 20010U);
  EXPECT_EQ(StoreFolder(folder.path() + "/none").files()->size(), 0U);
  EXPECT_FALSE(StoreFolder("").files());
}

TEST(StoreFolder, InMemoryOrNot) {
  EXPECT_FALSE(StoreFolder("/proc/none").in_memory());
  if (!StoreFolder("/dev/shm").in_memory()) GTEST_SKIP() << "/dev/shm is no file system in memory";
  EXPECT_TRUE(StoreFolder("/dev/shm/none/of/these").in_memory());
}

TEST(ShellCommand, RunsAndReports) {
  const TemporaryFolder folder;
  const Clock& clock = system_clock();
  const std::string file = folder.path() + "/made";
  ASSERT_TRUE(run_shell("printf x >'" + file + "'", 30 * kSecond, clock, {}));
  EXPECT_EQ(std::filesystem::file_size(file), 1U);
  const auto failed = run_shell("exit 3", 30 * kSecond, clock, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().field, "--restart-cmd");
  EXPECT_NE(failed.error().message.find("code 3"), std::string::npos);
  const auto endless = run_shell("sleep 600", kSecond / 5, clock, {});
  ASSERT_FALSE(endless);
  EXPECT_NE(endless.error().remedy.find("background"), std::string::npos);
  const auto stopped = run_shell("sleep 600", 30 * kSecond, clock, [] { return true; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::cancelled);
}

// A server that a command starts must not inherit blocked signals: nobody could end it.
TEST(ShellCommand, StartsWithUsualSignals) {
  sigset_t set;
  sigset_t before;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  const auto status = run_shell("kill -TERM $$", 30 * kSecond, system_clock(), {});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("signal 15"), std::string::npos) << status.error().message;
}

}  // namespace
}  // namespace samovar::bench
