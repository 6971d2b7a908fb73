#include "store/store_family.h"

#include <algorithm>
#include <unordered_set>

namespace samovar {

StoreFamily::StoreFamily(const std::vector<BlobRecord>& records) : records_(records) {
  nodes_.reserve(records.size());
  for (const BlobRecord& record : records) {
    Node& node = nodes_[record.identity];
    (record.kind == BlobKind::segment ? node.segment : node.snapshot) = &record;
  }
  for (const BlobRecord& record : records) {
    if (record.kind == BlobKind::segment && record.begin > 0) {
      nodes_[record.parent].children.push_back(&record);
    }
  }
}

const StoreFamily::Node* StoreFamily::node(const Identity& identity) const {
  const auto found = nodes_.find(identity);
  return found == nodes_.end() ? nullptr : &found->second;
}

const BlobRecord* StoreFamily::segment(const Identity& identity) const {
  const Node* at = node(identity);
  return at == nullptr ? nullptr : at->segment;
}

const BlobRecord* StoreFamily::snapshot(const Identity& identity) const {
  const Node* at = node(identity);
  return at == nullptr ? nullptr : at->snapshot;
}

// Ends: each segment begins where the one before it ends, which is less than its own end.
std::vector<const BlobRecord*> StoreFamily::before(const Identity& identity) const {
  std::vector<const BlobRecord*> found;
  for (const BlobRecord* at = segment(identity); at != nullptr;) {
    found.push_back(at);
    const BlobRecord* parent = at->begin == 0 ? nullptr : segment(at->parent);
    const bool joined = parent != nullptr && parent->end == at->begin && parent->model == at->model;
    at = joined ? parent : nullptr;
  }
  return found;
}

std::vector<const BlobRecord*> StoreFamily::chain(const Identity& identity) const {
  auto found = before(identity);
  if (found.empty() || found.back()->begin != 0) return {};
  std::ranges::reverse(found);
  return found;
}

std::vector<BlobKey> StoreFamily::with_dependants(const std::vector<BlobKey>& keys) const {
  std::vector<BlobKey> found;
  std::vector<Identity> whole;  // nodes that go with all that is behind them
  std::unordered_set<Identity, IdentityHash> seen;
  for (const BlobKey& key : keys) {
    if (key.kind == BlobKind::snapshot) found.push_back(key);
    if (key.kind == BlobKind::segment && seen.insert(key.identity).second) {
      whole.push_back(key.identity);
    }
  }
  while (!whole.empty()) {
    const Identity identity = whole.back();
    whole.pop_back();
    const Node* at = node(identity);
    if (at == nullptr) continue;
    if (at->segment != nullptr) found.push_back({BlobKind::segment, identity});
    if (at->snapshot != nullptr) found.push_back({BlobKind::snapshot, identity});
    for (const BlobRecord* child : at->children) {
      if (seen.insert(child->identity).second) whole.push_back(child->identity);
    }
  }
  std::ranges::sort(found);
  const auto twice = std::ranges::unique(found);
  found.erase(twice.begin(), twice.end());
  return found;
}

// From the longest to the shortest: what is needed of a segment is decided before the segment.
std::vector<BlobKey> StoreFamily::only_for(const SessionId& session) const {
  std::vector<const BlobRecord*> own;
  for (const BlobRecord& record : records_) {
    if (record.session == session) own.push_back(&record);
  }
  sort_for_publishing(own);
  std::vector<BlobKey> going;
  std::unordered_set<Identity, IdentityHash> segments;  // that go
  for (auto at = own.rbegin(); at != own.rend(); ++at) {
    const BlobRecord& record = **at;
    const Node& place = nodes_.at(record.identity);
    if (record.kind == BlobKind::segment) {
      const bool foreign = place.snapshot != nullptr && place.snapshot->session != session;
      const bool needed = std::ranges::any_of(place.children, [&](const BlobRecord* child) {
        return !segments.contains(child->identity);
      });
      if (foreign || needed) continue;
      segments.insert(record.identity);
    }
    going.push_back(key_of(record));
  }
  return going;
}

std::vector<const BlobRecord*> StoreFamily::chains_of(const SessionId& session) const {
  std::unordered_set<const BlobRecord*> wanted;
  for (const BlobRecord& record : records_) {
    if (record.session != session) continue;
    const auto segments = chain(record.identity);
    wanted.insert(segments.begin(), segments.end());
    if (!segments.empty()) wanted.insert(&record);
  }
  std::vector<const BlobRecord*> ordered(wanted.begin(), wanted.end());
  sort_for_publishing(ordered);
  return ordered;
}

std::vector<Identity> StoreFamily::tips(const SessionId& session) const {
  std::unordered_set<Identity, IdentityHash> inner;
  std::vector<Identity> nodes;
  for (const BlobRecord& record : records_) {
    if (record.session != session) continue;
    nodes.push_back(record.identity);
    const auto segments = before(record.identity);
    for (std::size_t i = 1; i < segments.size() && inner.insert(segments[i]->identity).second;) ++i;
  }
  std::ranges::sort(nodes);
  const auto twice = std::ranges::unique(nodes);
  nodes.erase(twice.begin(), twice.end());
  std::erase_if(nodes, [&](const Identity& identity) { return inner.contains(identity); });
  return nodes;
}

void sort_for_publishing(std::vector<const BlobRecord*>& records) {
  std::ranges::sort(records, [](const BlobRecord* a, const BlobRecord* b) {
    return std::tie(a->model, a->end, a->kind, a->identity) <
           std::tie(b->model, b->end, b->kind, b->identity);
  });
}

}  // namespace samovar
