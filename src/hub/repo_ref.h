// RepoRef: which model of which repository, as users write it: "owner/name" or "owner/name:QUANT".
// A value; pure functions, any thread. Errors name the flag and show the right form.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace samovar::hub {

struct RepoRef {
  std::string repo;   // "owner/name", in the letters that the user wrote
  std::string quant;  // "Q4_K_M"; empty: not said
};

// `flag` is named in errors; empty: none.
[[nodiscard]] Result<RepoRef> parse_repo_ref(std::string_view text, const std::string& flag);

// A path that stays below the folder it is joined to: no empty segment, no ".", no "..", no control
// character, backslash or colon. What a hub says is checked with it before it names a file.
[[nodiscard]] bool is_safe_path(std::string_view path);

// So many hexadecimal digits in lower case, as commits and blobs are named.
[[nodiscard]] bool is_hex(std::string_view text, std::size_t digits);

}  // namespace samovar::hub
