#include "app/progress_display.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/clock.h"

namespace samovar::app {
namespace {

int columns_of_stderr() {
  winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

struct ProgressDisplay::State {
  State(Say how, ProgressStyle style)
      : print(std::move(how)),
        terminal(::isatty(STDERR_FILENO) != 0),
        text(terminal, std::move(style)) {}

  void clear() {
    if (drawn) fmt::print(stderr, "\r\033[K");
    drawn = false;
  }

  const Say print;
  const bool terminal;
  ProgressText text;
  bool drawn = false;  // a bar stands in the line
};

ProgressDisplay::ProgressDisplay(Say say, ProgressStyle style)
    : state_(std::make_unique<State>(std::move(say), std::move(style))) {}

// The last bar stays to be read.
ProgressDisplay::~ProgressDisplay() {
  if (state_->drawn) fmt::print(stderr, "\n");
}

void ProgressDisplay::say(const std::string& line) {
  state_->clear();
  state_->print(line);
}

void ProgressDisplay::progress(const Progress& progress) {
  const auto text = state_->text.next(progress, system_clock().now(), columns_of_stderr());
  if (!text) return;
  if (!state_->terminal) return state_->print(*text);
  fmt::print(stderr, "\r{}\033[K", *text);
  std::fflush(stderr);
  state_->drawn = true;
}

}  // namespace samovar::app
