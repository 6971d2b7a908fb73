// How much memory this machine has left for us: what the kernel says is available without swapping,
// limited by the control group (container) we run in. Any thread. Never fails; 0 means unknown.
#pragma once

#include <cstdint>

namespace samovar {

[[nodiscard]] std::uint64_t available_host_memory();

}  // namespace samovar
