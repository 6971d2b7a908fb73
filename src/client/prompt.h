// Prompt: reads what the user wants next, of one line or several, by the line editor where there is
// a terminal and as plain lines where there is none. Owner: the chat; one thread.
#pragma once

#include <string>

#include "client/keyboard.h"
#include "client/line_editor.h"
#include "client/screen.h"
#include "client/signal_pipe.h"

namespace samovar::client {

class Prompt {
 public:
  // `editor` may be null.
  Prompt(LineEditor* editor, Keyboard& keyboard, SignalPipe& signals, Screen& screen)
      : editor_(editor), keyboard_(keyboard), signals_(signals), screen_(screen) {}

  // `initial` stands there already (without an editor it is only shown).
  Line read(const std::string& initial);

  void remember(const std::string& text);
  void forget_history();

 private:
  Line read_line(const std::string& prompt, const std::string& initial);
  Line read_plain(const std::string& prompt);

  LineEditor* editor_;
  Keyboard& keyboard_;
  SignalPipe& signals_;
  Screen& screen_;
};

}  // namespace samovar::client
