// Goal: whatever was offered when the machine died, at any operation, is offered afterwards and
// verifies; and nothing is left lying about (S1, S3, S4). Method: one script of writes and
// restores, crashed at its n-th operation on the disk for every n, each with several outcomes of
// the crash.
#include <algorithm>

#include "base/log.h"
#include "store/store.h"
#include "tests/support/store_rig.h"

namespace samovar {
namespace {

using namespace testing;

struct Script {
  Talk first = talk_of(1, {100, 300, 500, 700});
  Talk branch = branch_of(first, 300, 2, {450});
  Talk other = talk_of(3, {200});

  [[nodiscard]] std::vector<const Talk*> talks() const { return {&first, &branch, &other}; }

  void run(StoreRig& rig) const {
    if (!rig.open()) return;
    rig.write_settled(first, 300);
    rig.write(first, 500);
    rig.write(other, 200, AnchorKind::message);
    rig.settle();
    rig.write_settled(branch, 450);
    rig.restore_any(first);
    rig.write_settled(first, 700);  // outgrows the tip at 500
  }
};

std::uint64_t operations(const Script& script, bool hybrid) {
  StoreRig rig;
  rig.options.needs_snapshot = hybrid;
  std::uint64_t count = 0;
  rig.fs.set_hook([&](FsOp, const std::string&, std::uint64_t) -> std::optional<FsFault> {
    ++count;
    return std::nullopt;
  });
  script.run(rig);
  rig.fs.clear_faults();
  return count;
}

// Runs the script until operation `n`, where the power goes or (no seed) the process is killed;
// then looks what a new process finds. False: a finding was reported.
void crash_at(const Script& script, bool hybrid, std::uint64_t n,
              std::optional<std::uint64_t> seed) {
  StoreRig rig;
  rig.options.needs_snapshot = hybrid;
  const auto talks = script.talks();
  std::vector<Position> promised(talks.size(), 0);
  std::uint64_t count = 0;
  bool dead = false;
  rig.fs.set_hook([&](FsOp, const std::string&, std::uint64_t) -> std::optional<FsFault> {
    if (dead) return FsFault::io;
    if (count++ != n) return std::nullopt;
    dead = true;
    for (std::size_t i = 0; rig.store && i < talks.size(); ++i)
      promised[i] = rig.offered(*talks[i]);
    if (seed) {
      rig.fs.crash(*seed);
    } else {
      rig.fs.kill_process();
    }
    return FsFault::io;
  });
  script.run(rig);
  rig.die();
  rig.fs.clear_faults();
  rig.clock.advance(3600 * kSecond);
  ASSERT_TRUE(rig.open());
  ASSERT_EQ(rig.untidy(), "");
  for (std::size_t i = 0; i < talks.size(); ++i) {
    ASSERT_GE(rig.offered(*talks[i]), promised[i]) << "talk " << i;
    const auto reached = rig.restore(*talks[i]);
    ASSERT_TRUE(reached) << rig.trouble;
    ASSERT_GE(*reached, promised[i]);
  }
  // And it can be used.
  ASSERT_TRUE(rig.write_settled(script.first, 700));
  ASSERT_EQ(rig.restore(script.first), 700);
  ASSERT_EQ(rig.untidy(), "");
}

class StoreCrashTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Kinds, StoreCrashTest, ::testing::Values(true, false),
                         [](const auto& kind) { return kind.param ? "Hybrid" : "Plain"; });

TEST_P(StoreCrashTest, WhatWasOfferedSurvivesACrashAtAnyOperation) {
  log_set_level(LogLevel::off);
  const Script script;
  const std::uint64_t count = operations(script, GetParam());
  EXPECT_GT(count, 50U);
  for (std::uint64_t n = 0; n < count; ++n) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      SCOPED_TRACE("crash at operation " + std::to_string(n) + ", seed " + std::to_string(seed));
      crash_at(script, GetParam(), n, seed);
      if (HasFatalFailure()) break;
    }
    if (HasFatalFailure()) break;
  }
  log_set_level(LogLevel::info);
}

TEST_P(StoreCrashTest, WhatWasOfferedSurvivesAKilledProcessAtAnyOperation) {
  log_set_level(LogLevel::off);
  const Script script;
  const std::uint64_t count = operations(script, GetParam());
  for (std::uint64_t n = 0; n < count && !HasFatalFailure(); ++n) {
    SCOPED_TRACE("killed at operation " + std::to_string(n));
    crash_at(script, GetParam(), n, std::nullopt);
  }
  log_set_level(LogLevel::info);
}

// A rename that was not synced is undone: neither name nor temporary may be counted on.
TEST(StoreCrash, ALostRenameLosesTheFileAndNothingElse) {
  StoreRig rig;
  ASSERT_TRUE(rig.open());
  const Talk talk = talk_of(1, {300, 500});
  ASSERT_TRUE(rig.write_settled(talk, 300));
  rig.fs.set_hook([&](FsOp op, const std::string& path, std::uint64_t) -> std::optional<FsFault> {
    // The folder says that it is synced, and is not.
    if (op == FsOp::sync_directory && path != rig.options.folder) return FsFault::io;
    return std::nullopt;
  });
  rig.write_settled(talk, 500);
  EXPECT_EQ(rig.offered(talk), 300) << "not without the folder's sync";
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    rig.fs.crash(seed);
    rig.die();
    rig.fs.clear_faults();
    rig.reopen();
    EXPECT_GE(rig.restore(talk).value_or(-1), 300);
    EXPECT_EQ(rig.untidy(), "");
  }
}

}  // namespace
}  // namespace samovar
