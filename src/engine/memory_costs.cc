#include "engine/memory_costs.h"

#include <fmt/core.h>
#include <ggml-backend.h>
#include <llama-ext.h>

#include <algorithm>

#include "engine/llama_model.h"

namespace samovar {
namespace {

std::uint64_t difference(std::uint64_t more, std::uint64_t less) {
  return more > less ? more - less : 0;
}

}  // namespace

Result<MemorySizes> measure_sizes(llama_model* model, llama_context_params params, Position cells,
                                  int sequences) {
  params.n_ctx = static_cast<std::uint32_t>(cells);
  params.n_seq_max = static_cast<std::uint32_t>(sequences);
  params.n_outputs_max = params.n_seq_max;
  const LlamaContextPtr context(llama_init_from_model(model, params));
  if (context == nullptr) {
    return fail(ErrorKind::unavailable,
                fmt::format("{} tokens and {} sequences cannot be planned", cells, sequences), "-c",
                "The lines above say why.");
  }
  MemorySizes sizes;
  for (const auto& [type, bytes] : llama_get_memory_breakdown(context.get())) {
    sizes.weights += bytes.model;
    sizes.memory += bytes.context;
    sizes.compute += bytes.compute;
    sizes.on_device += ggml_backend_buft_is_host(type) ? 0 : bytes.total();
  }
  return sizes;
}

std::uint64_t MemoryCosts::total(Position cells, int sequences, std::uint64_t anchors) const {
  const auto tokens = static_cast<std::int64_t>(cells) - trial_cells;
  const auto per_token = static_cast<std::int64_t>(memory_per_token + compute_per_token);
  const auto others = static_cast<std::uint64_t>(sequences - 1);
  const auto sum = static_cast<std::int64_t>(base.weights + base.memory + base.compute + anchors) +
                   tokens * per_token;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(sum, 0)) +
         others * (memory_per_sequence + compute_per_sequence) +
         static_cast<std::uint64_t>(sequences) * outputs_per_sequence;
}

Result<MemoryCosts> measure_costs(llama_model* model, const llama_context_params& params) {
  constexpr Position trial = MemoryCosts::trial_cells;
  const Result<MemorySizes> base = measure_sizes(model, params, trial, 1);
  const Result<MemorySizes> longer = measure_sizes(model, params, 2 * trial, 1);
  const Result<MemorySizes> wider = measure_sizes(model, params, trial, 2);
  for (const Result<MemorySizes>* sizes : {&base, &longer, &wider}) {
    if (!*sizes) {
      return std::unexpected(sizes->error());
    }
  }
  const auto vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
  return MemoryCosts{.base = *base,
                     .memory_per_token = difference(longer->memory, base->memory) / trial,
                     .compute_per_token = difference(longer->compute, base->compute) / trial,
                     .memory_per_sequence = difference(wider->memory, base->memory),
                     .compute_per_sequence = difference(wider->compute, base->compute),
                     .outputs_per_sequence = static_cast<std::uint64_t>(vocab) * sizeof(float)};
}

}  // namespace samovar
