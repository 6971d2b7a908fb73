#include "turn/recent_turns.h"

#include <algorithm>
#include <utility>

namespace samovar {
namespace {

std::size_t bytes_of(const ChatMessage& message) {
  std::size_t bytes = sizeof message + message.content.size() + message.reasoning.size();
  for (const ToolCall& call : message.tool_calls) bytes += call.arguments.size() + sizeof call;
  return bytes;
}

std::size_t bytes_of(const TurnShape& shape) {
  std::size_t bytes = 0;
  if (shape.request != nullptr) {
    for (const ChatMessage& message : shape.request->messages) bytes += bytes_of(message);
    for (const Tool& tool : shape.request->tools) {
      bytes += tool.description.size() + tool.parameters.size() + sizeof tool;
    }
  }
  if (shape.rendered != nullptr) bytes += shape.rendered->size();
  if (shape.reply_text != nullptr) bytes += bytes_of(*shape.reply_text);
  if (shape.tokens != nullptr) bytes += shape.tokens->size() * sizeof(Token);
  return bytes;
}

std::shared_ptr<const TurnShape> without_texts(const TurnShape& shape) {
  auto bare = std::make_shared<TurnShape>(shape);
  bare->request.reset();
  bare->rendered.reset();
  bare->reply_text.reset();
  bare->tokens.reset();
  return bare;
}

}  // namespace

void RecentTurns::add(std::shared_ptr<const TurnShape> shape, std::string session,
                      std::optional<Explanation> miss, bool same_run) {
  Entry entry{std::move(shape), std::move(session), same_run, std::move(miss), 0};
  entry.bytes = bytes_of(*entry.shape);
  const std::scoped_lock lock(mutex_);
  const auto same = std::ranges::find_if(
      entries_, [&](const Entry& other) { return other.shape->turn_id == entry.shape->turn_id; });
  text_bytes_ += entry.bytes;
  if (same != entries_.end()) {
    text_bytes_ -= same->bytes;
    *same = std::move(entry);
  } else {
    entries_.push_front(std::move(entry));
  }
  while (entries_.size() > turns_max_) {
    text_bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  drop_texts();
}

// Oldest first; the newest keeps its texts whatever they take.
void RecentTurns::drop_texts() {
  for (std::size_t i = entries_.size(); i-- > 1 && text_bytes_ > text_bytes_max_;) {
    Entry& entry = entries_[i];
    if (entry.bytes == 0) continue;
    entry.shape = without_texts(*entry.shape);
    text_bytes_ -= std::exchange(entry.bytes, 0);
  }
}

std::vector<RecentTurns::Entry> RecentTurns::all() const {
  const std::scoped_lock lock(mutex_);
  return {entries_.begin(), entries_.end()};
}

std::optional<Explanation> RecentTurns::miss_of(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.shape->turn_id == id) return entry.miss;
  }
  return std::nullopt;
}

void RecentTurns::forget_turn(const std::string& id) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) {
    const bool gone = entry.shape->turn_id == id;
    if (gone) text_bytes_ -= entry.bytes;
    return gone;
  });
}

void RecentTurns::forget_session(const std::string& session) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) {
    const bool gone = entry.session == session;
    if (gone) text_bytes_ -= entry.bytes;
    return gone;
  });
}

}  // namespace samovar
