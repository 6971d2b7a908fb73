#include "engine/fingerprint.h"

#include <fmt/format.h>
#include <gguf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace samovar {
namespace {

constexpr int kSchemeVersion = 1;

// The state's bytes are those of this libllama; raise it with every update of the library.
constexpr const char* kLibrary = "llama.cpp 0.4.0";

constexpr std::size_t kSamples = 64;
constexpr std::size_t kSampleBytes = std::size_t{64} << 10;

struct GgufDeleter {
  void operator()(gguf_context* context) const { gguf_free(context); }
};

Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// The files of a split model ("name-00001-of-00003.gguf"); else the file itself.
std::vector<std::string> parts_of(const std::string& path) {
  constexpr std::string_view kPattern = "-00001-of-00000.gguf";
  if (path.size() < kPattern.size()) {
    return {path};
  }
  const std::string prefix = path.substr(0, path.size() - kPattern.size());
  for (int count = 2; count < 1000; ++count) {
    if (path != fmt::format("{}-00001-of-{:05}.gguf", prefix, count)) {
      continue;
    }
    std::vector<std::string> parts;
    for (int part = 1; part <= count; ++part) {
      parts.push_back(fmt::format("{}-{:05}-of-{:05}.gguf", prefix, part, count));
    }
    return parts;
  }
  return {path};
}

bool add_range(Sha256Hasher& hasher, std::ifstream& file, std::uint64_t begin, std::uint64_t size) {
  std::vector<char> bytes(std::min<std::uint64_t>(size, 1 << 20));
  file.seekg(static_cast<std::streamoff>(begin));
  while (size > 0) {
    const auto next = std::min<std::uint64_t>(size, bytes.size());
    if (!file.read(bytes.data(), static_cast<std::streamsize>(next))) {
      return false;
    }
    hasher.update(as_bytes({bytes.data(), next}));
    size -= next;
  }
  return true;
}

// Metadata and tensor table whole; of the weights, samples spread evenly.
Status add_file(Sha256Hasher& hasher, const std::string& path) {
  const std::unique_ptr<gguf_context, GgufDeleter> gguf(
      gguf_init_from_file(path.c_str(), {.no_alloc = true, .ctx = nullptr}));
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (gguf == nullptr || !file) {
    return fail(ErrorKind::invalid_argument, fmt::format("cannot read '{}' again", path), "-m");
  }
  const auto size = static_cast<std::uint64_t>(file.tellg());
  const auto header = std::min<std::uint64_t>(gguf_get_data_offset(gguf.get()), size);
  const std::uint64_t data = size - header;
  hasher.update(as_bytes(fmt::format("file {} {}\n", size, header)));
  bool read = add_range(hasher, file, 0, header);
  for (std::size_t i = 0; read && i < kSamples && data > 0; ++i) {
    const std::uint64_t last = data > kSampleBytes ? data - kSampleBytes : 0;
    const std::uint64_t at = header + last / (kSamples - 1) * i;
    read = add_range(hasher, file, at, std::min<std::uint64_t>(kSampleBytes, size - at));
  }
  if (!read) {
    return fail(ErrorKind::invalid_argument, fmt::format("cannot read '{}' again", path), "-m");
  }
  return {};
}

std::string layout_of(const llama_model& model, const EngineOptions& options,
                      const MemoryShape& shape) {
  return fmt::format(
      "k={} v={} layers={} embd={} heads={} kv_heads={} window={} swa_full={} guarded={} "
      "snapshots={} rope={} unified=1 v_trans=0",
      options.type_k, options.type_v, llama_model_n_layer(&model), llama_model_n_embd(&model),
      llama_model_n_head(&model), llama_model_n_head_kv(&model), llama_model_n_swa(&model),
      options.swa_full, shape.guarded, shape.rewind == RewindKind::snapshot,
      static_cast<int>(llama_model_rope_type(&model)));
}

}  // namespace

Result<StateFormat> state_format(const llama_model& model, const EngineOptions& options,
                                 const MemoryShape& shape) {
  const std::string layout = layout_of(model, options, shape);
  // With it set, quantised K/V are stored without their rotation; the bytes do not tell.
  const bool rotation = std::getenv("LLAMA_ATTN_ROT_DISABLE") == nullptr;
  Sha256Hasher hasher;
  hasher.update(
      as_bytes(fmt::format("samovar state {}\n{}\n{}\nrope_scale={} rotation={}\n", kSchemeVersion,
                           kLibrary, layout, llama_model_rope_freq_scale_train(&model), rotation)));
  for (const std::string& part : parts_of(options.model_path)) {
    if (const Status added = add_file(hasher, part); !added) {
      return std::unexpected(added.error());
    }
  }
  StateFormat format;
  format.fingerprint = hasher.digest();
  const Sha256 hashed = sha256(as_bytes(layout));
  for (int i = 3; i >= 0; --i) {  // little-endian
    format.layout = format.layout << 8 | hashed[static_cast<std::size_t>(i)];
  }
  return format;
}

}  // namespace samovar
