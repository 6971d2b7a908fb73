// Plan and Metadata: the vocabulary in which architecture.cc describes a model. Plan collects
// tensors with their usual size and scale; Metadata sets keys under the architecture's name.
#pragma once

#include <gguf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mkmodel/architecture.h"
#include "tools/mkmodel/shape.h"

namespace samovar::mkmodel {

// The sd that keeps a matrix product at the size of its input, and a bit more.
[[nodiscard]] float fan_in(std::int64_t inputs);

enum class AttentionParts {
  plain,           // q, k, v, output
  norms,           // and norms of each head's q and k
  norms_and_gate,  // and the output gate that qwen35 keeps beside q
};

class Plan {
 public:
  Plan(const Shape& shape, std::uint32_t vocabulary);

  void scale_embedding(float factor);
  void layer(std::uint32_t index) { prefix_ = "blk." + std::to_string(index) + "."; }
  void matrix(std::string_view name, std::int64_t inputs, std::int64_t outputs);
  void experts(std::string_view name, std::int64_t inputs, std::int64_t outputs,
               std::int64_t count);
  void norm(std::string_view name, std::int64_t size, float mean = 1.0F);
  void f32(std::string_view name, std::vector<std::int64_t> size, float mean, float sd);
  void decay(std::string_view name, std::vector<std::int64_t> size);
  void attention(AttentionParts parts);
  void feed_forward();
  [[nodiscard]] std::vector<TensorPlan> take() { return std::move(tensors_); }

 private:
  const Shape& shape_;
  std::string prefix_;
  std::vector<TensorPlan> tensors_;
};

class Metadata {
 public:
  Metadata(gguf_context* file, std::string architecture);
  void number(std::string_view key, std::uint32_t value);
  void real(std::string_view key, float value);
  void array(std::string_view key, const std::vector<std::uint32_t>& values);
  void common(const Shape& shape, std::uint32_t layers);
  void attention(const Shape& shape, std::uint32_t rope_dims, float rope_base);

 private:
  [[nodiscard]] std::string full(std::string_view key) const;
  gguf_context* file_;
  std::string architecture_;
};

}  // namespace samovar::mkmodel
