#include "api/message_memo.h"

#include <utility>

namespace samovar {

std::shared_ptr<const ParsedMessages> MessageMemo::find(std::string_view json) {
  const std::lock_guard lock(mutex_);
  const auto found = index_.find(json);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->messages;
}

void MessageMemo::add(std::string_view json, std::shared_ptr<const ParsedMessages> messages) {
  Entry entry{std::string(json), std::move(messages)};
  if (entry.bytes() > bytes_max_ / 4) return;
  const std::lock_guard lock(mutex_);
  if (index_.contains(json)) return;  // another thread was faster
  bytes_ += entry.bytes();
  entries_.push_front(std::move(entry));
  index_.emplace(entries_.front().json, entries_.begin());
  while (bytes_ > bytes_max_) {
    const Entry& oldest = entries_.back();
    bytes_ -= oldest.bytes();
    index_.erase(oldest.json);
    entries_.pop_back();
  }
}

std::size_t MessageMemo::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace samovar
