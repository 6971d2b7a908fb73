// What lies in the shared cache: repositories, their snapshots, and downloads that stopped
// half-way. scan_cache() reads folders, links and small texts only. Values; any thread. What is not
// as the layout says (other programs write here, too) is passed over, never an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fs/cache_fs.h"
#include "hub/cache_layout.h"
#include "hub/file_choice.h"

namespace samovar::hub {

struct CachedFile {
  std::string path;           // in the repository
  std::string blob;           // empty: the content lies in the snapshot itself
  std::uint64_t bytes = 0;    //
  std::int64_t modified = 0;  // wall seconds
  bool present = false;       // false: a link to nothing
};

struct CachedSnapshot {
  std::string commit;
  bool main = false;  // refs/main names it
  std::vector<CachedFile> files;
};

struct PartialBlob {
  std::string blob;
  std::string path;         // empty: another program's, nobody knows
  std::uint64_t bytes = 0;  // that are there
  std::uint64_t total = 0;  // 0: nobody knows
  std::int64_t modified = 0;
};

struct CachedRepo {
  std::string repo;
  std::vector<CachedSnapshot> snapshots;  // refs/main's first, then the newest
  std::vector<PartialBlob> partials;
};

// Sorted by name. `root` need not exist.
[[nodiscard]] std::vector<CachedRepo> scan_cache(CacheFs& fs, const std::string& root);
[[nodiscard]] CachedRepo scan_repo(CacheFs& fs, const CacheLayout& layout);

// One model of a repository, whole or not.
struct CachedModel {
  std::string repo;
  std::string quant;               // or the file's name, where that says none
  std::string path;                // of the first file; of a partial one, of its incomplete blob
  std::vector<std::string> files;  // in the repository
  std::vector<std::string> missing;
  std::uint64_t bytes = 0;  // that are there
  std::uint64_t total = 0;  // 0: nobody knows
  std::int64_t modified = 0;
  bool complete = false;
  bool current = false;  // of the snapshot that refs/main names
};

// One entry a model: where two snapshots hold the same content, the first one's.
[[nodiscard]] std::vector<CachedModel> models_of(const CachedRepo& cached,
                                                 const CacheLayout& layout);

// The files of one snapshot that are there, as choose_files() wants them.
[[nodiscard]] std::vector<RepoFile> files_of(const CachedSnapshot& snapshot);

}  // namespace samovar::hub
