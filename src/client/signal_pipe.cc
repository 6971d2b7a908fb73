#include "client/signal_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>

namespace samovar::client {
namespace {

int writing_end = -1;  // for the handler, which has no other way to know

void on_signal(int number) {
  const int kept = errno;
  const char byte = static_cast<char>(number);
  [[maybe_unused]] const ssize_t count = ::write(writing_end, &byte, 1);
  errno = kept;
}

}  // namespace

SignalPipe::SignalPipe() {
  [[maybe_unused]] const int made = ::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK);
  assert(made == 0 && writing_end == -1);
  writing_end = ends_[1];
  struct sigaction action = {};
  action.sa_handler = on_signal;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
  action.sa_handler = SIG_IGN;  // a closed pipe is noticed where it is written to
  ::sigaction(SIGPIPE, &action, &pipe_before_);
}

SignalPipe::~SignalPipe() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  writing_end = -1;
  ::close(ends_[0]);
  ::close(ends_[1]);
}

std::optional<int> SignalPipe::next() {
  char byte = 0;
  if (::read(ends_[0], &byte, 1) != 1) return std::nullopt;
  return byte;
}

}  // namespace samovar::client
