// One field of a CSV file (RFC 4180): as it is, or quoted where it has a comma, a quote or a line's
// end. Pure; any thread.
#pragma once

#include <string>

namespace samovar::bench {

[[nodiscard]] std::string csv_field(const std::string& text);

}  // namespace samovar::bench
