// EvictedChains: what left the store to make room, by identity, so that a miss can be told from a
// prefix that never was there. The ends of evicted files, linked as they were in the index; at most
// `most` of them, some 300 bytes each, the oldest forgotten first.
//
// Forgetting makes answers shorter, never wrong. Not thread-safe: it is part of StoreIndex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/tokens.h"
#include "store/blob_record.h"

namespace samovar {

// A file that was evicted: where it ended, and how many tokens before that its segment began.
struct EvictedBlob {
  BlobKey key;
  Identity parent;
  Position length = 0;
  bool operator==(const EvictedBlob&) const = default;
};
[[nodiscard]] EvictedBlob evicted_blob(const BlobRecord& record);

class EvictedChains {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 14;

  explicit EvictedChains(std::size_t most = kMost) : most_(most) {}

  void add(const EvictedBlob& blob);
  void erase(const BlobKey& key);  // it is there again
  void clear();
  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }  // ends, not files

  // A place along some tokens.
  struct Stand {
    Identity node;
    Position position = 0;
  };
  // The furthest place along `tokens` at which a checkpoint stood: a snapshot, or else a segment's
  // end. `known`: the places along the tokens that are still in the index, the root first.
  [[nodiscard]] Position reach(const Fingerprint& model, TokenSpan tokens, std::vector<Stand> known,
                               bool needs_snapshot) const;

 private:
  struct Node {
    Identity parent;      // of the evicted segment; unset without one
    Position length = 0;  // its tokens
    // Numbers of the segment's and the snapshot's eviction; 0: not evicted.
    std::uint64_t segment = 0;
    std::uint64_t snapshot = 0;
  };
  static std::uint64_t& number(Node& node, BlobKind kind) {
    return kind == BlobKind::segment ? node.segment : node.snapshot;
  }
  void forget(const BlobKey& key, std::uint64_t only);

  const std::size_t most_;
  std::unordered_map<Identity, Node, IdentityHash> nodes_;
  // Lengths of the evicted segments behind a node, with how many have it.
  std::unordered_map<Identity, std::map<Position, std::uint32_t>, IdentityHash> lengths_;
  std::deque<std::pair<BlobKey, std::uint64_t>> order_;  // oldest first; those that came back too
  std::uint64_t count_ = 0;
};

}  // namespace samovar
