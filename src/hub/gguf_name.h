// What the name of a GGUF file says: whether it is one part of several, which quantisation it
// holds, and whether it is a model at all. Names are the only source before a file is downloaded.
// Pure functions; any thread. "Path" may hold folders; only the last segment counts, except where
// said.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace samovar::hub {

// "dir/name-00002-of-00003.gguf"
struct SplitName {
  std::string prefix;  // "dir/name"
  int part = 0;        // from 1
  int parts = 0;       // 1 or more

  [[nodiscard]] std::string path_of(int which) const;  // from 1
  bool operator==(const SplitName&) const = default;
};
[[nodiscard]] std::optional<SplitName> parse_split(std::string_view path);

// Ends in ".gguf" and is not known to hold something else: a projector (mmproj), an importance
// matrix (imatrix), a draft head (mtp-...).
[[nodiscard]] bool is_model_file(std::string_view path);

// "Q4_K_M" of "Qwen3.5-4B-Q4_K_M.gguf", "UD-Q4_K_XL" of "x-UD-Q4_K_XL-00001-of-00002.gguf", in
// upper case; empty: the name says none.
[[nodiscard]] std::string quant_of(std::string_view path);

// The name without folder, ".gguf" and part number.
[[nodiscard]] std::string stem_of(std::string_view path);

// Whether `quant` stands in the name between separators, in any letter case: "q4_k_m" is in
// "x-Q4_K_M.gguf" and not in "x-Q4_K_M_L.gguf".
[[nodiscard]] bool has_quant(std::string_view path, std::string_view quant);

}  // namespace samovar::hub
