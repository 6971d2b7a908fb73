// StopSignals: SIGTERM and SIGINT as a request to end, once; the second one ends the process at
// once with exit code 128 + signal. Make it before any other thread exists, so that all threads
// inherit the blocked signals. One per process; wait() may be called from one thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace samovar::app {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Until now the first signal ended the process too; from now on it only makes wait() return.
  void begin_graceful();

  void wait();  // for the first signal

 private:
  void watch();

  std::atomic<bool> graceful_ = false;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool requested_ = false;  // guarded by mutex_
  std::jthread watcher_;
};

}  // namespace samovar::app
