// What a model costs per token and per sequence, whatever its architecture: libllama builds
// contexts without their buffers, at two sizes each, and the differences are the answer. Used by
// the memory plan only, on one thread; the model should be loaded weightless.
#pragma once

#include <llama.h>

#include <cstdint>

#include "base/result.h"
#include "core/tokens.h"

namespace samovar {

inline constexpr Position kCellGrain = 256;  // libllama rounds the context up to this

// Bytes of one context and its model.
struct MemorySizes {
  std::uint64_t weights = 0;
  std::uint64_t memory = 0;  // K/V and recurrent states
  std::uint64_t compute = 0;
  std::uint64_t on_device = 0;  // of all these
};

// Exact. Recurrent states are really allocated for a moment: libllama knows no other way.
Result<MemorySizes> measure_sizes(llama_model* model, llama_context_params params, Position cells,
                                  int sequences);

// Enough to extrapolate any size; exact but for the compute buffers, which grow in steps.
struct MemoryCosts {
  MemorySizes base;  // of trial_cells and one sequence
  std::uint64_t memory_per_token = 0;
  std::uint64_t compute_per_token = 0;
  std::uint64_t memory_per_sequence = 0;
  std::uint64_t compute_per_sequence = 0;
  std::uint64_t outputs_per_sequence = 0;

  static constexpr Position trial_cells = 32 * 1024;  // larger than any window with its batch

  [[nodiscard]] std::uint64_t total(Position cells, int sequences, std::uint64_t anchors) const;
};

Result<MemoryCosts> measure_costs(llama_model* model, const llama_context_params& params);

}  // namespace samovar
