// The lines of a trace file (docs/trace-format.md): a header and turns, each one JSON object
// without its newline. Pure; any thread. What is written is read back as it was. Errors name the
// field.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "replay/trace.h"

namespace samovar::replay {

[[nodiscard]] std::string header_line(const TraceHeader& header);
[[nodiscard]] std::string turn_line(const TraceTurn& turn);

// A header says "samovar_trace".
[[nodiscard]] bool is_header(const nlohmann::ordered_json& line);
[[nodiscard]] Result<TraceHeader> read_header(const nlohmann::ordered_json& line);

// Checked by itself only; what it says of other turns is the reader's to check (trace_reader.h).
[[nodiscard]] Result<TraceTurn> read_turn(const nlohmann::ordered_json& line);

// `keep` of a line that names a turn to follow, and does not say: everything, and the reply.
inline constexpr std::size_t kKeepAll = static_cast<std::size_t>(-1);

}  // namespace samovar::replay
