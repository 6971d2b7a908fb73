#include "client/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace samovar::client {

Screen::Screen(ScreenOptions options)
    : options_(options), painter_(options.terminal, options.colour) {
  resized();
}

void Screen::reasoning(std::string_view text) {
  if (text.empty() || !options_.terminal) return;
  part_ = Part::reasoning;
  write(options_.output, painter_.flow(Style::dim, text));
}

void Screen::content(std::string_view text) {
  if (text.empty()) return;
  if (std::exchange(part_, Part::content) == Part::reasoning) {
    write(options_.output, painter_.end_line());
    write(options_.output, painter_.flow(Style::plain, "\n"));
  }
  write(options_.output, painter_.flow(Style::plain, text));
}

void Screen::end_reply() {
  part_ = Part::none;
  write(options_.output, painter_.footer({}));
  write(options_.output, painter_.end_line());
}

void Screen::text(std::string_view text) {
  write(options_.output, painter_.line(Style::plain, text));
}

void Screen::note(std::string_view text) { apart(Style::dim, text); }

void Screen::error(std::string_view text) { apart(Style::error, text); }

void Screen::prompt(std::string_view text) {
  write(options_.notes_apart ? options_.errors : options_.output, text);
}

void Screen::apart(Style style, std::string_view text) {
  if (!options_.notes_apart) {
    write(options_.output, painter_.line(style, text));
    return;
  }
  Painter plain(false, false);
  write(options_.errors, plain.line(Style::plain, text));
}

void Screen::footer(const std::vector<std::string>& lines) {
  write(options_.output, painter_.footer(lines));
}

void Screen::resized() {
  winsize size = {};
  const bool known = options_.terminal && ::ioctl(options_.output, TIOCGWINSZ, &size) == 0;
  painter_.set_columns(known ? size.ws_col : 80);
}

void Screen::raw(std::string_view bytes) {
  if (options_.terminal) write(options_.output, bytes);
}

void Screen::write(int descriptor, std::string_view bytes) {
  while (!bytes.empty() && !gone_) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {  // whoever shares the terminal made it non-blocking
      pollfd entry = {descriptor, POLLOUT, 0};
      ::poll(&entry, 1, 1000);
    } else if (errno != EINTR) {
      gone_ = gone_ || descriptor == options_.output;
      return;
    }
  }
}

}  // namespace samovar::client
