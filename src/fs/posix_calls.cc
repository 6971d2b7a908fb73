#include "fs/posix_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace samovar {
namespace {

// macOS refuses more than INT_MAX bytes in one call.
constexpr std::size_t kCallMax = std::size_t{1} << 30;

}  // namespace

Fd::Fd(Fd&& other) noexcept : fd_(other.release()) {}

// Not repeated when interrupted: the descriptor is gone all the same.
Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

int Fd::release() { return std::exchange(fd_, -1); }

Fd open_fd(const std::string& path, int flags, mode_t mode) {
  return Fd(uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); }));
}

FsFault fault_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return FsFault::not_found;
    case EEXIST:
      return FsFault::exists;
    case ENOSPC:
    case EDQUOT:
      return FsFault::full;
    case EROFS:
      return FsFault::read_only;
    case EACCES:
    case EPERM:
      return FsFault::denied;
    case EIO:
    case ENXIO:   // the device is gone
    case ENODEV:  // the same
    case ESTALE:  // the server of a network file system lost it
      return FsFault::io;
    default:
      return FsFault::other;
  }
}

std::unexpected<FsError> fail_with_errno(std::string_view verb, const std::string& path,
                                         int error) {
  return std::unexpected(FsError{
      fault_of(error),
      "cannot " + std::string(verb) + " " + path + ": " + std::generic_category().message(error)});
}

bool write_all(int fd, Bytes bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const std::size_t most = std::min(bytes.size(), kCallMax);
    const ssize_t count =
        uninterrupted([&] { return ::pwrite(fd, bytes.data(), most, static_cast<off_t>(offset)); });
    if (count < 0) return false;
    if (count == 0) {
      errno = EIO;
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

// File systems without rights (exFAT) refuse to set them, so only what is missing is asked for.
bool ensure_mode(int fd, mode_t mode) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) return false;
  if ((info.st_mode & mode) == mode) return true;
  return ::fchmod(fd, mode) == 0;
}

}  // namespace samovar
