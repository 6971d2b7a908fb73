// Screen: where the chat writes. With a terminal, everything goes there through a Painter; without
// one, the reply alone goes to the output and what is said about it to the error output, as plain
// lines. Owner: the chat; one thread. A reader that is gone is noticed (gone()), not an error.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/painter.h"

namespace samovar::client {

struct ScreenOptions {
  bool terminal = false;  // the output is one, and can move its cursor
  bool colour = false;
  bool notes_apart = false;  // notes and errors go to the error output
  int output = 1;
  int errors = 2;
};

class Screen {
 public:
  explicit Screen(ScreenOptions options);

  // Pieces of one reply, as they come; end_reply() after the last.
  void reasoning(std::string_view text);
  void content(std::string_view text);
  void end_reply();

  void text(std::string_view text);    // asked for: a list, a history
  void note(std::string_view text);    // said by the way
  void error(std::string_view text);   // went wrong
  void prompt(std::string_view text);  // where no line editor shows it
  void footer(const std::vector<std::string>& lines);

  void resized();  // looks how wide the terminal is
  void forget() { painter_.forget(); }
  void raw(std::string_view bytes);  // terminal modes

  [[nodiscard]] bool terminal() const { return options_.terminal; }
  [[nodiscard]] int columns() const { return painter_.columns(); }
  [[nodiscard]] bool gone() const { return gone_; }

 private:
  enum class Part { none, reasoning, content };

  void write(int descriptor, std::string_view bytes);
  void apart(Style style, std::string_view text);

  ScreenOptions options_;
  Painter painter_;
  Part part_ = Part::none;
  bool gone_ = false;
};

}  // namespace samovar::client
