#include "fs/posix_fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "fs/posix_calls.h"
#include "fs/posix_lock.h"

namespace samovar {
namespace {

constexpr std::size_t kReadMax = std::size_t{1} << 30;  // macOS: at most INT_MAX in one call

// Down to the medium: on macOS only F_FULLFSYNC empties the drive's own cache, where the file
// system knows it.
int sync_fd(int fd, [[maybe_unused]] bool folder) {
#ifdef __APPLE__
  const int answer = uninterrupted([&] { return ::fcntl(fd, F_FULLFSYNC); });
  if (answer == 0 || (errno != ENOTSUP && errno != EINVAL && errno != ENOTTY)) return answer;
  return uninterrupted([&] { return ::fsync(fd); });
#else
  return uninterrupted([&] { return folder ? ::fsync(fd) : ::fdatasync(fd); });
#endif
}

class PosixReader final : public FileReader {
 public:
  PosixReader(Fd fd, std::string path, std::uint64_t size)
      : fd_(std::move(fd)), path_(std::move(path)), size_(size) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }

  FsResult<std::size_t> read_at(std::uint64_t offset, MutableBytes into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const std::size_t most = std::min(into.size() - done, kReadMax);
      const ssize_t count = uninterrupted([&] {
        return ::pread(fd_.get(), into.data() + done, most, static_cast<off_t>(offset + done));
      });
      if (count < 0) return fail_with_errno("read", path_);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

 private:
  const Fd fd_;
  const std::string path_;
  const std::uint64_t size_;
};

class PosixWriter final : public FileWriter {
 public:
  PosixWriter(Fd fd, std::string path, std::uint64_t at = 0)
      : fd_(std::move(fd)), path_(std::move(path)), written_(at) {}

  FsStatus write(Bytes bytes) override {
    if (!write_all(fd_.get(), bytes, written_)) return fail_with_errno("write", path_);
    written_ += bytes.size();
    return {};
  }

  FsStatus sync() override {
    if (sync_fd(fd_.get(), false) != 0) return fail_with_errno("sync", path_);
    return {};
  }

 private:
  const Fd fd_;
  const std::string path_;
  std::uint64_t written_;  // where the next byte goes
};

std::int64_t modified_of(const struct stat& info) {
#ifdef __APPLE__
  return info.st_mtimespec.tv_sec;
#else
  return info.st_mtim.tv_sec;
#endif
}

DirEntry entry_of(std::string name, const struct stat& info) {
  return {.name = std::move(name),
          .directory = S_ISDIR(info.st_mode),
          .bytes = static_cast<std::uint64_t>(info.st_size),
          .modified = modified_of(info)};
}

bool is_directory(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

std::string_view without_end_slashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

// One folder, whose parent exists.
FsStatus make_one(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    const int error = errno;
    if (error == EEXIST && is_directory(path)) return {};  // somebody was faster
    return fail_with_errno("make folder", path, error);
  }
  struct stat info = {};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & 0700) == 0700) return {};
  if (::chmod(path.c_str(), 0700) != 0) return fail_with_errno("make folder", path);
  return {};
}

FsStatus make_one_shared(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return {};
  const int error = errno;
  if (error == EEXIST && is_directory(path)) return {};
  return fail_with_errno("make folder", path, error);
}

FsStatus make_with_parents(const std::string& path, FsStatus (*make)(const std::string&)) {
  if (is_directory(path)) return {};
  const std::string_view trimmed = without_end_slashes(path);
  const std::size_t slash = trimmed.rfind('/');
  if (slash != std::string_view::npos && slash > 0) {
    const FsStatus parent = make_with_parents(std::string(trimmed.substr(0, slash)), make);
    if (!parent) return parent;
  }
  return make(std::string(trimmed));
}

}  // namespace

FsResult<std::unique_ptr<FileReader>> PosixFs::open(const std::string& path) {
  Fd fd = open_fd(path, O_RDONLY);
  struct stat info = {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return fail_with_errno("open", path);
  if (S_ISDIR(info.st_mode)) return fail_with_errno("open", path, EISDIR);
  return std::make_unique<PosixReader>(std::move(fd), path,
                                       static_cast<std::uint64_t>(info.st_size));
}

FsResult<std::unique_ptr<FileWriter>> PosixFs::create(const std::string& path) {
  Fd fd = open_fd(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!fd) return fail_with_errno("create", path);
  if (!ensure_mode(fd.get(), 0600)) {
    const int error = errno;
    ::unlink(path.c_str());
    return fail_with_errno("create", path, error);
  }
  return std::make_unique<PosixWriter>(std::move(fd), path);
}

FsStatus PosixFs::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return fail_with_errno("rename", from + " to " + to);
  return {};
}

FsStatus PosixFs::remove(const std::string& path) {
  if (::remove(path.c_str()) != 0) return fail_with_errno("remove", path);
  return {};
}

FsStatus PosixFs::touch(const std::string& path) {
  if (::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) != 0) return fail_with_errno("touch", path);
  return {};
}

FsStatus PosixFs::make_directory(const std::string& path) {
  return make_with_parents(path, make_one);
}

FsStatus PosixFs::make_shared_directory(const std::string& path) {
  return make_with_parents(path, make_one_shared);
}

FsResult<std::unique_ptr<FileWriter>> PosixFs::append(const std::string& path) {
  Fd fd = open_fd(path, O_WRONLY | O_CREAT, 0666);
  struct stat info = {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return fail_with_errno("open", path);
  return std::make_unique<PosixWriter>(std::move(fd), path,
                                       static_cast<std::uint64_t>(info.st_size));
}

FsStatus PosixFs::link(const std::string& target, const std::string& path) {
  if (::symlink(target.c_str(), path.c_str()) != 0) return fail_with_errno("link", path);
  return {};
}

FsResult<std::string> PosixFs::read_link(const std::string& path) {
  std::array<char, 4096> target = {};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length < 0) return fail_with_errno("read the link", path);
  return std::string(target.data(), static_cast<std::size_t>(length));
}

// A file system that does not know how to sync a folder says EINVAL: there is nothing to wait for.
FsStatus PosixFs::sync_directory(const std::string& path) {
  const Fd fd = open_fd(path, O_RDONLY | O_DIRECTORY);
  if (!fd) return fail_with_errno("sync folder", path);
  if (sync_fd(fd.get(), true) != 0 && errno != EINVAL) return fail_with_errno("sync folder", path);
  return {};
}

FsResult<std::vector<DirEntry>> PosixFs::list(const std::string& path, bool details) {
  Fd fd = open_fd(path, O_RDONLY | O_DIRECTORY);
  if (!fd) return fail_with_errno("list", path);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.get()), ::closedir);
  if (!folder) return fail_with_errno("list", path);
  fd.release();  // it is the folder's now

  std::vector<DirEntry> entries;
  while (true) {
    errno = 0;
    const dirent* found = ::readdir(folder.get());
    if (found == nullptr && errno != 0) return fail_with_errno("list", path);
    if (found == nullptr) return entries;
    const std::string_view name = found->d_name;
    if (name == "." || name == "..") continue;
    if (!details && found->d_type != DT_UNKNOWN) {
      entries.push_back({.name = std::string(name), .directory = found->d_type == DT_DIR});
      continue;
    }
    struct stat info = {};
    if (::fstatat(::dirfd(folder.get()), found->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;  // removed meanwhile
      return fail_with_errno("list", path);
    }
    entries.push_back(entry_of(std::string(name), info));
    if (!details) entries.back().bytes = 0;
    if (!details) entries.back().modified = 0;
  }
}

FsResult<DirEntry> PosixFs::stat(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return fail_with_errno("look at", path);
  const std::string_view trimmed = without_end_slashes(path);
  return entry_of(std::string(trimmed.substr(trimmed.rfind('/') + 1)), info);
}

FsResult<FsSpace> PosixFs::space(const std::string& path) {
  struct statvfs info = {};
  if (uninterrupted([&] { return ::statvfs(path.c_str(), &info); }) != 0) {
    return fail_with_errno("ask for the space of", path);
  }
  const std::uint64_t block = info.f_frsize;
  return FsSpace{.free = block * info.f_bavail, .total = block * info.f_blocks};
}

FsResult<std::unique_ptr<FileLock>> PosixFs::lock(const std::string& path,
                                                  const std::string& owner) {
  return lock_file(path, owner);
}

}  // namespace samovar
