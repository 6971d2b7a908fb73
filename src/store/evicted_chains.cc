#include "store/evicted_chains.h"

#include <algorithm>

namespace samovar {

EvictedBlob evicted_blob(const BlobRecord& record) {
  return {.key = {record.kind, record.identity},
          .parent = record.parent,
          .length = record.end - record.begin};
}

void EvictedChains::add(const EvictedBlob& blob) {
  forget(blob.key, 0);
  Node& node = nodes_[blob.key.identity];
  number(node, blob.key.kind) = ++count_;
  // Not from a snapshot: read from a damaged catalogue it may say otherwise than its segment, and
  // what forget() takes out of lengths_ must be what was put there.
  if (blob.key.kind == BlobKind::segment) {
    node.parent = blob.parent;
    node.length = blob.length;
    ++lengths_[blob.parent][blob.length];
  }
  order_.emplace_back(blob.key, count_);
  while (order_.size() > most_) {
    const auto [oldest, its_number] = order_.front();
    order_.pop_front();
    forget(oldest, its_number);
  }
}

void EvictedChains::erase(const BlobKey& key) { forget(key, 0); }

// `only`: if it is this eviction that is known, or 0 for any.
void EvictedChains::forget(const BlobKey& key, std::uint64_t only) {
  const auto found = nodes_.find(key.identity);
  if (found == nodes_.end()) return;
  Node& node = found->second;
  std::uint64_t& known = number(node, key.kind);
  if (known == 0 || (only != 0 && known != only)) return;
  known = 0;
  if (key.kind == BlobKind::segment) {
    const auto siblings = lengths_.find(node.parent);
    const auto length = siblings->second.find(node.length);
    if (--length->second == 0) siblings->second.erase(length);
    if (siblings->second.empty()) lengths_.erase(siblings);
  }
  if (node.segment == 0 && node.snapshot == 0) nodes_.erase(found);
}

void EvictedChains::clear() {
  nodes_.clear();
  lengths_.clear();
  order_.clear();
}

Position EvictedChains::reach(const Fingerprint& model, TokenSpan tokens, std::vector<Stand> known,
                              bool needs_snapshot) const {
  Position reach = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const Stand at = known[i];
    const auto here = nodes_.find(at.node);
    if (here != nodes_.end() && (needs_snapshot ? here->second.snapshot : here->second.segment)) {
      reach = std::max(reach, at.position);
    }
    const auto lengths = lengths_.find(at.node);
    if (lengths == lengths_.end()) continue;
    const TokenSpan rest = tokens.subspan(static_cast<std::size_t>(at.position));
    PrefixHasher hasher(model, at.node);
    std::size_t hashed = 0;
    for (const auto& [length, count] : lengths->second) {
      const auto size = static_cast<std::size_t>(length);
      if (size > rest.size()) break;
      hasher.append(rest.subspan(hashed, size - hashed));
      hashed = size;
      const Identity end = hasher.identity();
      const auto child = nodes_.find(end);
      if (child == nodes_.end() || child->second.segment == 0) continue;
      known.push_back({end, at.position + length});
    }
  }
  return reach;
}

}  // namespace samovar
