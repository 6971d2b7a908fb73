// Logs of requests as others write them, into a trace: one JSON object a line, which is the body of
// a chat completions request, or has it in "request", "body" or "request_body" (as an object or as
// text), with "response", "timestamp" (seconds, milliseconds or ISO 8601 in UTC) and "duration_ms"
// where the log knows them. Pure. A line that cannot be read is passed over and noted. Error: there
// is no request at all.
#pragma once

#include <string_view>

#include "base/result.h"
#include "replay/trace.h"

namespace samovar::replay {

[[nodiscard]] Result<Trace> import_log(std::string_view bytes);

}  // namespace samovar::replay
