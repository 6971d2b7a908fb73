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

}  // namespace samovar::mkmodel
