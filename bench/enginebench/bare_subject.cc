// The bare libllama loop: same model, cells, batch, threads and thread pool; one sequence; greedy.
#include <ggml-backend.h>
#include <llama.h>

#include "engine/llama_model.h"
#include "engine/llama_threads.h"
#include "subjects.h"

namespace samovar::bench {
namespace {

class BareSubject final : public Subject {
 public:
  BareSubject(LlamaModelPtr model, const llama_context_params& params)
      : model_(std::move(model)),
        threads_(params.n_threads, params.n_threads_batch),
        context_(llama_init_from_model(model_.get(), params)),
        vocab_size_(llama_vocab_n_tokens(llama_model_get_vocab(model_.get()))),
        batch_(static_cast<int>(params.n_batch)) {
    if (context_ == nullptr) {
      std::exit(1);
    }
    threads_.attach(context_.get());
  }

  Run answer(const Tokens& prompt, int reply) override {
    Tokens tokens = prompt;
    llama_memory_clear(llama_get_memory(context_.get()), false);
    const Micros began = system_clock().now();
    for (std::size_t at = 0; at < tokens.size(); at += static_cast<std::size_t>(batch_)) {
      const auto count = std::min(tokens.size() - at, static_cast<std::size_t>(batch_));
      decode(tokens.data() + at, static_cast<int>(count));
    }
    Token next = argmax();
    const Micros first = system_clock().now();
    for (int i = 1; i < reply; ++i) {
      decode(&next, 1);
      next = argmax();
    }
    return {.prefill = first - began, .decode = system_clock().now() - first, .replied = reply};
  }

 private:
  void decode(Token* tokens, int count) {
    if (llama_decode(context_.get(), llama_batch_get_one(tokens, count)) != 0) {
      fmt::print(stderr, "llama_decode failed\n");
      std::exit(1);
    }
  }

  Token argmax() const {
    const float* logits = llama_get_logits_ith(context_.get(), -1);
    Token best = 0;
    for (Token token = 1; token < vocab_size_; ++token) {
      if (logits[token] > logits[best]) {
        best = token;
      }
    }
    return best;
  }

  LlamaModelPtr model_;
  LlamaThreads threads_;
  LlamaContextPtr context_;
  int vocab_size_;
  int batch_;
};

}  // namespace

std::unique_ptr<Subject> make_bare_subject(const BenchOptions& options) {
  const EngineOptions engine = engine_options(options, options.prompt + options.reply + 256);
  if (const Status status = load_backends(engine.backend_dir); !status) {
    std::exit(1);
  }
  LlamaModelPtr model = take_or_exit(load_model(engine, false));
  llama_context_params params = take_or_exit(context_params(engine, memory_shape(*model, engine)));
  params.n_seq_max = 1;
  params.n_outputs_max = 1;
  return std::make_unique<BareSubject>(std::move(model), params);
}

}  // namespace samovar::bench
