#include "tools/mkmodel/gguf_file.h"

#include <fmt/format.h>
#include <ggml.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>

#include "tools/mkmodel/random.h"

namespace samovar::mkmodel {
namespace {

std::int64_t elements(const TensorPlan& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.size) count *= size;
  return count;
}

std::vector<float> values(const TensorPlan& tensor, std::uint64_t seed) {
  std::vector<float> all(static_cast<std::size_t>(elements(tensor)));
  if (tensor.fill == Fill::decay_rates) {
    const float last = all.size() > 1 ? static_cast<float>(all.size() - 1) : 1.0F;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = -0.001F * std::pow(1'000.0F, static_cast<float>(i) / last);
    }
    return all;
  }
  Random random(seed, tensor.name);
  for (float& value : all) value = tensor.mean + tensor.sd * random.normal();
  return all;
}

std::vector<char> encode(const TensorPlan& tensor, const std::vector<float>& from) {
  const std::int64_t row = tensor.size[0];
  const auto rows = static_cast<std::int64_t>(from.size()) / row;
  std::vector<char> bytes(ggml_row_size(tensor.type, row) * static_cast<std::size_t>(rows));
  if (tensor.type == GGML_TYPE_F32) {
    std::memcpy(bytes.data(), from.data(), bytes.size());
  } else {
    ggml_quantize_chunk(tensor.type, from.data(), bytes.data(), 0, rows, row, nullptr);
  }
  return bytes;
}

void add_tensors(gguf_context* file, ggml_context* descriptions,
                 const std::vector<TensorPlan>& tensors) {
  for (const TensorPlan& tensor : tensors) {
    ggml_tensor* description = ggml_new_tensor(
        descriptions, tensor.type, static_cast<int>(tensor.size.size()), tensor.size.data());
    ggml_set_name(description, tensor.name.c_str());
    gguf_add_tensor(file, description);
  }
}

void pad(std::ofstream& out, std::size_t bytes) {
  const std::vector<char> zeros(bytes);
  out.write(zeros.data(), static_cast<std::streamsize>(bytes));
}

// Tensor data must begin and each tensor must end on a multiple of the file's alignment.
void write_data(std::ofstream& out, const gguf_context* file, std::uint64_t seed,
                const std::vector<TensorPlan>& tensors) {
  const std::size_t alignment = gguf_get_alignment(file);
  std::size_t written = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    pad(out, gguf_get_tensor_offset(file, static_cast<std::int64_t>(i)) - written);
    const std::vector<char> bytes = encode(tensors[i], values(tensors[i], seed));
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    written = gguf_get_tensor_offset(file, static_cast<std::int64_t>(i)) + bytes.size();
  }
  pad(out, (alignment - written % alignment) % alignment);
}

}  // namespace

Result<std::uint64_t> write_model(gguf_context* file, const std::vector<TensorPlan>& tensors,
                                  std::uint64_t seed, const std::string& path) {
  const std::unique_ptr<ggml_context, decltype(&ggml_free)> descriptions(
      ggml_init({.mem_size = ggml_tensor_overhead() * (tensors.size() + 1),
                 .mem_buffer = nullptr,
                 .no_alloc = true}),
      ggml_free);
  add_tensors(file, descriptions.get(), tensors);

  const std::string unfinished = path + ".tmp";
  const auto cannot = [&](const std::string& what) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    return fail(ErrorKind::unavailable, what + " " + path, "--out",
                "Check that its folder exists, can be written and has room");
  };
  std::vector<char> header(gguf_get_meta_size(file));
  gguf_get_meta_data(file, header.data());
  std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
  if (!out) return cannot("cannot create");
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  write_data(out, file, seed, tensors);
  const auto size = static_cast<std::uint64_t>(out.tellp());
  out.close();
  if (!out) return cannot("cannot write");
  std::error_code error;
  std::filesystem::rename(unfinished, path, error);
  if (error) return cannot("cannot rename the finished file to");
  return size;
}

Result<std::uint64_t> write_split_model(gguf_context* file, const std::vector<TensorPlan>& tensors,
                                        std::uint64_t seed, const std::string& path, int parts) {
  constexpr std::string_view kEnding = ".gguf";
  std::string prefix = path;
  if (prefix.ends_with(kEnding)) prefix.resize(prefix.size() - kEnding.size());
  std::uint64_t bytes = 0;
  for (int part = 0; part < parts; ++part) {
    const std::unique_ptr<gguf_context, decltype(&gguf_free)> own(gguf_init_empty(), gguf_free);
    gguf_context* const target = part == 0 ? file : own.get();
    gguf_set_val_u16(target, "split.no", static_cast<std::uint16_t>(part));
    gguf_set_val_u16(target, "split.count", static_cast<std::uint16_t>(parts));
    gguf_set_val_i32(target, "split.tensors.count", static_cast<std::int32_t>(tensors.size()));
    const auto bound = [&](int which) {
      return tensors.begin() +
             static_cast<std::ptrdiff_t>(tensors.size() * static_cast<std::size_t>(which) /
                                         static_cast<std::size_t>(parts));
    };
    const auto written =
        write_model(target, {bound(part), bound(part + 1)}, seed,
                    fmt::format("{}-{:05}-of-{:05}.gguf", prefix, part + 1, parts));
    if (!written) return written;
    bytes += *written;
  }
  return bytes;
}

}  // namespace samovar::mkmodel
