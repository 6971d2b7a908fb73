// LlamaThreads: the compute threads of a CPU context, made once. Without them ggml starts and ends
// its threads for every single graph, which costs more than a small model's token. Owned by
// LlamaEngine, must outlive the context. Where there is no thread pool, does nothing.
#pragma once

#include <ggml-cpu.h>
#include <llama.h>

#include <memory>

namespace samovar {

class LlamaThreads {
 public:
  // `decode` threads serve calls of one token per sequence, `batch` threads all others.
  LlamaThreads(int decode, int batch);

  void attach(llama_context* context) const;

 private:
  struct Free {
    void operator()(ggml_threadpool* pool) const;
  };

  std::unique_ptr<ggml_threadpool, Free> decode_;
  std::unique_ptr<ggml_threadpool, Free> batch_;  // null: the same threads
};

}  // namespace samovar
