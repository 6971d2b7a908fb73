// LineEditor: the prompt, by libedit: editing, history with the arrow keys, lines of several rows,
// ~/.editrc. Keys come from the Keyboard, so that a paste stays one message and Ctrl-C is noticed.
// Owner: the chat; one thread, one at a time (libedit calls back without an argument).
#pragma once

#include <memory>
#include <string>

#include "client/keyboard.h"
#include "client/screen.h"
#include "client/signal_pipe.h"

namespace samovar::client {

enum class LineEnd { entered, interrupted, ended };

struct Line {
  LineEnd end = LineEnd::entered;
  std::string text;  // entered: without its newline; may hold pasted ones. interrupted: what was
                     // typed so far
};

class LineEditor {
 public:
  LineEditor(Keyboard& keyboard, SignalPipe& signals, Screen& screen);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // Reads one line; `initial` stands there already, to be changed.
  Line read(const std::string& prompt, const std::string& initial);

  void remember(const std::string& line);  // for the arrow keys
  void forget_history();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace samovar::client
