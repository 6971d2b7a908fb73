#include "chat/token_memo.h"

#include <cassert>

#include "chat/vocabulary.h"

namespace samovar {

void TokenMemo::append(std::string_view piece, Tokens& tokens) {
  if (piece.empty() || append_known(piece, tokens)) return;
  const std::size_t begin = tokens.size();
  append_tokens(vocab_, piece, tokens);
  remember(piece, TokenSpan(tokens).subspan(begin));
}

std::size_t TokenMemo::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

bool TokenMemo::append_known(std::string_view piece, Tokens& tokens) {
  const std::lock_guard lock(mutex_);
  const auto found = index_.find(piece);
  if (found == index_.end()) return false;
  entries_.splice(entries_.begin(), entries_, found->second);
  const Tokens& known = found->second->tokens;
  tokens.insert(tokens.end(), known.begin(), known.end());
  return true;
}

void TokenMemo::remember(std::string_view piece, TokenSpan tokens) {
  Entry entry{std::string(piece), Tokens(tokens.begin(), tokens.end())};
  if (entry.bytes() > bytes_max_ / 4) return;
  const std::lock_guard lock(mutex_);
  if (index_.contains(piece)) return;  // another thread was faster
  bytes_ += entry.bytes();
  entries_.push_front(std::move(entry));
  index_.emplace(entries_.front().text, entries_.begin());
  while (bytes_ > bytes_max_) {
    const Entry& oldest = entries_.back();
    bytes_ -= oldest.bytes();
    index_.erase(oldest.text);
    entries_.pop_back();
  }
  assert(index_.size() == entries_.size());
}

}  // namespace samovar
