// What the tests of the ledger share: a temporary folder, and ways to harm what is in it while it
// is in use. One thread.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fs/sqlite.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {

class LedgerFolder : public ::testing::Test {
 protected:
  // Every byte of the database and of what stands beside it.
  [[nodiscard]] std::string all_bytes() const {
    std::string bytes;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      std::ifstream file(entry.path(), std::ios::binary);
      bytes.append(std::istreambuf_iterator<char>(file), {});
    }
    return bytes;
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryFolder folder;
  std::string path = folder.at("ledger.db");
};

// Overwrites the database from byte `from` on while others have it open. Afterwards none of them
// has pages of it in memory still: everything was moved out of the write-ahead log, which was begun
// anew.
inline void spoil_database(const std::string& path, std::size_t from) {
  {
    sqlite::Connection other;
    ASSERT_EQ(other.open(path, 1 << 20), sqlite::kOk);
    ASSERT_EQ(other.execute("PRAGMA wal_checkpoint(TRUNCATE)"), sqlite::kOk);
  }
  const auto size = std::filesystem::file_size(path);
  ASSERT_GT(size, from);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(from));
  file << std::string(size - from, 'x');
}

// While it lives, no file can be written.
class DiskRefuses {
 public:
  DiskRefuses() {
    before_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    struct rlimit none = before_;
    none.rlim_cur = 0;
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  }
  ~DiskRefuses() {
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0);
    std::signal(SIGXFSZ, before_handler_);
  }
  DiskRefuses(const DiskRefuses&) = delete;
  DiskRefuses& operator=(const DiskRefuses&) = delete;

 private:
  struct rlimit before_{};
  void (*before_handler_)(int) = SIG_DFL;
};

}  // namespace samovar::testing
