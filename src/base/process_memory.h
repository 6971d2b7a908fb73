// How much memory this process has. Any thread. Never fails; 0 means unknown.
#pragma once

#include <cstdint>

namespace samovar {

// Bytes in physical memory (RSS), mapped files included as far as they are there: a model that is
// mapped from its file counts with what was read of it.
[[nodiscard]] std::uint64_t resident_bytes();

}  // namespace samovar
