// A report as one page: tables beside charts, nothing from anywhere else, readable without a mouse,
// in the light and in the dark and on a phone. Pure, and the same bytes for the same report; any
// thread.
#pragma once

#include <string>

#include "bench/tables.h"

namespace samovar::bench {

[[nodiscard]] std::string html_of(const Report& report, const Reasons& reasons);

}  // namespace samovar::bench
