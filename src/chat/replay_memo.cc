#include "chat/replay_memo.h"

#include <utility>

namespace samovar {

std::shared_ptr<const Tokens> ReplayMemo::tokens_for(std::string_view piece,
                                                     const SampledReply& reply) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = index_.find({reply.serial, piece});
    if (found != index_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->tokens;
    }
  }
  Entry entry{reply.serial, std::string(piece), rules_.tokens_for(piece, reply)};
  auto tokens = entry.tokens;
  if (entry.bytes() > bytes_max_ / 4) return tokens;
  const std::lock_guard lock(mutex_);
  if (index_.contains({reply.serial, piece})) return tokens;  // another thread was faster
  bytes_ += entry.bytes();
  entries_.push_front(std::move(entry));
  index_.emplace(entries_.front().key(), entries_.begin());
  while (bytes_ > bytes_max_) {
    const Entry& oldest = entries_.back();
    bytes_ -= oldest.bytes();
    index_.erase(oldest.key());
    entries_.pop_back();
  }
  return tokens;
}

std::size_t ReplayMemo::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace samovar
