#include "http/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>

#include <algorithm>
#include <cstring>

namespace samovar {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kBufferBytes = 16'384;
constexpr milliseconds kStopCheck{50};
constexpr milliseconds kLinger{100};  // how long a close waits for the peer's own
constexpr std::size_t kLingerBytes = 1 << 20;

#ifdef MSG_NOSIGNAL
constexpr int kNoSignal = MSG_NOSIGNAL;
#else
constexpr int kNoSignal = 0;
#endif

// revents, 0 after `timeout` without any.
short poll_for(int socket, short events, milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  for (;;) {
    pollfd entry = {socket, events, 0};
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    const int count =
        ::poll(&entry, 1, static_cast<int>(std::max<milliseconds::rep>(left.count(), 0)));
    if (count > 0) return entry.revents;
    if (count == 0 || errno != EINTR) return 0;
  }
}

// A peer that vanished without a word (suspended, unplugged) is noticed by the kernel.
void watch_for_silence(int socket, milliseconds timeout) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
#ifdef TCP_USER_TIMEOUT
  const auto limit = static_cast<unsigned>(timeout.count());
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
#else
  (void)timeout;
#endif
#ifdef SO_NOSIGPIPE
  setsockopt(socket, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
}

}  // namespace

Connection::Connection(int socket, ConnectionTimeouts timeouts)
    : socket_(socket), timeouts_(timeouts), buffer_(kBufferBytes) {
  watch_for_silence(socket, timeouts.write);
}

// Closing with unread bytes would send a reset, which can destroy the response on its way to the
// client. So the sending side is shut down first and what still comes is read for a moment.
Connection::~Connection() {
  ::shutdown(socket_, SHUT_WR);
  const auto deadline = steady_clock::now() + kLinger;
  for (std::size_t total = 0; total < kLingerBytes;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0 || poll_for(socket_, POLLIN, left) == 0) break;
    const ssize_t count = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    if (count <= 0) break;
    total += static_cast<std::size_t>(count);
  }
  ::close(socket_);
}

bool Connection::fill() {
  begin_ = end_ = 0;
  const ssize_t count = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
  if (count <= 0) return false;
  end_ = static_cast<std::size_t>(count);
  return true;
}

// Some clients end a body with a line end that is not part of it.
void Connection::skip_line_ends() {
  while (begin_ < end_ && (buffer_[begin_] == '\r' || buffer_[begin_] == '\n')) ++begin_;
}

bool Connection::wait_request(const std::atomic<bool>& stopping) {
  const auto idle_until = steady_clock::now() + timeouts_.idle;
  skip_line_ends();
  while (buffered() == 0) {
    if (stopping || steady_clock::now() > idle_until) return false;
    const short events = poll_for(socket_, POLLIN, kStopCheck);
    if (events == 0) continue;
    if (!fill()) return false;
    skip_line_ends();
  }
  deadline_ = steady_clock::now() + timeouts_.request;
  return true;
}

ssize_t Connection::read(char* target, std::size_t size) {
  if (buffered() == 0) {
    if (!wait_readable()) return -1;
    if (size >= buffer_.size()) return ::recv(socket_, target, size, 0);
    if (!fill()) return 0;
  }
  const std::size_t count = std::min(size, buffered());
  std::memcpy(target, buffer_.data() + begin_, count);
  begin_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t Connection::write(const char* bytes, std::size_t size) {
  if (broken_ || !wait_writable()) {
    broken_ = true;
    return -1;
  }
  const ssize_t count = ::send(socket_, bytes, size, kNoSignal);
  if (count < 0) broken_ = true;
  return count;
}

bool Connection::wait_readable() {
  if (buffered() > 0) return true;
  const auto left = std::chrono::ceil<milliseconds>(deadline_ - steady_clock::now());
  return left.count() > 0 && poll_for(socket_, POLLIN, std::min(left, timeouts_.read)) != 0;
}

bool Connection::wait_writable() {
  return (poll_for(socket_, POLLOUT, timeouts_.write) & POLLOUT) != 0;
}

Peer Connection::peer() {
  if (broken_) return Peer::gone;
#ifdef POLLRDHUP
  // POLLRDHUP shows a FIN even behind bytes nobody has read (a stray line end, a pipelined
  // request), which a peek at the next byte would miss.
  const short events = poll_for(socket_, POLLRDHUP, milliseconds(0));
  if ((events & (POLLERR | POLLHUP | POLLNVAL)) != 0) broken_ = true;
  if (broken_) return Peer::gone;
  return (events & POLLRDHUP) != 0 ? Peer::finished_sending : Peer::open;
#else
  char byte = 0;
  const ssize_t count = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count == 0) return Peer::finished_sending;
  if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) broken_ = true;
  return broken_ ? Peer::gone : Peer::open;
#endif
}

}  // namespace samovar
