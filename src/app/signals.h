// StopSignals: SIGTERM and SIGINT as a request to end, once; the second one ends the process at
// once with exit code 128 + signal. Make it before any other thread exists, so that all threads
// inherit the blocked signals. One per process; wait() may be called from one thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"

namespace samovar::app {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Until now the first signal ended the process too; from now on it only makes wait() return.
  void begin_graceful();

  // While something long runs that can be given up: the first signal makes wait_for() true, the
  // second ends the process.
  void begin_patient() { patient_ = true; }
  void end_patient() { patient_ = false; }

  void wait();  // for the first signal

  // The same, but at most so long; true if there was one.
  bool wait_for(Micros most);
  [[nodiscard]] int received() const { return received_; }  // the first signal; 0: none yet

 private:
  void watch();

  std::atomic<bool> graceful_ = false;
  std::atomic<bool> patient_ = false;
  std::atomic<int> received_ = 0;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool requested_ = false;  // guarded by mutex_
  std::jthread watcher_;
};

}  // namespace samovar::app
