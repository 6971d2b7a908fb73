// Shape: the numbers of a generated model, one set per --size. An architecture uses those it has.
#pragma once

#include <ggml.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace samovar::mkmodel {

struct Shape {
  std::string_view name;
  std::string_view about;        // for --list
  std::uint32_t vocabulary = 0;  // tokens kept of the full list; 0 = all
  ggml_type weights = GGML_TYPE_F16;
  bool tied = false;                          // the embedding is the output matrix too
  std::uint32_t layers = 0;                   // of the hybrids
  std::uint32_t plain_layers = 0;             // of the others: attention in every layer costs more
  std::uint32_t full_attention_interval = 4;  // hybrids: layer i attends when (i + 1) % this == 0
  std::uint32_t embedding = 0;
  std::uint32_t feed_forward = 0;
  std::uint32_t heads = 0;
  std::uint32_t heads_kv = 0;
  std::uint32_t head_size = 0;
  std::uint32_t rope_dims = 0;  // qwen35*: how much of a head rotates; the others rotate it all
  std::uint32_t gdn_key_heads = 0;
  std::uint32_t gdn_value_heads = 0;
  std::uint32_t gdn_state = 0;  // 16, 32, 64 or 128: what the CUDA kernel takes
  std::uint32_t experts = 0;
  std::uint32_t experts_used = 0;
  std::uint32_t expert_feed_forward = 0;
};

inline constexpr std::uint32_t kTrainedContext = 262'144;
inline constexpr std::uint32_t kSlidingWindow = 128;
inline constexpr std::uint32_t kConvolution = 4;
inline constexpr std::uint32_t kMambaState = 128;
inline constexpr std::uint32_t kMambaHead = 64;

[[nodiscard]] const std::vector<Shape>& shapes();
[[nodiscard]] const Shape* find_shape(std::string_view name);

}  // namespace samovar::mkmodel
