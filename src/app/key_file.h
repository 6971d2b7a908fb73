// The API key that a command sends: from the file of --key-file, or from the environment. Any
// thread. Errors name the flag and the remedy; none shows the key.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace samovar::app {

// The first line of `file`; without a file what is known already, or nothing. Error: the file
// cannot be read or holds no key, or the key is one that no header can carry.
[[nodiscard]] Result<std::string> read_key(const std::string& file,
                                           const std::optional<std::string>& known);

}  // namespace samovar::app
