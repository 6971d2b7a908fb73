// Views of raw bytes, for everything that reads, checks or stores them.
#pragma once

#include <cstdint>
#include <span>

namespace samovar {

using Bytes = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;

}  // namespace samovar
