#include "chat/reply_memory.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace samovar {
namespace {

// Of one reply, sampled again and again with the same tokens.
constexpr std::size_t kCallIdsMax = 64;

// Empty ids find nothing.
std::vector<std::string> usable_ids(std::vector<std::string> ids) {
  std::erase(ids, std::string());
  if (ids.size() > kCallIdsMax) ids.resize(kCallIdsMax);
  return ids;
}

}  // namespace

std::size_t ReplyMemory::Entry::measure() const {
  std::size_t sum = reply->bytes() + 512;  // 512: list and map nodes
  for (const std::string& id : call_ids) sum += 2 * id.size() + 128;
  return sum;
}

void ReplyMemory::remember(const Sha256& context, const std::vector<std::string>& call_ids,
                           Reply reply) {
  if (reply == nullptr || !reply->replayable) return;
  Entry entry{context, usable_ids(call_ids), std::move(reply), 0};
  if (entry.measure() > bytes_max_ / 4) return;

  const std::lock_guard lock(mutex_);
  if (const auto found = by_context_.find(context); found != by_context_.end()) {
    const auto twin = std::ranges::find_if(found->second, [&](const auto& known) {
      return known->reply->tokens == entry.reply->tokens &&
             known->reply->primer == entry.reply->primer;
    });
    if (twin != found->second.end()) {
      // A client may hold the ids of either.
      const Entry& known = **twin;
      entry.call_ids.insert(entry.call_ids.end(), known.call_ids.begin(), known.call_ids.end());
      entry.call_ids = usable_ids(std::move(entry.call_ids));
      entry.reply = known.reply;
      erase(*twin);
    } else if (found->second.size() >= kPerContext) {
      erase(found->second.back());
    }
  }
  entry.bytes = entry.measure();
  entries_.push_front(std::move(entry));
  const auto newest = entries_.begin();
  bytes_ += newest->bytes;
  auto& here = by_context_[context];
  here.insert(here.begin(), newest);
  for (const std::string& id : newest->call_ids) by_call_[id] = newest;
  while (bytes_ > bytes_max_) erase(std::prev(entries_.end()));
}

void ReplyMemory::erase(Recency::iterator entry) {
  for (const std::string& id : entry->call_ids) {
    const auto found = by_call_.find(id);
    if (found != by_call_.end() && found->second == entry) by_call_.erase(found);
  }
  const auto place = by_context_.find(entry->context);
  assert(place != by_context_.end());
  std::erase(place->second, entry);
  if (place->second.empty()) by_context_.erase(place);
  bytes_ -= entry->bytes;
  entries_.erase(entry);
}

std::vector<ReplySource::Reply> ReplyMemory::find(const Sha256& context) {
  const std::lock_guard lock(mutex_);
  std::vector<Reply> replies;
  const auto found = by_context_.find(context);
  if (found == by_context_.end()) return replies;
  for (const auto& entry : found->second) {
    replies.push_back(entry->reply);
    touch(entry);
  }
  return replies;
}

ReplySource::Reply ReplyMemory::find_call(std::string_view call_id) {
  const std::lock_guard lock(mutex_);
  const auto found = by_call_.find(call_id);
  if (found == by_call_.end()) return nullptr;
  touch(found->second);
  return found->second->reply;
}

void ReplyMemory::forget(const Sha256& context) {
  const std::lock_guard lock(mutex_);
  for (auto found = by_context_.find(context); found != by_context_.end();
       found = by_context_.find(context)) {
    erase(found->second.back());
  }
}

void ReplyMemory::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  by_context_.clear();
  by_call_.clear();
  bytes_ = 0;
}

std::size_t ReplyMemory::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::size_t ReplyMemory::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace samovar
