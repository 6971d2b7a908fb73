// SignalPipe: Ctrl-C, a resized window, waking up after Ctrl-Z and requests to end, as things that
// can be waited for beside the network and the keyboard. One per process, on the main thread;
// restores what was there before when it goes.
#pragma once

#include <array>
#include <csignal>
#include <optional>

namespace samovar::client {

class SignalPipe {
 public:
  SignalPipe();
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  [[nodiscard]] int descriptor() const { return ends_[0]; }

  // The next signal that came; nullopt: none. Never waits.
  std::optional<int> next();

 private:
  static constexpr std::array<int, 5> kSignals = {SIGINT, SIGWINCH, SIGCONT, SIGTERM, SIGHUP};

  std::array<int, 2> ends_ = {-1, -1};
  std::array<struct sigaction, kSignals.size()> before_ = {};
  struct sigaction pipe_before_ = {};
};

}  // namespace samovar::client
