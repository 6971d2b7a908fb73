#include "engine/llama_model.h"

#include <fmt/core.h>
#include <ggml-backend.h>
#include <llama-common/common.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>

#include "base/log.h"
#include "engine/llama_log.h"

namespace samovar {
namespace {

namespace fs = std::filesystem;

constexpr int kSequencesMax = 256;  // LLAMA_MAX_SEQ

struct CacheType {
  const char* name;
  ggml_type type;
};
constexpr std::array kCacheTypes = {
    CacheType{"f16", GGML_TYPE_F16},       CacheType{"bf16", GGML_TYPE_BF16},
    CacheType{"f32", GGML_TYPE_F32},       CacheType{"q8_0", GGML_TYPE_Q8_0},
    CacheType{"q4_0", GGML_TYPE_Q4_0},     CacheType{"q4_1", GGML_TYPE_Q4_1},
    CacheType{"q5_0", GGML_TYPE_Q5_0},     CacheType{"q5_1", GGML_TYPE_Q5_1},
    CacheType{"iq4_nl", GGML_TYPE_IQ4_NL},
};

Result<ggml_type> cache_type(const std::string& name, const char* flag) {
  std::string known;
  for (const CacheType& entry : kCacheTypes) {
    if (name == entry.name) {
      return entry.type;
    }
    known += known.empty() ? entry.name : std::string(", ") + entry.name;
  }
  return fail(ErrorKind::invalid_argument, fmt::format("no K/V cache type is called '{}'", name),
              flag, "Use one of " + known + ".");
}

std::string program_dir() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? std::string() : program.parent_path().string();
}

bool has_cpu_backend() { return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != nullptr; }

std::string metadata(const llama_model& model, const char* key) {
  std::array<char, 512> text{};
  const int length = llama_model_meta_val_str(&model, key, text.data(), text.size());
  return length < 0 ? std::string() : std::string(text.data());
}

Status check_range(int value, int low, int high, const char* flag) {
  if (value < low || value > high) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} must be between {} and {}, not {}", flag, low, high, value), flag);
  }
  return {};
}

}  // namespace

Status load_backends(const std::string& dir) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  route_llama_log();
  if (has_cpu_backend()) {
    return {};
  }
  for (const std::string& candidate : {dir, program_dir(), std::string(SAMOVAR_LLAMA_DIR "/lib")}) {
    std::error_code error;
    if (!candidate.empty() && fs::is_directory(candidate, error)) {
      ggml_backend_load_all_from_path(candidate.c_str());
      if (has_cpu_backend()) {
        log_debug("compute backends from {}", candidate);
        return {};
      }
    }
  }
  return fail(ErrorKind::unavailable, "no compute backend (libggml-cpu-*) was found", "",
              "Put llama.cpp's libraries beside the program.");
}

Result<LlamaModelPtr> load_model(const EngineOptions& options, bool weightless) {
  std::error_code error;
  if (!fs::is_regular_file(options.model_path, error)) {
    return fail(ErrorKind::not_found,
                fmt::format("the model file '{}' does not exist", options.model_path), "-m");
  }
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = options.gpu_layers;
  params.no_alloc = weightless;
  if (weightless) {
    params.load_mode = LLAMA_LOAD_MODE_NONE;
  }
  LlamaModelPtr model(llama_model_load_from_file(options.model_path.c_str(), params));
  if (model == nullptr) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' could not be loaded as a GGUF model", options.model_path), "-m",
                "The lines above say why; the architecture may be newer than this llama.cpp.");
  }
  if (llama_model_has_encoder(model.get()) || !llama_model_has_decoder(model.get())) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is not a decoder-only language model", options.model_path), "-m");
  }
  return model;
}

MemoryShape memory_shape(const llama_model& model, const EngineOptions& options) {
  if (llama_model_is_hybrid(&model) || llama_model_is_recurrent(&model)) {
    return {.rewind = RewindKind::snapshot, .guarded = false};
  }
  if (llama_model_n_swa(&model) > 0) {
    return options.swa_full ? MemoryShape{.rewind = RewindKind::anywhere, .guarded = true}
                            : MemoryShape{.rewind = RewindKind::snapshot, .guarded = false};
  }
  return {};
}

ModelInfo describe_model(const llama_model& model, const EngineOptions& options) {
  ModelInfo info;
  info.name = metadata(model, "general.name");
  if (info.name.empty()) {
    info.name = fs::path(options.model_path).stem().string();
  }
  info.architecture = metadata(model, "general.architecture");
  std::array<char, 256> text{};
  llama_model_desc(&model, text.data(), text.size());
  info.description = text.data();
  info.parameters = llama_model_n_params(&model);
  info.file_bytes = llama_model_size(&model);
  info.trained_context = llama_model_n_ctx_train(&model);
  info.vocab_size = llama_vocab_n_tokens(llama_model_get_vocab(&model));
  info.rewind = memory_shape(model, options).rewind;
  return info;
}

int llama_sequences(const EngineOptions& options, const MemoryShape& shape) {
  return options.sequences * (shape.guarded ? 2 : 1) + 1;
}

Result<llama_context_params> context_params(const EngineOptions& options,
                                            const MemoryShape& shape) {
  const int sequences_max = (kSequencesMax - 1) / (shape.guarded ? 2 : 1);
  for (const Status& status :
       {check_range(options.sequences, 1, sequences_max, "--sequences"),
        check_range(options.parallel, 1, options.sequences, "-np"),
        check_range(options.ubatch, 1, 65'536, "-ub"), check_range(options.threads, 0, 512, "-t"),
        check_range(options.threads_batch, 0, 512, "-tb")}) {
    if (!status) {
      return std::unexpected(status.error());
    }
  }
  const Result<ggml_type> type_k = cache_type(options.type_k, "-ctk");
  const Result<ggml_type> type_v = cache_type(options.type_v, "-ctv");
  if (!type_k || !type_v) {
    return std::unexpected(!type_k ? type_k.error() : type_v.error());
  }

  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(options.cells);
  params.n_ubatch = static_cast<std::uint32_t>(std::max(options.ubatch, options.parallel));
  params.n_batch = params.n_ubatch;  // one llama_decode is one ubatch: the unit of cancelling
  params.n_seq_max = static_cast<std::uint32_t>(llama_sequences(options, shape));
  params.n_outputs_max = params.n_seq_max;  // the default reserves logits for a whole ubatch
  params.n_rs_seq = 0;  // its rollback answers "yes" where it cannot: we keep our own snapshots
  params.n_threads = options.threads > 0 ? options.threads : default_threads();
  params.n_threads_batch = options.threads_batch > 0 ? options.threads_batch : params.n_threads;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_AUTO;  // DISABLED would transpose V in the blobs
  params.type_k = *type_k;
  params.type_v = *type_v;
  params.swa_full = options.swa_full;
  params.kv_unified = true;  // sequences share cells; blobs of one sequence suit every other
  params.no_perf = true;
  return params;
}

int default_threads() {
  static const int cores = std::max(1, static_cast<int>(common_cpu_get_num_physical_cores()));
  return cores;
}

}  // namespace samovar
