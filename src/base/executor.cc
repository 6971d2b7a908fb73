#include "base/executor.h"

#include <pthread.h>

#include <string>

namespace samovar {
namespace {

void name_this_thread(const std::string& name) {
#ifdef __APPLE__
  pthread_setname_np(name.c_str());
#else
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads, const char* name) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this, name = std::string(name)] {
      name_this_thread(name);
      run();
    });
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

void ThreadPool::post(Job job) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  jobs_.push_back(std::move(job));
  changed_.notify_one();
}

// A job that posts another keeps its own thread from stopping before that one has run.
void ThreadPool::run() {
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

}  // namespace samovar
