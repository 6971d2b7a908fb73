#include "http/workers.h"

#include <system_error>
#include <utility>

namespace samovar {

Workers::Workers(std::size_t most, Serve serve, Done done)
    : most_(most), serve_(std::move(serve)), done_(std::move(done)) {}

Workers::~Workers() { stop(); }

bool Workers::take(std::unique_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  if (taken_.size() >= idle_) {  // every idle thread has one coming
    if (threads_.size() >= most_) return false;
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  taken_.push_back(std::move(connection));
  changed_.notify_one();
  return true;
}

void Workers::stop() {
  std::vector<std::thread> ending;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ending.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : ending) thread.join();
}

std::size_t Workers::threads() const {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

void Workers::run() {
  std::unique_lock lock(mutex_);
  ++idle_;
  for (;;) {
    changed_.wait(lock, [this] { return !taken_.empty() || stopping_; });
    if (taken_.empty()) return;
    std::unique_ptr<Connection> connection = std::move(taken_.front());
    taken_.pop_front();
    --idle_;
    lock.unlock();
    const bool result = serve_(*connection);
    lock.lock();
    ++idle_;
    lock.unlock();
    done_(std::move(connection), result);
    lock.lock();
  }
}

}  // namespace samovar
