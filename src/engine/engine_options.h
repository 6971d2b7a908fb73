// EngineOptions: what the command line says about model, memory and compute. A plain value, read
// once when the engine is opened. Flag names in comments are llama-server's where they mean the
// same.
#pragma once

#include <cstdint>
#include <string>

#include "core/tokens.h"

namespace samovar {

struct EngineOptions {
  std::string model_path;  // -m

  // --- memory ---
  Position cells = 0;  // -c: tokens of all conversations together; 0: what the budget allows
  int sequences = 8;   // conversations that stay resident
  std::string type_k = "f16";  // -ctk
  std::string type_v = "f16";  // -ctv
  bool swa_full = true;  // keep sliding-window K/V of every token, so any position can be cut to
  std::uint64_t memory_bytes = 0;         // --memory: the budget; 0: most of what is available
  std::uint64_t anchor_memory_bytes = 0;  // --anchor-memory: snapshots in host memory

  std::uint64_t store_buffer_bytes = 0;  // --store-buffers: bytes on their way to and from disk

  // --- compute ---
  int parallel = 4;       // -np: replies in one decode call
  int ubatch = 512;       // -ub: tokens in one prefill call
  int threads = 0;        // -t: decode; 0: the physical cores
  int threads_batch = 0;  // -tb: prefill; 0: as threads
  int gpu_layers = -1;    // -ngl: -1: all that fit a GPU backend, where there is one

  // Where the ggml backend libraries are; empty: where the build found them, or beside the program.
  std::string backend_dir;
};

}  // namespace samovar
