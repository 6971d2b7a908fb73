// EventLog: the events of one reply, kept so that somebody can read them later, again, or from the
// middle. Written by the thread that runs the reply, read by any number of HTTP threads. Bounded:
// beyond `bytes_max` the oldest events go, and who asks for them is told.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace samovar {

class EventLog {
 public:
  explicit EventLog(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Whole events of a stream, each ending in an empty line, numbered from 0 on; comments are left
  // out.
  void append(std::string_view bytes);
  void end();  // nothing more will come

  struct Piece {
    std::string bytes;     // of events
    std::size_t next = 0;  // the number of the first event that is not among them
    bool ended = false;    // there will be no such event
    bool lost = false;     // what was asked for is not kept any more
  };
  // The events from number `from` on, waiting `timeout` for the first of them.
  [[nodiscard]] Piece read(std::size_t from, Micros timeout);

  [[nodiscard]] std::size_t events() const;  // so far, lost ones included
  [[nodiscard]] std::size_t bytes() const;   // of those that are kept
  [[nodiscard]] bool ended() const;

 private:
  const std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> events_;  // guarded by mutex_
  std::size_t first_ = 0;           // guarded by mutex_: the number of the first of them
  std::size_t bytes_ = 0;           // guarded by mutex_
  bool ended_ = false;              // guarded by mutex_
};

}  // namespace samovar
