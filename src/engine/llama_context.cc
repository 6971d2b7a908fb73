#include "engine/llama_context.h"

#include <fmt/core.h>

#include <exception>
#include <utility>

#include "base/log.h"

namespace samovar {

Result<std::unique_ptr<LlamaContext>> LlamaContext::open(const EngineOptions& options) {
  if (const Status status = load_backends(options.backend_dir); !status) {
    return std::unexpected(status.error());
  }
  Result<LlamaModelPtr> model = load_model(options, /*weightless=*/false);
  if (!model) {
    return std::unexpected(model.error());
  }
  const MemoryShape shape = memory_shape(**model, options);
  const Result<llama_context_params> params = context_params(options, shape);
  if (!params) {
    return std::unexpected(params.error());
  }
  std::unique_ptr<LlamaContext> made(new LlamaContext(std::move(*model), shape, *params));
  if (made->context_ == nullptr) {
    return fail(ErrorKind::unavailable,
                fmt::format("no memory for {} tokens and {} conversations", options.cells,
                            options.sequences),
                "-c", "Give a smaller -c or --sequences.");
  }
  return made;
}

LlamaContext::LlamaContext(LlamaModelPtr model, const MemoryShape& shape,
                           const llama_context_params& params)
    : model_(std::move(model)),
      shape_(shape),
      threads_(params.n_threads, params.n_threads_batch),
      context_(llama_init_from_model(model_.get(), params)) {
  if (context_ != nullptr) {
    threads_.attach(context_.get());
  }
}

void LlamaContext::clear_batch() {
  tokens_.clear();
  positions_.clear();
  id_counts_.clear();
  ids_.clear();
  outputs_.clear();
}

void LlamaContext::add(Token token, Position position, std::span<llama_seq_id> ids,
                       bool want_output) {
  tokens_.push_back(token);
  positions_.push_back(position);
  id_counts_.push_back(static_cast<std::int32_t>(ids.size()));
  ids_.push_back(ids.data());
  outputs_.push_back(want_output ? 1 : 0);
}

int LlamaContext::run_batch() {
  llama_batch batch{};
  batch.n_tokens = batch_size();
  batch.token = tokens_.data();
  batch.pos = positions_.data();
  batch.n_seq_id = id_counts_.data();
  batch.seq_id = ids_.data();
  batch.logits = outputs_.data();
  try {
    return llama_decode(context_.get(), batch);
  } catch (const std::exception& error) {  // some backends let exceptions through the C API
    log_error("the engine threw: {}", error.what());
    return -4;
  }
}

}  // namespace samovar
