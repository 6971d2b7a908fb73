#include "fs/posix_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "fs/posix_calls.h"

namespace samovar {
namespace {

// How often the lock file may vanish while it is being locked.
constexpr int kTries = 16;

class PosixLock final : public FileLock {
 public:
  explicit PosixLock(Fd fd) : fd_(std::move(fd)) {}

  // The name of a former owner would only mislead. The file stays: removing it would let two
  // processes lock two files of one name.
  ~PosixLock() override { [[maybe_unused]] const int ignored = ::ftruncate(fd_.get(), 0); }

 private:
  Fd fd_;
};

std::string owner_in(int fd) {
  std::array<char, 256> text = {};
  const ssize_t count = uninterrupted([&] { return ::pread(fd, text.data(), text.size(), 0); });
  if (count <= 0) return "another process";
  std::string_view line(text.data(), static_cast<std::size_t>(count));
  line = line.substr(0, line.find('\n'));
  return line.empty() ? "another process" : std::string(line);
}

// Without a line (a full disk) the lock holds as well.
void write_owner(int fd, const std::string& owner) {
  const std::string line = owner + "\n";
  if (::ftruncate(fd, 0) != 0) return;
  [[maybe_unused]] const bool ignored =
      write_all(fd, {reinterpret_cast<const std::uint8_t*>(line.data()), line.size()}, 0);
}

// Is `fd` the file that others find under this path?
bool is_file_at(int fd, const std::string& path) {
  struct stat held = {};
  struct stat found = {};
  return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &found) == 0 &&
         held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

}  // namespace

FsResult<std::unique_ptr<FileLock>> lock_file(const std::string& path, const std::string& owner) {
  for (int i = 0; i < kTries; ++i) {
    Fd fd = open_fd(path, O_RDWR | O_CREAT, 0600);
    if (!fd || !ensure_mode(fd.get(), 0600)) return fail_with_errno("lock", path);
    if (uninterrupted([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) != 0) {
      if (errno != EWOULDBLOCK) return fail_with_errno("lock", path);
      return std::unexpected(FsError{
          FsFault::exists, "cannot lock " + path + ": " + owner_in(fd.get()) + " holds it"});
    }
    // Between open and flock somebody may have removed the file: the lock would be on nothing.
    if (!is_file_at(fd.get(), path)) continue;
    write_owner(fd.get(), owner);
    return std::make_unique<PosixLock>(std::move(fd));
  }
  return std::unexpected(
      FsError{FsFault::other, "cannot lock " + path + ": somebody keeps removing it"});
}

}  // namespace samovar
