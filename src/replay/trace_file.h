// A trace from a file, checked (trace_reader.h). Errors name the file. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "replay/trace.h"

namespace samovar::replay {

[[nodiscard]] Result<Trace> read_trace_file(const std::string& path);

}  // namespace samovar::replay
