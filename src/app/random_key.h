// A key for a hash that nobody is to repeat: 32 bytes of the system's randomness. Any thread.
#pragma once

#include <string>

namespace samovar::app {

[[nodiscard]] std::string random_key();

}  // namespace samovar::app
