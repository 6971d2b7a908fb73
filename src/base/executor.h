// Executor: where jobs run. ThreadPool runs them on its own threads; tests and the simulation use a
// ManualExecutor (tests/support), which runs them when told to. Jobs must not throw.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace samovar {

class Executor {
 public:
  using Job = std::move_only_function<void()>;
  virtual ~Executor() = default;
  virtual void post(Job job) = 0;  // any thread; jobs of one thread start in order
};

class ThreadPool final : public Executor {
 public:
  // `name` is what tools show for its threads (15 characters at most).
  ThreadPool(int threads, const char* name);
  ~ThreadPool() override;  // stops
  void post(Job job) override;

  // Runs what was posted, then joins. What is posted afterwards is dropped. Idempotent; one thread.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;   // guarded by mutex_
  bool stopping_ = false;  // guarded by mutex_
  bool stopped_ = false;   // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace samovar
