#include "http/connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>

#include <algorithm>
#include <cstring>

#include "http/sockets.h"

namespace samovar {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kPieceBytes = 65'536;  // of one receive()
constexpr std::size_t kFirstBytes = 2'048;   // of a buffer: most connections that stall send less
constexpr milliseconds kFirstProbePause{1'000};

// With these bytes every response begins, whatever it is.
constexpr std::string_view kBeginning = "HTTP/1.1 ";

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
  [[maybe_unused]] const int silent_seconds = 30;
  [[maybe_unused]] const int between_seconds = 10;
#ifdef TCP_KEEPIDLE
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &silent_seconds, sizeof silent_seconds);
#elif defined(TCP_KEEPALIVE)
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPALIVE, &silent_seconds, sizeof silent_seconds);
#endif
#ifdef TCP_KEEPINTVL
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &between_seconds, sizeof between_seconds);
#endif
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

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

Received received(ssize_t count) {
  if (count > 0) return Received::bytes;
  if (count == 0) return Received::end;
  return would_block() || errno == EINTR ? Received::nothing : Received::broken;
}

}  // namespace

Connection::Connection(int socket, ConnectionTimeouts timeouts)
    : socket_(socket), timeouts_(timeouts) {
  watch_for_silence(socket, timeouts.write);
}

Connection::~Connection() { ::close(socket_); }

// Free bytes behind the buffered ones, at least `size`.
void Connection::make_room(std::size_t size) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (buffer_.size() - end_ >= size) return;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < size) buffer_.resize(std::max(end_ + size, 2 * buffer_.size()));
}

Received Connection::receive() {
  make_room(buffer_.empty() ? kFirstBytes : 1);
  const std::size_t size = std::min(buffer_.size() - end_, kPieceBytes);
  const ssize_t count = ::recv(socket_, buffer_.data() + end_, size, 0);
  if (count > 0) end_ += static_cast<std::size_t>(count);
  return received(count);
}

Received Connection::drop() {
  char bytes[16'384];
  return received(::recv(socket_, bytes, sizeof bytes, 0));
}

// Some clients end a body with a line end that is not part of it.
void Connection::skip_line_ends() {
  while (begin_ < end_ && (buffer_[begin_] == '\r' || buffer_[begin_] == '\n')) ++begin_;
}

void Connection::forget_buffer() {
  begin_ = end_ = 0;
  std::vector<char>().swap(buffer_);
}

void Connection::send_now(std::string_view bytes) const {
  [[maybe_unused]] const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), kNoSignal);
}

void Connection::finish_sending() const { ::shutdown(socket_, SHUT_WR); }

const std::string& Connection::remote() {
  if (remote_.empty()) remote_ = peer_address(socket_);
  return remote_;
}

// --- while it is served ---

void Connection::begin_request(TimePoint deadline) {
  deadline_ = deadline;
  ++requests_;
}

void Connection::before_response() {
  responding_ = false;
  next_probe_ = {};
  probe_pause_ = kFirstProbePause;
}

ssize_t Connection::read(char* target, std::size_t size) {
  while (begin_ == end_) {
    if (!wait_readable()) return -1;
    make_room(kPieceBytes);
    const Received got = receive();
    if (got == Received::end || got == Received::broken) return 0;
  }
  const std::size_t count = std::min(size, end_ - begin_);
  std::memcpy(target, buffer_.data() + begin_, count);
  begin_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t Connection::write(const char* bytes, std::size_t size) {
  responding_ = true;
  const std::size_t there = std::min(early_, size);
  early_ -= there;
  if (there > 0 && there == size) return static_cast<ssize_t>(size);
  while (!broken_) {
    const ssize_t count = ::send(socket_, bytes + there, size - there, kNoSignal);
    if (count >= 0) return count + static_cast<ssize_t>(there);
    if (errno != EINTR && (!would_block() || !wait_writable())) broken_ = true;
  }
  return -1;
}

bool Connection::wait_readable() {
  if (begin_ < end_) return true;
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

// A closed socket answers bytes with a reset, one whose client only finished sending takes them.
void Connection::probe() {
  const auto now = steady_clock::now();
  if (early_ == kBeginning.size() || now < next_probe_) return;
  if (::send(socket_, &kBeginning[early_], 1, kNoSignal) == 1) ++early_;
  next_probe_ = now + probe_pause_;
  probe_pause_ *= 2;
}

bool Connection::gone_before_response() {
  if (!responding_ && peer() == Peer::finished_sending) probe();
  return peer() == Peer::gone;
}

}  // namespace samovar
