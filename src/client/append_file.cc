#include "client/append_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace samovar::client {
namespace {

std::string system_words(int code) { return std::generic_category().message(code); }

std::unexpected<Error> failed(const std::string& what, const std::string& path, int code) {
  return fail(code == ENOENT ? ErrorKind::not_found : ErrorKind::internal,
              "cannot " + what + " " + path + ": " + system_words(code));
}

// Number of bytes written; all of them unless errno says why not.
std::size_t write_all(int descriptor, std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace

Result<std::unique_ptr<AppendFile>> AppendFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return failed("open", path, errno);
  std::unique_ptr<AppendFile> file(new AppendFile(path, descriptor));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return failed("lock", path, errno);
    return fail(ErrorKind::overloaded, "this conversation is open in another window", "",
                "leave it there first, or /new begins another one");
  }
  file->torn_ = file->ends_torn();
  return file;
}

AppendFile::~AppendFile() { ::close(descriptor_); }

bool AppendFile::ends_torn() const {
  struct stat info = {};
  if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return false;
  char last = '\n';
  return ::pread(descriptor_, &last, 1, info.st_size - 1) == 1 && last != '\n';
}

Status AppendFile::append(std::string_view line) {
  std::string bytes = torn_ ? "\n" : "";
  bytes += line;
  bytes += '\n';
  const std::size_t done = write_all(descriptor_, bytes);
  if (done < bytes.size()) {
    const int code = errno;
    torn_ = torn_ || done > 0;
    return failed("write", path_, code);
  }
  torn_ = false;
  // A device without syncing (a pipe, /dev/null) has nothing to lose.
  if (::fdatasync(descriptor_) == 0 || errno == EINVAL) return {};
  return fail(ErrorKind::unavailable, "cannot sync " + path_ + ": " + system_words(errno));
}

Result<std::string> read_whole(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failed("open", path, errno);
  std::string text;
  std::array<char, 65536> buffer = {};
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int code = errno;
      ::close(descriptor);
      return failed("read", path, code);
    }
    if (count == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(descriptor);
  return text;
}

Status write_new(const std::string& path, std::string_view text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return failed("make", path, errno);
  const bool written = write_all(descriptor, text) == text.size() && ::fsync(descriptor) == 0;
  const int code = errno;
  ::close(descriptor);
  if (!written) return failed("write", path, code);
  return {};
}

}  // namespace samovar::client
