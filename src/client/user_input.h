// What the user typed, as something to do: a message, or a command that begins with a slash. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace samovar::client {

struct UserInput {
  std::string command;   // without its slash; empty: a message
  std::string argument;  // trimmed
  std::string message;
  [[nodiscard]] bool is_command() const { return !command.empty(); }
};

// A message that begins with a slash is sent by a blank before it, or by "//". Text of several
// lines is a message.
[[nodiscard]] UserInput parse_input(std::string_view text);

struct CommandHelp {
  std::string_view name;
  std::string_view argument;
  std::string_view about;
};

// The table of commands, for people.
[[nodiscard]] std::string commands_help();

// "there is no command /resme: did you mean /resume?"
[[nodiscard]] std::string unknown_command(std::string_view name);

// LineGatherer: lines into messages. A line that ends with a backslash goes on; """ begins a block
// that the next """ at the end of a line ends. A value; one thread.
class LineGatherer {
 public:
  // True: take() has a whole input. A paste of several lines is one line here: its end decides.
  bool add(std::string_view line);
  std::string take();
  [[nodiscard]] const std::string& so_far() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty() && !open_; }

 private:
  std::string text_;
  bool open_ = false;   // more lines are expected
  bool block_ = false;  // between """
};

}  // namespace samovar::client
