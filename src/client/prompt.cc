#include "client/prompt.h"

#include <poll.h>

#include <array>

#include "client/text.h"
#include "client/user_input.h"

namespace samovar::client {

Line Prompt::read(const std::string& initial) {
  LineGatherer gatherer;
  for (bool first = true;; first = false) {
    Line line = read_line(first ? "> " : "… ", first ? initial : "");
    if (line.end == LineEnd::ended && !first) {  // the end of a block that was not closed
      line.end = LineEnd::entered;
      line.text = gatherer.take();
      return line;
    }
    if (line.end != LineEnd::entered) {
      if (!first) line.text = gatherer.take() + line.text;
      return line;
    }
    if (gatherer.add(line.text)) {
      line.text = gatherer.take();
      return line;
    }
  }
}

void Prompt::remember(const std::string& text) {
  if (editor_ != nullptr) editor_->remember(text);
}

void Prompt::forget_history() {
  if (editor_ != nullptr) editor_->forget_history();
}

Line Prompt::read_line(const std::string& prompt, const std::string& initial) {
  if (editor_ != nullptr) return editor_->read(prompt, initial);
  if (!initial.empty()) screen_.note(initial);
  return read_plain(prompt);
}

Line Prompt::read_plain(const std::string& prompt) {
  screen_.prompt(prompt);
  Line line;
  for (;;) {
    while (const auto key = keyboard_.next()) {
      if (key->code == '\n') return line;
      append_utf8(line.text, key->code);
    }
    if (keyboard_.ended()) {
      if (line.text.empty()) line.end = LineEnd::ended;
      return line;
    }
    std::array<pollfd, 2> entries = {
        {{keyboard_.descriptor(), POLLIN, 0}, {signals_.descriptor(), POLLIN, 0}}};
    if (::poll(entries.data(), entries.size(), keyboard_.waiting() ? 50 : -1) == 0) {
      keyboard_.give_up();
    }
    while (const auto signal = signals_.next()) {
      if (*signal == SIGWINCH || *signal == SIGCONT) continue;
      line.end = *signal == SIGINT ? LineEnd::interrupted : LineEnd::ended;
      return line;
    }
    if (entries[0].revents != 0) keyboard_.read();
  }
}

}  // namespace samovar::client
