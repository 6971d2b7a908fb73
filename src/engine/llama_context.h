// LlamaContext: a libllama context with what it needs to live (model, threads) and a batch to fill.
// Owned by LlamaEngine; engine thread only. The order of members is the order of destruction
// reversed: the context goes before threads and model.
#pragma once

#include <llama.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "core/tokens.h"
#include "engine/engine_options.h"
#include "engine/llama_model.h"
#include "engine/llama_threads.h"

namespace samovar {

class LlamaContext {
 public:
  static Result<std::unique_ptr<LlamaContext>> open(const EngineOptions& options);

  [[nodiscard]] llama_context* raw() const { return context_.get(); }
  [[nodiscard]] llama_model* model() const { return model_.get(); }
  [[nodiscard]] const llama_vocab* vocab() const { return llama_model_get_vocab(model_.get()); }
  [[nodiscard]] const MemoryShape& shape() const { return shape_; }

  // --- the next batch ---
  void clear_batch();
  void add(Token token, Position position, std::span<llama_seq_id> ids, bool want_output);
  [[nodiscard]] int batch_size() const { return static_cast<int>(tokens_.size()); }

  // llama_decode's return code for the batch: 0 done, 1 no room (nothing changed), else an error.
  int run_batch();

 private:
  LlamaContext(LlamaModelPtr model, const MemoryShape& shape, const llama_context_params& params);

  LlamaModelPtr model_;
  MemoryShape shape_;
  LlamaThreads threads_;
  LlamaContextPtr context_;

  std::vector<llama_token> tokens_;
  std::vector<llama_pos> positions_;
  std::vector<std::int32_t> id_counts_;
  std::vector<llama_seq_id*> ids_;
  std::vector<std::int8_t> outputs_;
};

}  // namespace samovar
