// Connection: one accepted socket, with timeouts, a read buffer that outlives a request, and an
// answer to "is the client still there?". Knows bytes, not HTTP, but for the few with which every
// response begins.
//
// It belongs to one thread at a time: the reception's while it waits for a request (nothing blocks
// there), a worker's while it is served (reads and writes wait, as long as the timeouts say).
// Failures are return values: reads and writes give -1 after a timeout or error.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace samovar {

struct ConnectionTimeouts {
  std::chrono::milliseconds read{10'000};      // between two pieces of a request
  std::chrono::milliseconds head{60'000};      // for a whole head
  std::chrono::milliseconds request{300'000};  // for a whole request
  std::chrono::milliseconds wait{30'000};      // of a whole request for a free thread
  std::chrono::milliseconds write{30'000};     // for the client to take some bytes
  std::chrono::milliseconds idle{60'000};      // between requests
  std::chrono::milliseconds linger{1'000};     // for the client to take the last bytes and close
};

// What the peer's side of the connection looks like (docs/decisions/client-gone.md).
enum class Peer {
  open,
  finished_sending,  // a FIN came: it closed, or only shut down its sending side
  gone,              // a reset came, or a write failed: nothing will arrive there
};

enum class Received {
  bytes,
  nothing,  // none now
  end,      // none any more: the peer has finished sending
  broken,
};

class Connection {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // `socket` does not block.
  Connection(int socket, ConnectionTimeouts timeouts);
  ~Connection();  // closes at once
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int socket() const { return socket_; }

  // --- nothing blocks ---

  Received receive();  // adds what is there to the buffered bytes, a bounded part of it
  Received drop();     // the same, forgotten at once
  void skip_line_ends();
  void forget_buffer();                         // its bytes and its memory
  void send_now(std::string_view bytes) const;  // as many as fit
  void finish_sending() const;

  // Bytes read but not yet used.
  [[nodiscard]] std::string_view buffered() const {
    return {buffer_.data() + begin_, end_ - begin_};
  }
  void consume(std::size_t size) { begin_ += size; }

  // --- while it is served ---

  // A request is about to be served. The rest of it must come until `deadline`.
  void begin_request(TimePoint deadline);
  [[nodiscard]] int requests() const { return requests_; }  // begun so far

  ssize_t read(char* target, std::size_t size);
  ssize_t write(const char* bytes, std::size_t size);
  [[nodiscard]] bool wait_readable();
  [[nodiscard]] bool wait_writable();

  [[nodiscard]] Peer peer();

  // The request is there, its response begins with the next write().
  void before_response();

  // For who has nothing to write yet: is the client gone? If it has finished sending, this finds
  // out by sending the first bytes of the response, which are those of every response, one by one.
  [[nodiscard]] bool gone_before_response();

  [[nodiscard]] const std::string& remote();  // its numeric address

 private:
  void make_room(std::size_t size);
  void probe();

  const int socket_;
  const ConnectionTimeouts timeouts_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  TimePoint deadline_;
  int requests_ = 0;
  std::string remote_;
  bool broken_ = false;

  bool responding_ = true;
  std::size_t early_ = 0;  // bytes of the coming response that were sent as probes
  TimePoint next_probe_;
  std::chrono::milliseconds probe_pause_{};
};

}  // namespace samovar
