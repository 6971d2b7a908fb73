// TokenMemo: text to tokens, remembering what was tokenised before. Pieces are keyed by their whole
// text and compared in full, so a hit is exact. Least recently used pieces go when the memory bound
// is reached; a piece larger than a quarter of it is not kept.
// Owned by ChatFormat, shared by all HTTP threads (own lock; tokenising happens outside it).
// Cannot fail.
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/tokens.h"

struct llama_vocab;

namespace samovar {

class TokenMemo {
 public:
  TokenMemo(const llama_vocab* vocab, std::size_t bytes_max)
      : vocab_(vocab), bytes_max_(bytes_max) {}

  // Appends the tokens of `piece`, special tokens recognised, nothing added before or after.
  void append(std::string_view piece, Tokens& tokens);

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Entry {
    std::string text;
    Tokens tokens;
    [[nodiscard]] std::size_t bytes() const {
      return text.size() + tokens.size() * sizeof(Token) + 128;  // 128: list and map nodes
    }
  };
  using Recency = std::list<Entry>;  // most recently used first

  bool append_known(std::string_view piece, Tokens& tokens);
  void remember(std::string_view piece, TokenSpan tokens);

  const llama_vocab* vocab_;
  const std::size_t bytes_max_;

  mutable std::mutex mutex_;  // guards all below
  Recency entries_;
  std::unordered_map<std::string_view, Recency::iterator> index_;  // keys point into entries_
  std::size_t bytes_ = 0;
};

}  // namespace samovar
