// How this program was built, for reports: version, compiler, optimisation, llama.cpp. Any thread.
#pragma once

#include "bench/report.h"

namespace samovar::app {

[[nodiscard]] bench::Facts build_facts();

}  // namespace samovar::app
