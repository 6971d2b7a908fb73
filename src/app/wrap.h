// Text in lines that a terminal shows whole: help, explanations. Pure; any thread; nothing fails.
#pragma once

#include <cstddef>
#include <string>

namespace samovar::app {

inline constexpr std::size_t kTextWidth = 98;  // columns, the indent included

// The words of `text` in lines of at most kTextWidth bytes; what comes before the first line is
// `indent` wide already, the others are indented. A longer word has a line of its own.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t indent);

}  // namespace samovar::app
