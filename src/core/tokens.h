// The words every layer shares: token ids, positions, sequences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace samovar {

using Token = std::int32_t;     // an id of the model's vocabulary
using Position = std::int32_t;  // an index into a prompt; also a count of tokens before it
using SeqId = std::int32_t;     // a live conversation in the engine's memory

using Tokens = std::vector<Token>;
using TokenSpan = std::span<const Token>;

}  // namespace samovar
