// Connection: one accepted socket, with timeouts, a read buffer that outlives a request, and an
// answer to "is the client still there?". Knows bytes, not HTTP.
//
// Owned and used by the worker thread that serves the socket; shut_down() may be called from any
// thread. Failures are return values: reads and writes give -1 after a timeout or error.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

#include <sys/types.h>

namespace samovar {

struct ConnectionTimeouts {
  std::chrono::milliseconds read{10'000};      // between two pieces of a request
  std::chrono::milliseconds request{300'000};  // for a whole request
  std::chrono::milliseconds write{30'000};     // for the client to take some bytes
  std::chrono::milliseconds idle{5'000};       // between requests
};

// What the peer's side of the connection looks like (docs/decisions/client-gone.md).
enum class Peer {
  open,
  finished_sending,  // a FIN came: it closed, or only shut down its sending side
  gone,              // a reset came, or a write failed: nothing will arrive there
};

class Connection {
 public:
  Connection(int socket, ConnectionTimeouts timeouts);
  ~Connection();  // closes; waits briefly for the peer to take the last bytes
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Waits until the first byte of a next request is there; false: none came, or `stopping` is set.
  bool wait_request(const std::atomic<bool>& stopping);

  ssize_t read(char* target, std::size_t size);
  ssize_t write(const char* bytes, std::size_t size);

  [[nodiscard]] bool wait_readable();
  [[nodiscard]] bool wait_writable();
  [[nodiscard]] Peer peer();
  [[nodiscard]] int socket() const { return socket_; }

  // Bytes read but not yet used.
  [[nodiscard]] std::size_t buffered() const { return end_ - begin_; }
  [[nodiscard]] const char* buffered_bytes() const { return buffer_.data() + begin_; }
  void consume(std::size_t size) { begin_ += size; }

 private:
  bool fill();
  void skip_line_ends();

  const int socket_;
  const ConnectionTimeouts timeouts_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  bool broken_ = false;
};

}  // namespace samovar
