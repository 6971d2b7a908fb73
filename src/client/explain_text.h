// The explanation of a miss, from the server's JSON into text for a terminal. Pure. Fields that are
// absent or null are left out.
#pragma once

#include <string>
#include <string_view>

namespace samovar::client {

// Empty: `json` is none.
[[nodiscard]] std::string explanation_text(std::string_view json);

}  // namespace samovar::client
