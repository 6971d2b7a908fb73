// BackgroundReplies: replies that go on whether or not anybody listens. Each is pumped by a job of
// the executor until it ends, and its events are kept (event_log.h), so that a client can come
// back to them. How many run, and how much is kept, is bounded: what has ended goes first, oldest
// first. Nothing here outlives the process; what the ledger keeps does.
//
// Thread-safe. Replies end with the engine (it fails their turns when it stops); then the executor
// must be stopped, before this object goes.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api/event_log.h"
#include "api/running_reply.h"
#include "base/executor.h"
#include "base/limits.h"
#include "base/result.h"

namespace samovar {

struct BackgroundLimits {
  std::size_t running = limits::background_replies_max;
  std::size_t bytes_each = limits::background_bytes_each_max;  // of events, of one reply
  std::size_t bytes = limits::background_bytes_max;            // of events, of all
};

class BackgroundReplies {
 public:
  // `executor` must have as many threads as replies may run.
  explicit BackgroundReplies(Executor& executor, BackgroundLimits limits = {});

  // Runs the reply that `make` makes, unless too many run already. Errors: overloaded; what `make`
  // says.
  [[nodiscard]] Status start(const std::string& id,
                             const std::function<Result<std::unique_ptr<RunningReply>>()>& make);

  // nullptr: not known, or not any more.
  [[nodiscard]] std::shared_ptr<EventLog> events(const std::string& id) const;

  // Ends it soon, when the engine has; true if it still ran.
  bool cancel(const std::string& id);
  // True from cancel() on.
  [[nodiscard]] bool cancelled(const std::string& id) const;

  // Ends it if it runs, and lets go of its events.
  void forget(const std::string& id);

 private:
  struct Entry {
    Entry(std::string name, std::size_t bytes_max) : id(std::move(name)), log(bytes_max) {}
    const std::string id;
    EventLog log;
    std::atomic<bool> cancelled = false;
  };

  void run(Entry& entry, std::unique_ptr<RunningReply> reply);
  void ended();
  [[nodiscard]] std::shared_ptr<Entry> find(const std::string& id) const;

  Executor& executor_;
  const BackgroundLimits limits_;
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<Entry>> entries_;  // guarded by mutex_; oldest first
  std::size_t running_ = 0;                    // guarded by mutex_
};

// A response that streams events from number `from` on, until the last one. Who leaves changes
// nothing.
[[nodiscard]] HttpResponse follow_events(std::shared_ptr<EventLog> events, std::size_t from,
                                         const Clock& clock, WaitTiming timing);

}  // namespace samovar
