// LiveLine: what is typed while a reply comes: a line with the few keys it needs (Backspace,
// Ctrl-U, Ctrl-W, Enter). A backslash before Enter and pasted lines make it go on. What is not
// entered before the reply ends moves to the line editor. A value; one thread.
#pragma once

#include <string>

#include "client/key_decoder.h"
#include "client/user_input.h"

namespace samovar::client {

class LiveLine {
 public:
  enum class Outcome { nothing, changed, entered, leave };

  Outcome key(Key key);

  [[nodiscard]] std::string text() const;  // UTF-8, several lines maybe
  [[nodiscard]] bool empty() const { return lines_.empty() && text_.empty(); }

  // After `entered` the input, else what is there so far.
  std::string take();

 private:
  enum class Escape { none, begun, sequence };

  bool in_escape(char32_t code);
  Outcome enter();
  void erase_character();

  LineGatherer lines_;  // before the one being typed
  std::string text_;
  std::string entered_;
  Escape escape_ = Escape::none;
};

}  // namespace samovar::client
