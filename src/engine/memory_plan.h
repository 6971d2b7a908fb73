// MemoryPlan: what the server will take, computed from the architecture (memory_costs.h) before
// anything is allocated, and shown as a table. A value. plan_memory() is called once at start,
// before the engine is opened, on one thread; it fails on an unreadable model, bad options, or a
// plan that does not fit, naming the flag that would make it fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/tokens.h"
#include "engine/engine_options.h"

namespace samovar {

struct MemoryPlan {
  Position cells = 0;  // as asked for with -c, or chosen
  bool cells_chosen = false;
  Position trained_context = 0;
  int sequences = 0;  // resident conversations
  int states = 0;     // recurrent states: one per conversation and one to work in; 0: none

  // Bytes.
  std::uint64_t weights = 0;
  std::uint64_t kv = 0;
  std::uint64_t kv_per_token = 0;
  std::uint64_t state = 0;
  std::uint64_t state_each = 0;
  std::uint64_t compute = 0;    // scratch buffers of the graph
  std::uint64_t outputs = 0;    // logits
  std::uint64_t anchors = 0;    // snapshots in host memory
  std::uint64_t buffers = 0;    // of the store
  std::uint64_t on_device = 0;  // of all these, in GPU memory
  std::uint64_t budget = 0;
  bool budget_given = false;  // by --memory, else most of what is available

  [[nodiscard]] std::uint64_t total() const {
    return weights + kv + state + compute + outputs + anchors + buffers;
  }

  // The table for the terminal, several lines.
  [[nodiscard]] std::string table() const;
};

Result<MemoryPlan> plan_memory(const EngineOptions& options);

}  // namespace samovar
