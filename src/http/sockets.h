// Small things about sockets and descriptors that the reception, the connections and others need.
// Any thread; nothing here blocks, but is_served() for a second at most. -1 and empty results are
// failures, as the system has them.
#pragma once

#include <cstddef>
#include <string>

namespace samovar {

// The next connection of a listening socket: it does not block, is not inherited by child
// processes and sends small pieces at once. -1: none, errno says why.
[[nodiscard]] int accept_connection(int listening);

// Whether a program on this machine listens on a port of 127.0.0.1; true unless it is refused.
[[nodiscard]] bool is_served(int port);

void set_nonblocking(int descriptor);

// The peer's numeric address; empty if it is gone already.
[[nodiscard]] std::string peer_address(int socket);

// Raises the number of files and sockets this process may have open to what the system allows it.
void raise_descriptor_limit();
[[nodiscard]] std::size_t descriptor_limit();

// Something a poll() can wait for beside sockets: wake() from any thread makes descriptor()
// readable until clear().
class WakePipe {
 public:
  WakePipe();
  ~WakePipe();
  WakePipe(const WakePipe&) = delete;
  WakePipe& operator=(const WakePipe&) = delete;

  void wake() const;
  void clear() const;
  [[nodiscard]] int descriptor() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace samovar
