#include "client/keyboard.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace samovar::client {

void Keyboard::read() {
  std::array<char, 4096> buffer = {};
  const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
  if (count > 0) {
    decoder_.push({buffer.data(), static_cast<std::size_t>(count)});
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    ended_ = true;
    decoder_.give_up();
  }
}

RawMode::RawMode(int descriptor) : descriptor_(descriptor) {
  known_ = ::tcgetattr(descriptor_, &before_) == 0;
  again();
}

RawMode::~RawMode() {
  if (known_) ::tcsetattr(descriptor_, TCSADRAIN, &before_);
}

void RawMode::again() {
  if (!known_) return;
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ECHONL | IEXTEN);
  raw.c_lflag |= ISIG;
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(descriptor_, TCSADRAIN, &raw);
}

}  // namespace samovar::client
