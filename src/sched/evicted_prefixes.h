// EvictedPrefixes: which prefixes left memory to make room, so that a turn that computes one of
// them again can be told why. Positions are tokens, known to a grid of kGrid of them.
//
// Kept are hashes, 16 bytes at every grid position of what left, at most `most` of them; the oldest
// are forgotten first. Nothing fails. One thread (the engine's, in Memory).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_set>

#include "base/hash.h"
#include "core/tokens.h"

namespace samovar {

class EvictedPrefixes {
 public:
  static constexpr std::size_t kGrid = 64;

  explicit EvictedPrefixes(std::size_t most = std::size_t{1} << 16) : most_(most) {}

  // These tokens, from the first on, are not in memory any more. O(tokens).
  void add(TokenSpan tokens);

  // How much of the prompt's beginning was evicted at some time. O(tokens), and nothing at all as
  // long as nothing was.
  [[nodiscard]] Position reach(TokenSpan prompt) const;

  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  struct ChecksumHash {
    std::size_t operator()(const Checksum& sum) const { return static_cast<std::size_t>(sum.low); }
  };

  const std::size_t most_;
  std::unordered_set<Checksum, ChecksumHash> known_;
  std::deque<Checksum> order_;  // of known_, oldest first
};

}  // namespace samovar
