#include "engine/llama_threads.h"

#include <ggml-backend.h>

namespace samovar {
namespace {

// The CPU backend is loaded at run time, so its functions are asked for by name.
template <class Function>
Function* cpu_function(const char* name) {
  ggml_backend_dev_t device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (device == nullptr) {
    return nullptr;
  }
  return reinterpret_cast<Function*>(
      ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), name));
}

ggml_threadpool* make_pool(int threads, bool paused) {
  auto* make = cpu_function<decltype(ggml_threadpool_new)>("ggml_threadpool_new");
  if (make == nullptr || threads < 2) {
    return nullptr;
  }
  ggml_threadpool_params params = ggml_threadpool_params_default(threads);
  params.paused = paused;
  return make(&params);
}

}  // namespace

void LlamaThreads::Free::operator()(ggml_threadpool* pool) const {
  if (auto* free = cpu_function<decltype(ggml_threadpool_free)>("ggml_threadpool_free")) {
    free(pool);
  }
}

LlamaThreads::LlamaThreads(int decode, int batch)
    : decode_(make_pool(decode, decode != batch)),
      batch_(decode == batch ? nullptr : make_pool(batch, false)) {}

void LlamaThreads::attach(llama_context* context) const {
  if (decode_ != nullptr) {
    llama_attach_threadpool(context, decode_.get(), batch_.get());
  }
}

}  // namespace samovar
