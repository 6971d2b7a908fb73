// The sockets that are being served, so that stopping can wait for them and then end them. Any
// thread.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

namespace samovar {

class OpenSockets {
 public:
  void add(int socket);
  void remove(int socket);  // before it is closed: its number may be used again at once
  [[nodiscard]] std::size_t count() const;

  // Ends all connections. Reads and writes on them fail from now on; their owners close them.
  void shut_all() const;

 private:
  mutable std::mutex mutex_;
  std::set<int> sockets_;  // guarded by mutex_
};

// The peer's numeric address; empty if it is gone already.
[[nodiscard]] std::string peer_address(int socket);

}  // namespace samovar
