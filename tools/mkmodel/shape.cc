#include "tools/mkmodel/shape.h"

namespace samovar::mkmodel {

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {.name = "tiny",
       .about = "8 layers of 64 (4 if every layer attends), F16, 32k vocabulary, ~10 MB: for tests",
       .vocabulary = 32'768,
       .layers = 8,
       .plain_layers = 4,
       .embedding = 64,
       .feed_forward = 128,
       .heads = 2,
       .heads_kv = 1,
       .head_size = 64,
       .rope_dims = 16,
       .gdn_key_heads = 2,
       .gdn_value_heads = 4,
       .gdn_state = 32,
       .experts = 8,
       .experts_used = 2,
       .expert_feed_forward = 64},
      {.name = "small",
       .about = "12 layers of 512, F16, 32k vocabulary, ~180 MB: for stress tests",
       .vocabulary = 32'768,
       .layers = 12,
       .plain_layers = 12,
       .embedding = 512,
       .feed_forward = 1'536,
       .heads = 8,
       .heads_kv = 2,
       .head_size = 64,
       .rope_dims = 16,
       .gdn_key_heads = 4,
       .gdn_value_heads = 8,
       .gdn_state = 64,
       .experts = 8,
       .experts_used = 2,
       .expert_feed_forward = 256},
      {.name = "mid",
       .about = "the shape of Qwen3.5-0.8B, Q8_0, the full 152k vocabulary, ~700 MB: for measuring",
       .weights = GGML_TYPE_Q8_0,
       .tied = true,
       .layers = 24,
       .plain_layers = 24,
       .embedding = 1'024,
       .feed_forward = 3'584,
       .heads = 8,
       .heads_kv = 2,
       .head_size = 256,
       .rope_dims = 64,
       .gdn_key_heads = 16,
       .gdn_value_heads = 16,
       .gdn_state = 128,
       .experts = 16,
       .experts_used = 4,
       .expert_feed_forward = 512},
  };
  return all;
}

const Shape* find_shape(std::string_view name) {
  for (const Shape& shape : shapes()) {
    if (shape.name == name) return &shape;
  }
  return nullptr;
}

}  // namespace samovar::mkmodel
