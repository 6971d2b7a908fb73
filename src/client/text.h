// Text on its way to a terminal or into JSON: valid UTF-8, without anything that could steer the
// terminal, and how many columns it takes. Pure, but for widths, which follow the process's locale
// (LC_CTYPE must be a UTF-8 one); any thread.
#pragma once

#include <string>
#include <string_view>

namespace samovar::client {

inline constexpr char32_t kReplacement = 0xFFFD;

// The character at the beginning of `text`, and its length in bytes. Bytes that are no UTF-8 give
// kReplacement. `text` is not empty.
struct Decoded {
  char32_t code = 0;
  std::size_t bytes = 1;
};
[[nodiscard]] Decoded decode_utf8(std::string_view text);

void append_utf8(std::string& out, char32_t code);

// The same text with every byte that is no UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

// A control character that a terminal would obey, newline and tab left out.
[[nodiscard]] bool is_control(char32_t code);

[[nodiscard]] int width_of(char32_t code);  // columns: 0, 1 or 2
[[nodiscard]] int width_of(std::string_view text);

// One line for people: newlines and runs of blanks become one blank, control characters vanish, and
// what is wider than `columns` ends in "…".
[[nodiscard]] std::string one_line(std::string_view text, int columns);

// The end of `text` that fits into `columns`, newlines as "⏎"; begins with "…" if cut.
[[nodiscard]] std::string line_tail(std::string_view text, int columns);

}  // namespace samovar::client
