// The sockets that are being served, so that stopping can wait for them and then end them. Any
// thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>

namespace samovar {

class OpenSockets {
 public:
  void add(int socket);
  void remove(int socket);  // before it is closed: its number may be used again at once

  // Waits until none is left, or the deadline has come.
  void wait_none(std::chrono::steady_clock::time_point deadline);

  // Ends all connections. Reads and writes on them fail from now on; their owners close them.
  void shut_all() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<int> sockets_;  // guarded by mutex_
};

}  // namespace samovar
