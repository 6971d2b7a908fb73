// Removing models from the shared cache: first a plan, which can be shown, then the deed. Links of
// the chosen models go in every snapshot; a blob goes only if no link that stays leads to it, so
// that files of other models, other programs and other revisions keep their content. Values and
// functions; one thread. Errors as hub_errors.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "fs/cache_fs.h"
#include "hub/cache_layout.h"
#include "hub/hub_cache.h"

namespace samovar::hub {

struct Removal {
  std::vector<std::string> links;    // full paths of what stands in snapshots
  std::vector<std::string> blobs;    // names
  std::vector<std::string> partial;  // names of blobs that are not complete
  std::vector<std::string> models;   // their first files in the repository, for people
  std::uint64_t bytes = 0;           // that will be free
  std::uint64_t kept = 0;            // bytes of blobs that something else links

  [[nodiscard]] bool empty() const { return links.empty() && partial.empty(); }
};

// `quant`: a quantisation or a file's name; empty: every GGUF of the repository. Pure.
[[nodiscard]] Removal plan_removal(const CachedRepo& cached, const CacheLayout& layout,
                                   const std::string& quant);

// `owner`: who is at it, for a process that waits for a blob. Fails before anything is removed if
// one of the blobs is being downloaded.
[[nodiscard]] Status remove_models(CacheFs& fs, const CacheLayout& layout, const Removal& removal,
                                   const std::string& owner);

}  // namespace samovar::hub
