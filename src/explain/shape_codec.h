// TurnShape as bytes, for the ledger: a version, then numbers in groups of seven bits, hashes as
// they are. Texts and tokens are left out. Pure; any thread. decode_shape() takes any bytes: what
// is not exactly what encode_shape() writes is an error, and memory stays within a hundred times
// the bytes given.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "explain/turn_shape.h"

namespace samovar {

[[nodiscard]] std::vector<std::uint8_t> encode_shape(const TurnShape& shape);

// Errors: invalid_argument.
[[nodiscard]] Result<TurnShape> decode_shape(Bytes bytes);

}  // namespace samovar
