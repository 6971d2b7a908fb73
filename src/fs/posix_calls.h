// What every use of the system's file calls needs: a descriptor that closes itself, calls repeated
// when a signal interrupts them, and errno as an FsError. For src/fs only; values, any thread.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <expected>
#include <string>
#include <string_view>

#include "fs/fs.h"

namespace samovar {

// An open file descriptor, or none (-1).
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept;
  Fd& operator=(Fd&&) = delete;
  ~Fd();

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();  // the caller closes it

 private:
  int fd_;
};

// Calls until it is not interrupted.
template <class Call>
auto uninterrupted(Call call) {
  auto answer = call();
  while (answer < 0 && errno == EINTR) answer = call();
  return answer;
}

// open(2) with O_CLOEXEC.
[[nodiscard]] Fd open_fd(const std::string& path, int flags, mode_t mode = 0);

// "cannot <verb> <path>: <what errno says>". Call it before anything can change errno.
[[nodiscard]] std::unexpected<FsError> fail_with_errno(std::string_view verb,
                                                       const std::string& path, int error = errno);

[[nodiscard]] FsFault fault_of(int error);

// All bytes, at `offset`. False: errno says why.
[[nodiscard]] bool write_all(int fd, Bytes bytes, std::uint64_t offset);

// Gives the owner of a new file the rights of `mode` that the umask took away. False: errno says
// why.
[[nodiscard]] bool ensure_mode(int fd, mode_t mode);

}  // namespace samovar
