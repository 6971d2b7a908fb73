// Loading a GGUF model through libllama: backends, weights, and what the rest of the server wants
// to know about it. Owned by LlamaEngine (and, briefly and without weights, by the memory plan).
// Call from one thread; what is returned is immutable. Fails on missing, unreadable or unsupported
// files.
#pragma once

#include <llama.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/engine_options.h"

namespace samovar {

struct LlamaModelDeleter {
  void operator()(llama_model* model) const { llama_model_free(model); }
};
using LlamaModelPtr = std::unique_ptr<llama_model, LlamaModelDeleter>;

struct LlamaContextDeleter {
  void operator()(llama_context* context) const { llama_free(context); }
};
using LlamaContextPtr = std::unique_ptr<llama_context, LlamaContextDeleter>;

// How a model keeps its memory, which decides how a sequence goes back.
struct MemoryShape {
  RewindKind rewind = RewindKind::anywhere;

  // Every cell of a sequence also belongs to a second "guard" sequence: see llama_memory.h.
  bool guarded = false;
};

// Finds and loads ggml's backend libraries; later calls do nothing. `dir` may be empty.
Status load_backends(const std::string& dir);

// With `weightless`, sizes are computed but no weights are read.
Result<LlamaModelPtr> load_model(const EngineOptions& options, bool weightless);

[[nodiscard]] MemoryShape memory_shape(const llama_model& model, const EngineOptions& options);
[[nodiscard]] ModelInfo describe_model(const llama_model& model, const EngineOptions& options);

// How many libllama sequences the context needs: resident ones, their guards, and one scratch.
[[nodiscard]] int llama_sequences(const EngineOptions& options, const MemoryShape& shape);

// Checks options and turns them into libllama's. `cells` is taken as given.
Result<llama_context_params> context_params(const EngineOptions& options, const MemoryShape& shape);

[[nodiscard]] int default_threads();  // the physical cores

}  // namespace samovar
