// StoreRig: a Store over SimFs, ManualExecutors and a fake clock, with conversations to put in it.
// A blob's bytes follow from the tokens it stands for, so whatever comes back can be checked. One
// thread.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"
#include "tests/support/manual_executor.h"
#include "tests/support/sim_fs.h"
#include "tests/support/store_records.h"

namespace samovar::testing {

// The fake clock, and a wall clock that somebody sets.
class SkewedClock final : public Clock {
 public:
  explicit SkewedClock(const FakeClock& base) : base_(base) {}
  [[nodiscard]] Micros now() const override { return base_.now(); }
  [[nodiscard]] std::int64_t wall_seconds() const override { return base_.wall_seconds() + skew_; }
  void jump(std::int64_t seconds) { skew_ += seconds; }

 private:
  const FakeClock& base_;
  std::int64_t skew_ = 0;
};

// A conversation's tokens, and where its segments end.
struct Talk {
  Tokens tokens;
  std::vector<Position> ends;
  SessionId session;
};

// `seed` decides tokens and session.
[[nodiscard]] Talk talk_of(int seed, std::vector<Position> ends);
// Goes on as `trunk` until `shared`, one of its ends, then by itself.
[[nodiscard]] Talk branch_of(const Talk& trunk, Position shared, int seed,
                             const std::vector<Position>& ends);

class StoreRig {
 public:
  StoreRig();
  ~StoreRig();
  StoreRig(const StoreRig&) = delete;
  StoreRig& operator=(const StoreRig&) = delete;

  // --- its life ---
  Status open();         // runs what that posts
  std::size_t settle();  // runs jobs until there are none; how many
  void close();          // in order: what is queued is written
  void die();            // the process is gone: jobs vanish, what they held too
  void reopen() {        // after die() or close()
    const Status opened = open();
    ASSERT_TRUE(opened) << opened.error().describe();
  }

  // --- use ---
  // Queues what is missing of the talk's segments until `until`, and a snapshot there. False: not
  // all of it was taken.
  bool write(const Talk& talk, Position until, AnchorKind anchor = AnchorKind::history_end,
             bool urgent = false);
  bool write_settled(const Talk& talk, Position until,
                     AnchorKind anchor = AnchorKind::history_end) {
    const bool taken = write(talk, until, anchor);
    settle();
    return taken;
  }
  [[nodiscard]] Position offered(const Talk& talk) const;

  // Restores the longest and compares every byte. nullopt: it failed (why: `trouble`).
  std::optional<Position> restore(const Talk& talk);

  // Restores until one succeeds, as the scheduler does: each that fails takes a part out. What it
  // came to; 0: nothing is left.
  Position restore_any(const Talk& talk);

  // What is wrong with the folder now: temporaries, or bytes that nobody counts. Empty: nothing.
  [[nodiscard]] std::string untidy() const;
  [[nodiscard]] std::vector<std::string> files(const std::string& ending) const;

  // Of an entry of this talk.
  [[nodiscard]] std::string path_of(BlobKind kind, const Talk& talk, Position end) const;

  // What the bytes must be.
  [[nodiscard]] std::vector<std::uint8_t> payload(BlobKind kind, const Talk& talk, Position begin,
                                                  Position end) const;

  FakeClock clock;
  SkewedClock time{clock};
  SimFs fs{clock};
  ManualExecutor writer;
  ManualExecutor readers;
  ManualExecutor catalog;
  StoreOptions options;
  std::size_t token_bytes = 16;
  std::size_t snapshot_bytes = 1000;
  Micros cost = 1000;  // of a segment
  std::unique_ptr<Store> store;
  std::string trouble;
};

}  // namespace samovar::testing
