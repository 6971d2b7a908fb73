// What the engine thread says of itself to everybody else: how many turns wait and run, and what
// memory holds. The scheduler sets it twice per step; any thread may read it at any time, and sees
// the figures of one moment, never half of two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/tokens.h"
#include "obs/collected.h"

namespace samovar {

struct SchedulerFigures {
  // Turns. waiting + running are all that were accepted and have not ended.
  int waiting = 0;         // in the queue
  int running = 0;         // those that hold a sequence: restoring + prefilling + decoding
  int restoring = 0;       // of them: a checkpoint is being brought back
  int prefilling = 0;      // of them: prompt tokens are being computed
  int decoding = 0;        // of them: the reply is being generated
  bool rewarming = false;  // a re-warm computes or waits for a quiet moment

  // The engine's memory, in tokens. A cell that forked sequences share counts once.
  Position cells_used = 0;
  Position cells_total = 0;
  int sequences_used = 0;  // that hold tokens, running or not
  int sequences_total = 0;

  // Snapshots in host memory. One that forked sequences share counts once in bytes.
  int anchors = 0;
  std::size_t anchor_bytes = 0;
  std::size_t anchor_bytes_max = 0;

  // Since the start.
  EvictionCounts sequences_evicted = {};
  std::uint64_t anchors_dropped = 0;
};

// A value that one thread sets and any may read.
class PublishedFigures {
 public:
  void set(const SchedulerFigures& figures) {
    const std::scoped_lock lock(mutex_);
    figures_ = figures;
  }
  [[nodiscard]] SchedulerFigures get() const {
    const std::scoped_lock lock(mutex_);
    return figures_;
  }

 private:
  mutable std::mutex mutex_;
  SchedulerFigures figures_;  // guarded by mutex_
};

}  // namespace samovar
