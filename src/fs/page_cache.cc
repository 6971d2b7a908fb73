#include "fs/page_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include "fs/posix_calls.h"

namespace samovar {

FsStatus drop_from_page_cache(const std::string& path) {
#ifdef POSIX_FADV_DONTNEED
  const Fd file = open_fd(path, O_RDONLY);
  if (!file) return fail_with_errno("open", path);
  // Pages that are not written yet cannot be dropped.
  if (uninterrupted([&] { return ::fsync(file.get()); }) != 0) return fail_with_errno("sync", path);
  const int error = ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  if (error != 0) return fail_with_errno("drop from the page cache", path, error);
  return {};
#else
  return std::unexpected(
      FsError{FsFault::other, "this system cannot drop " + path + " from its page cache"});
#endif
}

}  // namespace samovar
