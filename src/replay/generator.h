// A trace made up by chance, whose shape is that of the published studies of coding agents
// (docs/trace-format.md names them and says which figures are whose). Pure: the same options give
// the same trace, on every machine. The words mean nothing.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "replay/trace.h"

namespace samovar::replay {

struct GeneratorOptions {
  std::uint64_t seed = 1;
  int sessions = 20;
  int turns = 60;              // requests of a session, about, sub-agents not counted
  double scale = 1.0;          // of all sizes in tokens
  int start_tokens = 12'000;   // system prompt and tools, before `scale`
  int context = 128'000;       // tokens; beyond, a history is compacted; before `scale`
  double tools_per_user = 12;  // requests of a tool loop after one of a user, on average
  double agents = 0.03;        // chance of a tool result to be a sub-agent's
  double cuts = 0.02;          // chance of a reply before a user's message to be cut
  int arrivals_s = 600;        // sessions begin within so many seconds
};

// Errors: an option out of range; the field is its flag.
[[nodiscard]] Result<Trace> generate_trace(const GeneratorOptions& options);

}  // namespace samovar::replay
