// Architectures: what each model loader of libllama wants to find, as metadata and a list of
// tensors.
//
// The weights are random but not silly: a matrix has sd 1.6 / sqrt(fan-in) (0.2 at 64), so that
// every branch adds about as much as it gets and a corrupted state shows in the logits; queries are
// scaled so that attention prefers some tokens at any length; recurrent heads forget at rates from
// one token to a thousand; the logits have sd ~3, so that greedy text varies and sampled text
// varies more.
#pragma once

#include <ggml.h>
#include <gguf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mkmodel/shape.h"

namespace samovar::mkmodel {

enum class Fill {
  normal,       // mean + sd * normal
  decay_rates,  // -0.001 .. -1, spaced evenly in the logarithm: one per recurrent head
};

struct TensorPlan {
  std::string name;
  std::vector<std::int64_t> size;  // ggml's order: the row length first
  ggml_type type = GGML_TYPE_F32;
  Fill fill = Fill::normal;
  float mean = 0;
  float sd = 0;
};

struct Architecture {
  std::string_view name;
  std::string_view about;
  void (*metadata)(gguf_context*, const Shape&) = nullptr;
  std::vector<TensorPlan> (*tensors)(const Shape&, std::uint32_t vocabulary) = nullptr;
};

[[nodiscard]] const std::vector<Architecture>& architectures();
[[nodiscard]] const Architecture* find_architecture(std::string_view name);

}  // namespace samovar::mkmodel
