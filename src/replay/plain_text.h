// Text of a trace or of a server on its way to a terminal: valid UTF-8 in which a "?" stands for
// every control character but newlines and tabs, so that nothing in it steers the terminal. Pure.
#pragma once

#include <string>
#include <string_view>

namespace samovar::replay {

[[nodiscard]] std::string plain_text(std::string_view text);

}  // namespace samovar::replay
