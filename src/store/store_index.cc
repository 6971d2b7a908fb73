#include "store/store_index.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace samovar {
namespace {

bool same_range(const BlobRecord& a, const BlobRecord& b) {
  return a.model == b.model && a.parent == b.parent && a.begin == b.begin && a.end == b.end;
}

}  // namespace

std::vector<BlobKey> StoredChain::keys() const {
  std::vector<BlobKey> keys;
  keys.reserve(segments.size() + 1);
  for (const BlobRecord& segment : segments) keys.push_back({segment.kind, segment.identity});
  if (snapshot) keys.push_back({snapshot->kind, snapshot->identity});
  return keys;
}

bool StoreIndex::Node::joined() const {
  if (parent == nullptr || parent->is_root()) return parent != nullptr;
  return parent->segment && parent->segment->record.end == segment->record.begin &&
         parent->segment->record.model == segment->record.model;
}

const StoreIndex::Node* StoreIndex::node(const Identity& identity) const {
  const auto found = nodes_.find(identity);
  return found == nodes_.end() ? nullptr : &found->second;
}

const StoreIndex::Entry* StoreIndex::entry(const BlobKey& key) const {
  const Node* at = node(key.identity);
  return at == nullptr ? nullptr : at->entry(key.kind).get();
}

StoreIndex::Node& StoreIndex::make_node(const Identity& identity) {
  const auto [at, made] = nodes_.try_emplace(identity);
  Node& node = at->second;
  if (made) {
    node.identity = identity;
    node.slot = static_cast<Place::Index>(slots_.size());
    slots_.push_back(&node);
  }
  return node;
}

void StoreIndex::drop_if_empty(Node* node) {
  if (node->is_root() || node->segment || node->snapshot || !node->lengths.empty()) return;
  slots_[node->slot] = slots_.back();
  slots_[node->slot]->slot = node->slot;
  slots_.pop_back();
  const Identity identity = node->identity;
  nodes_.erase(identity);
}

bool StoreIndex::add(BlobRecord record, bool pending) {
  if (!possible(record)) return false;
  const bool segment = record.kind == BlobKind::segment;
  if (const Node* known = node(record.identity)) {
    if (known->entry(record.kind)) return false;
    const Entry* other = (segment ? known->snapshot : known->segment).get();
    if (other != nullptr && !same_range(other->record, record)) return false;
  }
  evicted_.erase({record.kind, record.identity});
  Node& node = make_node(record.identity);
  if (segment) {
    node.parent = record.begin == 0 ? &roots_[record.model] : &make_node(record.parent);
    ++node.parent->lengths[record.end - record.begin];
  }
  bytes_ += on_disk(record.file_bytes);
  if (pending) pending_bytes_ += on_disk(record.file_bytes);
  ++entries_;
  (segment ? node.segment : node.snapshot) =
      std::make_unique<Entry>(Entry{std::move(record), pending});
  return true;
}

void StoreIndex::publish(const BlobKey& key) {
  const Node* at = node(key.identity);
  if (at == nullptr || !at->entry(key.kind)) return;
  Entry& entry = *at->entry(key.kind);
  if (std::exchange(entry.pending, false)) pending_bytes_ -= on_disk(entry.record.file_bytes);
}

// Takes the node's segment out of its parent's lengths.
void StoreIndex::detach(Node& node) {
  const BlobRecord& record = node.segment->record;
  const auto length = node.parent->lengths.find(record.end - record.begin);
  assert(length != node.parent->lengths.end());
  if (--length->second == 0) node.parent->lengths.erase(length);
  Node* parent = std::exchange(node.parent, nullptr);
  drop_if_empty(parent);
}

bool StoreIndex::erase(const BlobKey& key) {
  const auto found = nodes_.find(key.identity);
  if (found == nodes_.end()) return false;
  Node& node = found->second;
  const bool segment = key.kind == BlobKind::segment;
  std::unique_ptr<Entry>& entry = segment ? node.segment : node.snapshot;
  if (!entry) return false;
  if (segment) detach(node);
  bytes_ -= on_disk(entry->record.file_bytes);
  if (entry->pending) pending_bytes_ -= on_disk(entry->record.file_bytes);
  --entries_;
  entry.reset();
  drop_if_empty(&node);
  return true;
}

bool StoreIndex::evict(const BlobKey& key) {
  const BlobRecord* record = find(key);
  if (record == nullptr) return false;
  const EvictedBlob gone = evicted_blob(*record);
  erase(key);
  evicted_.add(gone);
  return true;
}

void StoreIndex::remember_evicted(const EvictedBlob& blob) {
  if (entry(blob.key) == nullptr) evicted_.add(blob);
}

void StoreIndex::clear() {
  evicted_.clear();
  nodes_.clear();
  roots_.clear();
  slots_.clear();
  bytes_ = pending_bytes_ = 0;
  entries_ = 0;
}

const BlobRecord* StoreIndex::find(const BlobKey& key) const {
  const Entry* found = entry(key);
  return found == nullptr ? nullptr : &found->record;
}

bool StoreIndex::published(const BlobKey& key) const {
  const Entry* found = entry(key);
  return found != nullptr && !found->pending;
}

bool StoreIndex::has_children(const Identity& identity) const {
  const Node* at = node(identity);
  return at != nullptr && !at->lengths.empty();
}

void StoreIndex::used(const std::vector<BlobKey>& keys, std::int64_t now) {
  for (const BlobKey& key : keys) {
    const Node* at = node(key.identity);
    if (at == nullptr || !at->entry(key.kind)) continue;
    BlobRecord& record = at->entry(key.kind)->record;
    record.last_used = std::max(record.last_used, now);
    if (record.uses < std::numeric_limits<std::uint32_t>::max()) ++record.uses;
  }
}

void StoreIndex::hold(const std::vector<BlobKey>& keys) {
  for (const BlobKey& key : keys) ++holds_[key];
}

bool StoreIndex::held(const BlobKey& key) const { return holds_.contains(key); }

void StoreIndex::release(const std::vector<BlobKey>& keys) {
  for (const BlobKey& key : keys) {
    const auto held = holds_.find(key);
    assert(held != holds_.end());
    if (--held->second == 0) holds_.erase(held);
  }
}

void StoreIndex::pin(const Identity& node) {
  if (std::find(pins_.begin(), pins_.end(), node) == pins_.end()) pins_.push_back(node);
}

void StoreIndex::unpin(const Identity& node) { std::erase(pins_, node); }

std::vector<BlobRecord> StoreIndex::records() const {
  std::vector<BlobRecord> records;
  records.reserve(entries_);
  for (const Node* node : slots_) {
    if (node->segment) records.push_back(node->segment->record);
    if (node->snapshot) records.push_back(node->snapshot->record);
  }
  return records;
}

// What pins keep: their nodes and all before them.
std::unordered_set<const StoreIndex::Node*> StoreIndex::pinned_nodes() const {
  std::unordered_set<const Node*> pinned;
  for (const Identity& pin : pins_) {
    for (const Node* at = node(pin); at != nullptr && !at->is_root() && pinned.insert(at).second;) {
      at = at->joined() ? at->parent : nullptr;
    }
  }
  return pinned;
}

std::vector<Place> StoreIndex::places() const {
  std::vector<Place> places(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Node& node = *slots_[i];
    Place& place = places[i];
    if (node.segment) {
      place.segment = &node.segment->record;
      place.segment_kept = node.segment->pending;
      if (node.joined()) place.parent = node.parent->slot;
    }
    if (node.snapshot) {
      place.snapshot = &node.snapshot->record;
      place.snapshot_kept = node.snapshot->pending;
    }
  }
  for (const auto& [key, count] : holds_) {
    if (const Node* held = node(key.identity)) {
      Place& place = places[held->slot];
      (key.kind == BlobKind::segment ? place.segment_kept : place.snapshot_kept) = true;
    }
  }
  for (const Node* pinned : pinned_nodes()) {
    places[pinned->slot].segment_kept = places[pinned->slot].snapshot_kept = true;
  }
  return places;
}

std::vector<CopiedPlace> StoreIndex::copy() const {
  const std::vector<Place> places = this->places();
  std::vector<CopiedPlace> copies(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    CopiedPlace& copy = copies[i];
    copy.place = places[i];
    if (const BlobRecord* segment = std::exchange(copy.place.segment, nullptr)) {
      copy.segment = *segment;
      copy.segment_pending = slots_[i]->segment->pending;
    }
    if (const BlobRecord* snapshot = std::exchange(copy.place.snapshot, nullptr)) {
      copy.snapshot = *snapshot;
      copy.snapshot_pending = slots_[i]->snapshot->pending;
    }
  }
  return copies;
}

std::vector<BlobKey> StoreIndex::eviction_order(std::uint64_t bytes, std::int64_t now) const {
  return eviction_order_of(places(), bytes, now);
}

std::vector<BlobKey> StoreIndex::unreachable() const { return unreachable_in(places()); }

}  // namespace samovar
