// The lock of a store's folder (S8): flock on a file that says who holds it. The system releases it
// when the process dies, so no lock outlives its owner. Any thread; blocks on the disk, never on
// the other holder.
#pragma once

#include <memory>
#include <string>

#include "fs/fs.h"

namespace samovar {

// As Fs::lock.
[[nodiscard]] FsResult<std::unique_ptr<FileLock>> lock_file(const std::string& path,
                                                            const std::string& owner);

}  // namespace samovar
