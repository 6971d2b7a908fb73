#include "http/sockets.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <climits>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace samovar {
namespace {

constexpr int kAnswerMs = 1000;  // loopback answers at once

}  // namespace

void set_nonblocking(int descriptor) {
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

int accept_connection(int listening) {
#if defined(SOCK_CLOEXEC) && defined(SOCK_NONBLOCK)
  const int socket = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return -1;
#else
  const int socket = ::accept(listening, nullptr, nullptr);
  if (socket < 0) return -1;
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  set_nonblocking(socket);
#endif
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

bool is_served(int port) {
  const int probe = ::socket(AF_INET, SOCK_STREAM, 0);
  if (probe < 0) return false;
  set_nonblocking(probe);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int error = 0;
  if (::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    error = errno;
  }
  if (error == EINPROGRESS) {
    pollfd waiting = {.fd = probe, .events = POLLOUT, .revents = 0};
    socklen_t length = sizeof error;
    if (::poll(&waiting, 1, kAnswerMs) > 0) {
      ::getsockopt(probe, SOL_SOCKET, SO_ERROR, &error, &length);
    }
  }
  ::close(probe);
  return error != ECONNREFUSED;
}

std::string peer_address(int socket) {
  sockaddr_storage address = {};
  socklen_t length = sizeof address;
  char name[NI_MAXHOST] = {};
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (getpeername(socket, generic, &length) != 0) return {};
  getnameinfo(generic, length, name, sizeof name, nullptr, 0, NI_NUMERICHOST);
  return name;
}

void raise_descriptor_limit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
#ifdef OPEN_MAX  // macOS refuses more than this, whatever its hard limit says
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, OPEN_MAX);
#endif
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t descriptor_limit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 256;
  return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
}

WakePipe::WakePipe() {
  if (::pipe(ends_) != 0) return;
  for (const int end : ends_) {
    set_nonblocking(end);
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
  }
}

WakePipe::~WakePipe() {
  for (const int end : ends_) {
    if (end >= 0) ::close(end);
  }
}

// A full pipe is awake already.
void WakePipe::wake() const {
  const char byte = 0;
  [[maybe_unused]] const ssize_t count = ::write(ends_[1], &byte, 1);
}

void WakePipe::clear() const {
  char bytes[256];
  while (::read(ends_[0], bytes, sizeof bytes) > 0) {
  }
}

}  // namespace samovar
