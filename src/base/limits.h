// Every bound of the server that is not an option, in one place, with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace samovar::limits {

// A request is refused with a clear error above these.
inline constexpr std::size_t body_bytes_max = std::size_t{64} << 20;  // a 1M-token chat is ~4 MiB
inline constexpr std::size_t json_depth_max = 64;  // tool schemas nest; nothing sane reaches 64
// Key comparisons to parse a body: n^2/2 for an object of n members, so 10,000 members in one
// object.
inline constexpr std::uint64_t json_comparisons_max = 50'000'000;
inline constexpr std::size_t messages_max = 16'384;  // one agent session, many thousand turns
inline constexpr std::size_t tools_max = 1'024;
inline constexpr std::size_t stop_strings_max = 16;
inline constexpr std::size_t stop_string_bytes_max = 1'024;
inline constexpr std::size_t logit_bias_max = 4'096;
inline constexpr int top_logprobs_max = 20;  // OpenAI's own limit

// Streaming.
inline constexpr std::int64_t keepalive_us = 1'000'000;  // an SSE comment at least this often

// Where a prompt is cut into engine calls (see prefix/splits.h). A message start closer than this
// to the previous cut is not a cut. 96 + the generation primer stays below the 128 tokens that a
// follow-up may recompute.
inline constexpr int cut_spacing_min = 96;

}  // namespace samovar::limits
