#include "replay/trace_file.h"

#include <fmt/format.h>

#include "client/append_file.h"
#include "replay/trace_reader.h"

namespace samovar::replay {

Result<Trace> read_trace_file(const std::string& path) {
  auto text = client::read_whole(path);
  if (!text) return std::unexpected(text.error());
  auto trace = read_trace(*text);
  if (!trace) trace.error().message = fmt::format("{}: {}", path, trace.error().message);
  return trace;
}

}  // namespace samovar::replay
