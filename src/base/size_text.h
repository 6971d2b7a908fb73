// Bytes as people read them. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace samovar {

[[nodiscard]] std::string format_bytes(std::uint64_t bytes);  // "1.25 GiB"

}  // namespace samovar
