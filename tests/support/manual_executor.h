// ManualExecutor: an Executor whose jobs run when the test says so, on the thread that says so.
// Any thread may post; a job may post others. Jobs still there at the end are destroyed, not run.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "base/executor.h"

namespace samovar {

class ManualExecutor final : public Executor {
 public:
  void post(Job job) override {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }

  // Runs the oldest job, or the one `index` places behind it, as one of several threads might.
  // False: there is none.
  bool run_one(std::size_t index = 0) {
    std::optional<Job> job = take(index);
    if (job) (*job)();
    return job.has_value();
  }

  // Runs until there are no jobs left, those posted meanwhile included. How many ran.
  std::size_t run_all() {
    std::size_t count = 0;
    while (run_one()) ++count;
    return count;
  }

  [[nodiscard]] std::size_t pending() const {
    const std::lock_guard lock(mutex_);
    return jobs_.size();
  }

  // A crash: the jobs vanish. How many did.
  std::size_t drop_all() {
    std::size_t count = 0;
    while (take(0)) ++count;
    return count;
  }

 private:
  std::optional<Job> take(std::size_t index) {
    const std::lock_guard lock(mutex_);
    if (index >= jobs_.size()) return std::nullopt;
    const auto at = jobs_.begin() + static_cast<std::ptrdiff_t>(index);
    std::optional<Job> job(std::move(*at));
    jobs_.erase(at);
    return job;
  }

  mutable std::mutex mutex_;
  std::deque<Job> jobs_;  // guarded by mutex_
};

}  // namespace samovar
