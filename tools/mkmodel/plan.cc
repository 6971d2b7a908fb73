#include "tools/mkmodel/plan.h"

#include <cmath>
#include <utility>

namespace samovar::mkmodel {
namespace {

constexpr float kGain = 1.6F;       // output over input of a matrix
constexpr float kLogitSd = 3.2F;    // about 5 % for the likeliest of 32k tokens
constexpr float kQueryGain = 3.0F;  // sharpens attention: sd of the scores, before the softmax
constexpr float kNormSpread = 0.1F;

// A tied embedding is small against what the layers add, or the likeliest token is the last one
// again.
constexpr float kTiedEmbeddingSd = 0.25F;

}  // namespace

float fan_in(std::int64_t inputs) { return kGain / std::sqrt(static_cast<float>(inputs)); }

Plan::Plan(const Shape& shape, std::uint32_t vocabulary) : shape_(shape) {
  const std::int64_t embedding = shape.embedding;
  const float root = std::sqrt(static_cast<float>(embedding));
  const float embedding_sd = shape.tied ? kTiedEmbeddingSd : 1.0F;
  tensors_.push_back({.name = "token_embd.weight",
                      .size = {embedding, vocabulary},
                      .type = shape.weights,
                      .sd = embedding_sd});
  if (shape.tied) {
    norm("output_norm.weight", embedding, kLogitSd / (kTiedEmbeddingSd * root));
    return;
  }
  norm("output_norm.weight", embedding);
  tensors_.push_back({.name = "output.weight",
                      .size = {embedding, vocabulary},
                      .type = shape.weights,
                      .sd = kLogitSd / root});
}

void Plan::scale_embedding(float factor) { tensors_.front().sd *= factor; }

void Plan::matrix(std::string_view name, std::int64_t inputs, std::int64_t outputs) {
  tensors_.push_back({.name = prefix_ + std::string(name),
                      .size = {inputs, outputs},
                      .type = shape_.weights,
                      .sd = fan_in(inputs)});
}

void Plan::experts(std::string_view name, std::int64_t inputs, std::int64_t outputs,
                   std::int64_t count) {
  tensors_.push_back({.name = prefix_ + std::string(name),
                      .size = {inputs, outputs, count},
                      .type = shape_.weights,
                      .sd = fan_in(inputs)});
}

void Plan::norm(std::string_view name, std::int64_t size, float mean) {
  f32(name, {size}, mean, mean * kNormSpread);
}

void Plan::f32(std::string_view name, std::vector<std::int64_t> size, float mean, float sd) {
  tensors_.push_back(
      {.name = prefix_ + std::string(name), .size = std::move(size), .mean = mean, .sd = sd});
}

void Plan::decay(std::string_view name, std::vector<std::int64_t> size) {
  tensors_.push_back(
      {.name = prefix_ + std::string(name), .size = std::move(size), .fill = Fill::decay_rates});
}

void Plan::attention(AttentionParts parts) {
  const std::int64_t embedding = shape_.embedding;
  const std::int64_t queries = std::int64_t{shape_.head_size} * shape_.heads;
  const std::int64_t keys = std::int64_t{shape_.head_size} * shape_.heads_kv;
  const bool gate = parts == AttentionParts::norms_and_gate;
  matrix("attn_q.weight", embedding, gate ? 2 * queries : queries);
  matrix("attn_k.weight", embedding, keys);
  matrix("attn_v.weight", embedding, keys);
  matrix("attn_output.weight", queries, embedding);
  if (parts == AttentionParts::plain) return;
  norm("attn_q_norm.weight", shape_.head_size, kQueryGain);
  norm("attn_k_norm.weight", shape_.head_size);
}

void Plan::feed_forward() {
  matrix("ffn_gate.weight", shape_.embedding, shape_.feed_forward);
  matrix("ffn_up.weight", shape_.embedding, shape_.feed_forward);
  matrix("ffn_down.weight", shape_.feed_forward, shape_.embedding);
}

Metadata::Metadata(gguf_context* file, std::string architecture)
    : file_(file), architecture_(std::move(architecture)) {}

std::string Metadata::full(std::string_view key) const {
  return architecture_ + "." + std::string(key);
}

void Metadata::number(std::string_view key, std::uint32_t value) {
  gguf_set_val_u32(file_, full(key).c_str(), value);
}

void Metadata::real(std::string_view key, float value) {
  gguf_set_val_f32(file_, full(key).c_str(), value);
}

void Metadata::array(std::string_view key, const std::vector<std::uint32_t>& values) {
  gguf_set_arr_data(file_, full(key).c_str(), GGUF_TYPE_UINT32, values.data(), values.size());
}

void Metadata::common(const Shape& shape, std::uint32_t layers) {
  gguf_set_val_str(file_, "general.architecture", architecture_.c_str());
  gguf_set_val_str(file_, "general.type", "model");
  number("context_length", kTrainedContext);
  number("block_count", layers);
  number("embedding_length", shape.embedding);
}

void Metadata::attention(const Shape& shape, std::uint32_t rope_dims, float rope_base) {
  number("attention.head_count", shape.heads);
  number("attention.head_count_kv", shape.heads_kv);
  number("attention.key_length", shape.head_size);
  number("attention.value_length", shape.head_size);
  real("attention.layer_norm_rms_epsilon", 1e-6F);
  number("rope.dimension_count", rope_dims);
  real("rope.freq_base", rope_base);
}

}  // namespace samovar::mkmodel
