// Which files of a repository make the model that was asked for. The same rules serve the hub's
// list and the cache's: a named file; else the quantisation that was said; else Q4_K_M, Q8_0, and
// then the first model in the order of the names. Projectors and other companions are never chosen.
// Pure functions; any thread. Errors list what there is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "hub/repo_ref.h"

namespace samovar::hub {

struct RepoFile {
  std::string path;         // in the repository
  std::string blob;         // name of its content: SHA-256 (LFS) or git's SHA-1, hexadecimal
  std::uint64_t bytes = 0;  //
  bool sha256 = false;      // whether `blob` is the content's SHA-256

  bool operator==(const RepoFile&) const = default;
};

// All parts, the first one first. `file`: a path in the repository, or only its last segment, of
// any of its parts; empty: not said. `where` begins what the error says: "unsloth/x has".
[[nodiscard]] Result<std::vector<RepoFile>> choose_files(const std::vector<RepoFile>& files,
                                                         const RepoRef& ref,
                                                         const std::string& file,
                                                         const std::string& where);

// "Q4_K_M, Q8_0 or UD-Q4_K_XL": each model once, by its quantisation or its name.
[[nodiscard]] std::string available(const std::vector<RepoFile>& files);

}  // namespace samovar::hub
