// ReplayMemo: what ReplayRules said about a reply and a text, so that a follow-up costs its new
// replies only. Keyed by the reply's serial and the whole text, so a hit is exact; the least
// recently used goes.
// Owned by ChatFormat, shared by all HTTP threads (own lock; verdicts are found outside it).
// Cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "chat/replay_piece.h"

namespace samovar {

class ReplayMemo {
 public:
  ReplayMemo(ReplayRules rules, std::size_t bytes_max)
      : rules_(std::move(rules)), bytes_max_(bytes_max) {}

  [[nodiscard]] const ReplayRules& rules() const { return rules_; }

  // As ReplayRules::tokens_for().
  std::shared_ptr<const Tokens> tokens_for(std::string_view piece, const SampledReply& reply);

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Key {
    std::uint64_t serial;
    std::string_view piece;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<std::string_view>{}(key.piece) ^ (key.serial * 0x9E3779B97F4A7C15U);
    }
  };
  struct Entry {
    std::uint64_t serial;
    std::string piece;
    std::shared_ptr<const Tokens> tokens;
    [[nodiscard]] Key key() const { return {serial, piece}; }
    [[nodiscard]] std::size_t bytes() const {
      return piece.size() + (tokens ? tokens->size() * sizeof(Token) : 0) + 192;  // 192: nodes
    }
  };
  using Recency = std::list<Entry>;  // most recently used first

  const ReplayRules rules_;
  const std::size_t bytes_max_;

  mutable std::mutex mutex_;  // guards all below
  Recency entries_;
  std::unordered_map<Key, Recency::iterator, KeyHash> index_;  // keys point into entries_
  std::size_t bytes_ = 0;
};

}  // namespace samovar
