#include "api/event_log.h"

#include <chrono>

namespace samovar {

void EventLog::append(std::string_view bytes) {
  constexpr std::string_view kEnd = "\n\n";
  {
    const std::scoped_lock lock(mutex_);
    for (std::size_t end; (end = bytes.find(kEnd)) != std::string_view::npos;) {
      const std::string_view event = bytes.substr(0, end + kEnd.size());
      bytes.remove_prefix(event.size());
      if (event.starts_with(':')) continue;
      events_.emplace_back(event);
      bytes_ += event.size();
    }
    for (; bytes_ > bytes_max_ && events_.size() > 1; events_.pop_front(), ++first_) {
      bytes_ -= events_.front().size();
    }
  }
  changed_.notify_all();
}

void EventLog::end() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

EventLog::Piece EventLog::read(std::size_t from, Micros timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::microseconds(timeout),
                    [&] { return ended_ || from < first_ + events_.size(); });
  Piece piece{.next = from};
  if (from < first_) {
    piece.lost = true;
    return piece;
  }
  for (std::size_t at = from - first_; at < events_.size(); ++at) {
    piece.bytes += events_[at];
    ++piece.next;
  }
  piece.ended = ended_;
  return piece;
}

std::size_t EventLog::events() const {
  const std::scoped_lock lock(mutex_);
  return first_ + events_.size();
}

std::size_t EventLog::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

bool EventLog::ended() const {
  const std::scoped_lock lock(mutex_);
  return ended_;
}

}  // namespace samovar
