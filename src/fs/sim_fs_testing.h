// What the tests of SimFs share: a fresh one with two durable folders, and many crashes of the same
// work. One thread.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/sim_fs.h"

namespace samovar::testing {

inline Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class SimFsTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kSeeds = 300;

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

}  // namespace samovar::testing
