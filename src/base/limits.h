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

// Connections that are not being served (docs/decisions/reception.md): each costs a descriptor and
// an entry in every poll().
inline constexpr std::size_t connections_max = 4'096;
inline constexpr std::size_t waiting_requests_max = 256;                  // for a free thread
inline constexpr std::size_t waiting_bytes_max = std::size_t{128} << 20;  // unserved, in all
inline constexpr std::size_t head_bytes_max = std::size_t{64} << 10;  // other servers: 8K to 32K
inline constexpr std::size_t held_request_bytes = std::size_t{1}
                                                  << 20;  // longer ones hold a thread

// Bytes of a reply's grammar. A token that does not fit is replaced by trying the whole vocabulary
// against every open alternative, on the engine thread: 4,000 enum values cost a second a token
// there.
inline constexpr std::size_t format_grammar_bytes_max = std::size_t{48} << 10;
inline constexpr std::size_t tool_grammar_bytes_max = std::size_t{1} << 20;

// Streaming.
inline constexpr std::int64_t keepalive_us = 1'000'000;  // an SSE comment at least this often

// Replies in the background (api/background_replies.h): threads, and bytes of events that are kept.
inline constexpr std::size_t background_replies_max = 16;
inline constexpr std::size_t background_bytes_each_max = std::size_t{16} << 20;
inline constexpr std::size_t background_bytes_max = std::size_t{64} << 20;

}  // namespace samovar::limits
