// Writes a planned model: the header first, then each tensor as it is generated, so that memory
// holds one tensor at a time. The file appears under its name only when it is complete.
#pragma once

#include <gguf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/mkmodel/architecture.h"

namespace samovar::mkmodel {

// `file` holds the metadata and gains the tensor list. Returns the bytes written.
[[nodiscard]] Result<std::uint64_t> write_model(gguf_context* file,
                                                const std::vector<TensorPlan>& tensors,
                                                std::uint64_t seed, const std::string& path);

// The same in `parts` files, as llama.cpp splits models: "x.gguf" becomes "x-00001-of-00003.gguf"
// and so on; the metadata is in the first, the tensors are spread in their order.
[[nodiscard]] Result<std::uint64_t> write_split_model(gguf_context* file,
                                                      const std::vector<TensorPlan>& tensors,
                                                      std::uint64_t seed, const std::string& path,
                                                      int parts);

}  // namespace samovar::mkmodel
