// Painter: what to write to a terminal so that a reply flows, and below it, for as long as it is
// wanted, a footer of a few lines (a bar, what is being typed) that never mixes with it. Keeps the
// column of the reply's end; takes everything out of the text that could steer the terminal. Pure:
// it returns bytes. One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace samovar::client {

enum class Style { plain, dim, error };

class Painter {
 public:
  Painter(bool terminal, bool colour) : terminal_(terminal), colour_(colour) {}

  void set_columns(int columns) { columns_ = columns > 0 ? columns : 80; }
  [[nodiscard]] int columns() const { return columns_; }

  // The text goes on where the last one ended.
  std::string flow(Style style, std::string_view text);

  // A line of its own: begins and ends at a line's beginning.
  std::string line(Style style, std::string_view text);

  // To the beginning of a line, if not there.
  std::string end_line();

  // Shows these lines below the reply in place of those before; none: takes them away. Longer ones
  // are cut. Nothing without a terminal.
  std::string footer(const std::vector<std::string>& lines);

  // Something else wrote to the terminal and ended at the beginning of a line.
  void forget();

 private:
  std::string take_footer_away();
  std::string put_footer();
  void put(std::string& out, char32_t code);
  [[nodiscard]] std::string_view on(Style style) const;

  bool terminal_;
  bool colour_;
  int columns_ = 80;
  int column_ = 0;             // of the reply's end; columns_: the line is full
  bool line_done_ = false;     // a full line's end was passed already, for the footer
  int footer_rows_ = 0;        // shown
  bool footer_below_ = false;  // the footer's first line is not the reply's last
  std::vector<std::string> footer_;
};

}  // namespace samovar::client
