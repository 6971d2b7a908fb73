#include "http/open_sockets.h"

#include <netdb.h>
#include <sys/socket.h>

namespace samovar {

void OpenSockets::add(int socket) {
  const std::lock_guard lock(mutex_);
  sockets_.insert(socket);
}

void OpenSockets::remove(int socket) {
  const std::lock_guard lock(mutex_);
  sockets_.erase(socket);
}

std::size_t OpenSockets::count() const {
  const std::lock_guard lock(mutex_);
  return sockets_.size();
}

void OpenSockets::shut_all() const {
  const std::lock_guard lock(mutex_);
  for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
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

}  // namespace samovar
