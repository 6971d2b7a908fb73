// Pacer: keeps a background writer off the processor while replies are computed. The engine's
// compute threads wait for one another at barriers, so a thread that takes a core for a millisecond
// costs every one of them that millisecond. While the engine is busy the writer rests sixty-four
// times as long as it worked; in quiet moments, and once somebody is in a hurry, not at all.
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/clock.h"

namespace samovar {

class Pacer {
 public:
  void set_busy(bool busy) { change(busy_, busy); }
  void hurry() { change(hurry_, true); }

  // Rests after `worked` of work, as long as it should.
  void pace(Micros worked) {
    std::unique_lock lock(mutex_);
    const auto rest = std::chrono::microseconds(worked * kRest);
    changed_.wait_for(lock, rest, [this] { return hurry_ || !busy_; });
  }

 private:
  static constexpr Micros kRest = 64;

  void change(bool& what, bool value) {
    {
      const std::scoped_lock lock(mutex_);
      if (what == value) return;  // asked before every engine call
      what = value;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false;   // guarded by mutex_
  bool hurry_ = false;  // guarded by mutex_
};

}  // namespace samovar
