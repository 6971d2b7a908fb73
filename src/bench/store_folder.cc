#include "bench/store_folder.h"

#include <linux/magic.h>
#include <sys/statfs.h>

#include <filesystem>
#include <system_error>

#include "fs/page_cache.h"

namespace samovar::bench {

namespace files = std::filesystem;

Result<std::map<std::string, std::uint64_t>> StoreFolder::files() const {
  std::map<std::string, std::uint64_t> found;
  if (path_.empty()) {
    return fail(ErrorKind::not_found, "the folder of the store is not known", "--store-dir",
                "name it");
  }
  std::error_code error;
  files::recursive_directory_iterator each(path_, files::directory_options::skip_permission_denied,
                                           error);
  if (error == std::errc::no_such_file_or_directory) return found;
  // Files come and go while a server works: what vanished meanwhile is not there.
  for (; !error && each != files::recursive_directory_iterator(); each.increment(error)) {
    std::error_code gone;
    if (!each->is_regular_file(gone) || gone) continue;
    const std::uintmax_t bytes = each->file_size(gone);
    if (!gone) found[each->path().string()] = bytes;
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return fail(ErrorKind::invalid_argument, "cannot read " + path_ + ": " + error.message(),
                "--store-dir", "name the folder of the server's store");
  }
  return found;
}

bool StoreFolder::in_memory() const {
  std::error_code error;
  files::path path = files::absolute(path_, error);
  struct statfs about{};
  while (::statfs(path.c_str(), &about) != 0) {
    if (!path.has_relative_path()) return false;
    path = path.parent_path();
  }
  return about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC;
}

Result<std::uint64_t> StoreFolder::forget() const {
  const auto found = files();
  if (!found) return std::unexpected(found.error());
  std::uint64_t bytes = 0;
  for (const auto& [path, size] : *found) {
    if (auto dropped = drop_from_page_cache(path); !dropped) {
      if (dropped.error().fault == FsFault::not_found) continue;
      return fail(ErrorKind::internal, dropped.error().message, "--store-dir",
                  "is it the folder of the server's store, and on this machine?");
    }
    bytes += size;
  }
  return bytes;
}

}  // namespace samovar::bench
