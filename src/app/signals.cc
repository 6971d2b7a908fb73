#include "app/signals.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "base/log.h"

namespace samovar::app {

namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a closed terminal or pipe is no reason to end
  watcher_ = std::jthread([this] { watch(); });
}

StopSignals::~StopSignals() { ended_ = true; }

void StopSignals::begin_graceful() { graceful_ = true; }

// Polls instead of sigwait(), so that the process can also end without a signal.
void StopSignals::watch() {
  const sigset_t set = stop_signals();
  const timespec pause = {0, 100'000'000};
  bool first = true;
  while (!ended_) {
    const int signal = sigtimedwait(&set, nullptr, &pause);
    if (signal < 0) continue;
    if (!first || (!graceful_ && !patient_)) std::_Exit(128 + signal);
    first = false;
    received_ = signal;
    {
      const std::lock_guard lock(mutex_);
      requested_ = true;
    }
    changed_.notify_all();
  }
}

void StopSignals::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return requested_; });
}

bool StopSignals::wait_for(Micros most) {
  std::unique_lock lock(mutex_);
  if (most <= 0) return requested_;
  return changed_.wait_for(lock, std::chrono::microseconds(most), [this] { return requested_; });
}

}  // namespace samovar::app
