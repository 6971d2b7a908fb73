// KeyDecoder: the bytes of a terminal into characters, and which of them were pasted (bracketed
// paste, "ESC [ 200 ~" ... "ESC [ 201 ~"). Other escape sequences pass as the characters they are.
// A value; one thread. Cannot fail: bytes that are no UTF-8 become U+FFFD.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace samovar::client {

struct Key {
  char32_t code = 0;
  bool pasted = false;
  bool operator==(const Key&) const = default;
};

class KeyDecoder {
 public:
  void push(std::string_view bytes);
  std::optional<Key> next();

  // Bytes are held back that may become a paste's begin, or a character. If nothing follows for a
  // moment, give_up() lets them pass: a lone Escape key.
  [[nodiscard]] bool waiting() const { return !pending_.empty(); }
  void give_up();

 private:
  bool take_marker();
  void take_character(bool complete);

  std::string pending_;
  bool pasting_ = false;
  std::deque<Key> keys_;
};

}  // namespace samovar::client
