// What a report says of the machine: processor, cores, memory, system. Names of models and kernels
// only, no host name, no folder. Any thread; what the system does not tell is left out.
#pragma once

#include "bench/report.h"

namespace samovar::bench {

[[nodiscard]] Facts machine_facts();

// "2026-01-31 17:05 UTC".
[[nodiscard]] std::string date_text(std::int64_t wall_seconds);

}  // namespace samovar::bench
