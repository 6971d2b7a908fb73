// The fingerprint of a model's state: two engines with the same one can exchange segments and
// snapshots, and compute the same from them. It covers the content of the GGUF file (all of its
// metadata and tensor table, samples of its weights, of every part of a split model), the types of
// K/V, rope and window settings, the rotation of quantised K/V, the unified cache, libllama's
// version and the version of this scheme. It does not cover the context size, threads or batch
// sizes: they change no state. Reads a few MB of the file; called once, when the engine is opened.
#pragma once

#include <llama.h>

#include <cstdint>

#include "base/hash.h"
#include "base/result.h"
#include "engine/engine_options.h"
#include "engine/llama_model.h"

namespace samovar {

struct StateFormat {
  Sha256 fingerprint{};

  // How state is laid out: types, layers, row sizes, window. A part of the fingerprint, kept apart
  // as a second check in every file.
  std::uint32_t layout = 0;
};

Result<StateFormat> state_format(const llama_model& model, const EngineOptions& options,
                                 const MemoryShape& shape);

}  // namespace samovar
