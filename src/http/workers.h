// Workers: the threads that serve connections, made when they are needed and kept. A connection is
// taken only if a thread is free for it: one must never wait behind another one's reply.
//
// take() belongs to one thread; the others run inside. Threads that cannot be made count as busy.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "http/connection.h"

namespace samovar {

class Workers {
 public:
  // Both run on the worker's thread and must not throw. `done` is called when the thread counts as
  // free again, so that whoever it tells finds a free one.
  using Serve = std::function<bool(Connection&)>;
  using Done = std::function<void(std::unique_ptr<Connection>, bool)>;  // and what `serve` said

  Workers(std::size_t most, Serve serve, Done done);
  ~Workers();  // stops

  // Takes the connection; false: every thread is at work, and it is left where it is.
  bool take(std::unique_ptr<Connection>& connection);

  void stop();  // waits for what runs; nothing is taken afterwards
  [[nodiscard]] std::size_t threads() const;

 private:
  void run();

  const std::size_t most_;
  const Serve serve_;
  const Done done_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Connection>> taken_;  // guarded by mutex_
  std::vector<std::thread> threads_;               // guarded by mutex_
  std::size_t idle_ = 0;                           // free threads; guarded by mutex_
  bool stopping_ = false;                          // guarded by mutex_
};

}  // namespace samovar
