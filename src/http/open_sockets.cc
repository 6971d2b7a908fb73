#include "http/open_sockets.h"

#include <sys/socket.h>

namespace samovar {

void OpenSockets::add(int socket) {
  const std::lock_guard lock(mutex_);
  sockets_.insert(socket);
}

void OpenSockets::remove(int socket) {
  const std::lock_guard lock(mutex_);
  sockets_.erase(socket);
  changed_.notify_all();
}

void OpenSockets::wait_none(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return sockets_.empty(); });
}

void OpenSockets::shut_all() const {
  const std::lock_guard lock(mutex_);
  for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
}

}  // namespace samovar
