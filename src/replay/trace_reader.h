// A trace of the bytes of a file, checked: every turn that another names stands before it, and what
// is kept of it is there. Pure; any thread.
//
// A line that a crash tore, at the end or before another header, is passed over and noted; anything
// else that cannot be read is an error, which names the line and the field.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "replay/trace.h"

namespace samovar::replay {

[[nodiscard]] Result<Trace> read_trace(std::string_view bytes);

// The file that read_trace() makes the same trace of, but for its notes.
[[nodiscard]] std::string write_trace(const Trace& trace);

}  // namespace samovar::replay
