// Keyboard: the terminal's input, as keys. While a reply comes its keys are read one by one
// (RawMode); at the prompt the line editor takes them. Owner: the chat; one thread.
#pragma once

#include <termios.h>

#include <optional>

#include "client/key_decoder.h"

namespace samovar::client {

class Keyboard {
 public:
  explicit Keyboard(int descriptor) : descriptor_(descriptor) {}

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool ended() const { return ended_; }

  // Takes what is there. To be called when the descriptor can be read, else it waits.
  void read();
  std::optional<Key> next() { return decoder_.next(); }
  [[nodiscard]] bool waiting() const { return decoder_.waiting(); }
  void give_up() { decoder_.give_up(); }

 private:
  int descriptor_;
  KeyDecoder decoder_;
  bool ended_ = false;
};

// The terminal gives single keys and does not show them; Ctrl-C stays a signal. Restores what was
// before when it goes.
class RawMode {
 public:
  explicit RawMode(int descriptor);
  ~RawMode();
  RawMode(const RawMode&) = delete;
  RawMode& operator=(const RawMode&) = delete;

  void again();  // after the process was stopped and continued

 private:
  int descriptor_;
  bool known_ = false;
  termios before_ = {};
};

}  // namespace samovar::client
