// StoreFolder: the files of a server's store, seen from outside: how large they are, and dropping
// them from the page cache. Reads metadata only and changes nothing in them. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace samovar::bench {

class StoreFolder {
 public:
  explicit StoreFolder(std::string path) : path_(std::move(path)) {}

  // Bytes of every file, by path. A folder that does not exist has none.
  [[nodiscard]] Result<std::map<std::string, std::uint64_t>> files() const;

  // On a file system in memory, where dropping files from the page cache does nothing. Of a folder
  // that does not exist yet: the one it will be made in.
  [[nodiscard]] bool in_memory() const;

  // Bytes of the files that were dropped from the page cache.
  [[nodiscard]] Result<std::uint64_t> forget() const;

 private:
  std::string path_;
};

}  // namespace samovar::bench
