#include "tools/mkmodel/architecture.h"

#include <cmath>

#include "tools/mkmodel/plan.h"

namespace samovar::mkmodel {
namespace {

constexpr float kRopeBase = 10'000'000.0F;

bool attends(const Shape& shape, std::uint32_t layer) {
  return (layer + 1) % shape.full_attention_interval == 0;
}

// --- qwen35, qwen35moe: Gated DeltaNet, full attention every fourth layer ---

void qwen35_metadata(Metadata& metadata, const Shape& shape) {
  const std::uint32_t rope = shape.rope_dims;
  metadata.common(shape, shape.layers);
  metadata.attention(shape, rope, kRopeBase);
  // Text-only positions are equal in every section; the split is the real model's 11:11:10.
  const std::uint32_t third = rope / 2 / 3 + 1;
  metadata.array("rope.dimension_sections", {third, third, rope / 2 - 2 * third, 0});
  metadata.number("full_attention_interval", shape.full_attention_interval);
  metadata.number("ssm.conv_kernel", kConvolution);
  metadata.number("ssm.inner_size", shape.gdn_state * shape.gdn_value_heads);
  metadata.number("ssm.state_size", shape.gdn_state);
  metadata.number("ssm.time_step_rank", shape.gdn_value_heads);
  metadata.number("ssm.group_count", shape.gdn_key_heads);
}

void qwen35_dense_metadata(gguf_context* file, const Shape& shape) {
  Metadata metadata(file, "qwen35");
  qwen35_metadata(metadata, shape);
  metadata.number("feed_forward_length", shape.feed_forward);
}

void qwen35_moe_metadata(gguf_context* file, const Shape& shape) {
  Metadata metadata(file, "qwen35moe");
  qwen35_metadata(metadata, shape);
  metadata.number("expert_count", shape.experts);
  metadata.number("expert_used_count", shape.experts_used);
  metadata.number("expert_feed_forward_length", shape.expert_feed_forward);
  metadata.number("expert_shared_feed_forward_length", shape.expert_feed_forward);
}

void delta_net(Plan& plan, const Shape& shape) {
  const std::int64_t embedding = shape.embedding;
  const std::int64_t heads = shape.gdn_value_heads;
  const std::int64_t values = std::int64_t{shape.gdn_state} * heads;
  const std::int64_t mixed = 2 * std::int64_t{shape.gdn_state} * shape.gdn_key_heads + values;
  plan.matrix("attn_qkv.weight", embedding, mixed);
  plan.matrix("attn_gate.weight", embedding, values);
  plan.f32("ssm_conv1d.weight", {kConvolution, mixed}, 0, 0.5F);
  plan.f32("ssm_dt.bias", {heads}, 0, 0.5F);
  plan.decay("ssm_a", {heads});
  plan.matrix("ssm_alpha.weight", embedding, heads);
  plan.matrix("ssm_beta.weight", embedding, heads);
  plan.norm("ssm_norm.weight", shape.gdn_state);
  plan.matrix("ssm_out.weight", values, embedding);
}

void experts(Plan& plan, const Shape& shape) {
  const std::int64_t embedding = shape.embedding;
  const std::int64_t width = shape.expert_feed_forward;
  plan.f32("ffn_gate_inp.weight", {embedding, shape.experts}, 0, fan_in(embedding));
  plan.experts("ffn_gate_exps.weight", embedding, width, shape.experts);
  plan.experts("ffn_up_exps.weight", embedding, width, shape.experts);
  plan.experts("ffn_down_exps.weight", width, embedding, shape.experts);
  plan.f32("ffn_gate_inp_shexp.weight", {embedding}, 0, fan_in(embedding));
  plan.matrix("ffn_gate_shexp.weight", embedding, width);
  plan.matrix("ffn_up_shexp.weight", embedding, width);
  plan.matrix("ffn_down_shexp.weight", width, embedding);
}

std::vector<TensorPlan> qwen35_tensors(const Shape& shape, std::uint32_t vocabulary, bool moe) {
  Plan plan(shape, vocabulary);
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    plan.layer(i);
    plan.norm("attn_norm.weight", shape.embedding);
    plan.norm("post_attention_norm.weight", shape.embedding);
    if (attends(shape, i)) {
      plan.attention(AttentionParts::norms_and_gate);
    } else {
      delta_net(plan, shape);
    }
    if (moe) {
      experts(plan, shape);
    } else {
      plan.feed_forward();
    }
  }
  return plan.take();
}

// --- qwen3: a plain transformer ---

void qwen3_metadata(gguf_context* file, const Shape& shape) {
  Metadata metadata(file, "qwen3");
  metadata.common(shape, shape.plain_layers);
  metadata.attention(shape, shape.head_size, kRopeBase);
  metadata.number("feed_forward_length", shape.feed_forward);
}

std::vector<TensorPlan> qwen3_tensors(const Shape& shape, std::uint32_t vocabulary) {
  Plan plan(shape, vocabulary);
  for (std::uint32_t i = 0; i < shape.plain_layers; ++i) {
    plan.layer(i);
    plan.norm("attn_norm.weight", shape.embedding);
    plan.attention(AttentionParts::norms);
    plan.norm("ffn_norm.weight", shape.embedding);
    plan.feed_forward();
  }
  return plan.take();
}

// --- gemma3: three layers of four see only the last kSlidingWindow tokens ---

void gemma3_metadata(gguf_context* file, const Shape& shape) {
  Metadata metadata(file, "gemma3");
  metadata.common(shape, shape.plain_layers);
  metadata.attention(shape, shape.head_size, kRopeBase);
  metadata.number("feed_forward_length", shape.feed_forward);
  metadata.number("attention.sliding_window", kSlidingWindow);
  metadata.number("attention.sliding_window_pattern", shape.full_attention_interval);
}

std::vector<TensorPlan> gemma3_tensors(const Shape& shape, std::uint32_t vocabulary) {
  Plan plan(shape, vocabulary);
  // The graph multiplies embeddings by sqrt(embedding).
  plan.scale_embedding(1.0F / std::sqrt(static_cast<float>(shape.embedding)));
  for (std::uint32_t i = 0; i < shape.plain_layers; ++i) {
    plan.layer(i);
    plan.norm("attn_norm.weight", shape.embedding);
    plan.attention(AttentionParts::norms);
    plan.norm("post_attention_norm.weight", shape.embedding);
    plan.norm("ffn_norm.weight", shape.embedding);
    plan.feed_forward();
    plan.norm("post_ffw_norm.weight", shape.embedding);
  }
  return plan.take();
}

// --- granitehybrid: Mamba-2, full attention every fourth layer ---

void granite_metadata(gguf_context* file, const Shape& shape) {
  Metadata metadata(file, "granitehybrid");
  const std::uint32_t inner = 2 * shape.embedding;
  std::vector<std::uint32_t> heads_kv(shape.layers, 0);  // 0 marks a recurrent layer
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    if (attends(shape, i)) heads_kv[i] = shape.heads_kv;
  }
  metadata.common(shape, shape.layers);
  metadata.attention(shape, shape.head_size, kRopeBase);
  metadata.array("attention.head_count_kv", heads_kv);
  metadata.number("feed_forward_length", shape.feed_forward);
  metadata.number("ssm.conv_kernel", kConvolution);
  metadata.number("ssm.inner_size", inner);
  metadata.number("ssm.state_size", kMambaState);
  metadata.number("ssm.time_step_rank", inner / kMambaHead);
  metadata.number("ssm.group_count", 1);
}

void mamba2(Plan& plan, const Shape& shape) {
  const std::int64_t embedding = shape.embedding;
  const std::int64_t inner = 2 * embedding;
  const std::int64_t heads = inner / kMambaHead;
  const std::int64_t mixed = inner + 2 * std::int64_t{kMambaState};
  plan.matrix("ssm_in.weight", embedding, inner + mixed + heads);
  plan.f32("ssm_conv1d.weight", {kConvolution, mixed}, 0, 0.5F);
  plan.f32("ssm_conv1d.bias", {mixed}, 0, 0.1F);
  plan.f32("ssm_dt.bias", {heads}, 0, 0.5F);
  plan.decay("ssm_a", {1, heads});
  plan.f32("ssm_d", {1, heads}, 1.0F, 0.1F);
  plan.norm("ssm_norm.weight", inner);
  plan.matrix("ssm_out.weight", inner, embedding);
}

std::vector<TensorPlan> granite_tensors(const Shape& shape, std::uint32_t vocabulary) {
  Plan plan(shape, vocabulary);
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    plan.layer(i);
    plan.norm("attn_norm.weight", shape.embedding);
    if (attends(shape, i)) {
      plan.attention(AttentionParts::plain);
    } else {
      mamba2(plan, shape);
    }
    plan.norm("ffn_norm.weight", shape.embedding);
    plan.feed_forward();
  }
  return plan.take();
}

}  // namespace

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> all = {
      {"qwen35moe", "Gated DeltaNet + attention, mixture of experts (Qwen3.5-35B-A3B and kin)",
       qwen35_moe_metadata,
       [](const Shape& shape, std::uint32_t vocabulary) {
         return qwen35_tensors(shape, vocabulary, true);
       }},
      {"qwen35", "Gated DeltaNet + attention, dense (Qwen3.5-0.8B .. 27B)", qwen35_dense_metadata,
       [](const Shape& shape, std::uint32_t vocabulary) {
         return qwen35_tensors(shape, vocabulary, false);
       }},
      {"qwen3", "a plain transformer", qwen3_metadata, qwen3_tensors},
      {"gemma3", "a transformer with a sliding window of 128 tokens", gemma3_metadata,
       gemma3_tensors},
      {"granitehybrid", "Mamba-2 + attention, dense", granite_metadata, granite_tensors},
  };
  return all;
}

const Architecture* find_architecture(std::string_view name) {
  for (const Architecture& architecture : architectures()) {
    if (architecture.name == name) return &architecture;
  }
  return nullptr;
}

}  // namespace samovar::mkmodel
