// PosixFs: Fs and CacheFs on the machine's file system. Stateless; any thread. Errors: FsError with
// the path and the system's words. Interrupted and short calls are repeated, descriptors are not
// inherited by programs, and new files and folders are their owner's alone (0600, 0700) whatever
// the umask, except those of CacheFs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fs/cache_fs.h"

namespace samovar {

class PosixFs final : public CacheFs {
 public:
  FsResult<std::unique_ptr<FileReader>> open(const std::string& path) override;
  FsResult<std::unique_ptr<FileWriter>> create(const std::string& path) override;
  FsStatus rename(const std::string& from, const std::string& to) override;
  FsStatus remove(const std::string& path) override;
  FsStatus touch(const std::string& path) override;
  FsStatus make_directory(const std::string& path) override;
  FsStatus sync_directory(const std::string& path) override;
  FsResult<std::vector<DirEntry>> list(const std::string& path, bool details) override;
  FsResult<DirEntry> stat(const std::string& path) override;
  FsResult<FsSpace> space(const std::string& path) override;
  FsResult<std::unique_ptr<FileLock>> lock(const std::string& path,
                                           const std::string& owner) override;

  FsResult<std::unique_ptr<FileWriter>> append(const std::string& path) override;
  FsStatus make_shared_directory(const std::string& path) override;
  FsStatus link(const std::string& target, const std::string& path) override;
  FsResult<std::string> read_link(const std::string& path) override;
};

}  // namespace samovar
