// CacheFs: Fs with what a folder that other programs share needs besides: files that are continued
// where a process before stopped, symbolic links, and rights as the umask gives them. The cache of
// downloaded models (src/hub) lives on it; PosixFs is one. Threads and errors as Fs.
#pragma once

#include <memory>
#include <string>

#include "fs/fs.h"

namespace samovar {

class CacheFs : public Fs {
 public:
  // A file to be written on at its end, made if there is none (mode 0666 less the umask).
  virtual FsResult<std::unique_ptr<FileWriter>> append(const std::string& path) = 0;

  // With its parents, mode 0777 less the umask; fine if it exists.
  virtual FsStatus make_shared_directory(const std::string& path) = 0;

  // A symbolic link at `path` to `target`, which need not exist. `exists`: something is there.
  virtual FsStatus link(const std::string& target, const std::string& path) = 0;

  // Where a symbolic link points. `not_found`: nothing is there; `other`: it is no link.
  virtual FsResult<std::string> read_link(const std::string& path) = 0;
};

}  // namespace samovar
