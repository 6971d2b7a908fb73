// Finding prefixes: from the root, along the tokens, by hashing. Segments of one prefix may be cut
// differently by different turns, so several children may match, and all are explored; every path
// is a chain whose parts are all there (S3).
#include <algorithm>
#include <tuple>
#include <utility>

#include "store/store_index.h"

namespace samovar {
namespace {

// Of two checkpoints at one position: the one used last is likeliest to be in the page cache.
auto rank(const BlobRecord& record, Position position) {
  return std::tuple(position, record.last_used, record.uses, record.identity);
}

StoredChain chain_to(const std::vector<BlobRecord>& deepest_first, Position position) {
  StoredChain chain;
  chain.position = position;
  chain.segments.assign(deepest_first.rbegin(), deepest_first.rend());
  for (const BlobRecord& segment : chain.segments) chain.bytes += segment.payload_bytes;
  return chain;
}

}  // namespace

// Appends the children of steps[from] that match: one run of the hash, a look-up at every length.
void StoreIndex::explore(std::vector<Step>& steps, std::size_t from, const Fingerprint& model,
                         TokenSpan tokens, Use use) const {
  const auto [parent, before, begin] = steps[from];
  const TokenSpan rest = tokens.subspan(static_cast<std::size_t>(begin));
  if (parent->lengths.empty() ||
      static_cast<std::size_t>(parent->lengths.begin()->first) > rest.size()) {
    return;
  }
  PrefixHasher hasher(model, parent->identity);
  std::size_t hashed = 0;
  for (const auto& [length, count] : parent->lengths) {
    const auto size = static_cast<std::size_t>(length);
    if (size > rest.size()) return;
    hasher.append(rest.subspan(hashed, size - hashed));
    hashed = size;
    const Node* child = node(hasher.identity());
    if (child == nullptr || child->parent != parent || !child->joined()) continue;
    if (child->segment->pending && use == Use::offer) continue;
    steps.push_back({child, from, begin + length});
  }
}

// Every node along `tokens` up to `until` whose chain is there; the root is first.
std::vector<StoreIndex::Step> StoreIndex::walk(const Fingerprint& model, TokenSpan tokens,
                                               Position until, Use use) const {
  const auto root = roots_.find(model);
  if (root == roots_.end() || until <= 0) return {};
  const auto most = std::min(tokens.size(), static_cast<std::size_t>(until));
  std::vector<Step> steps{{&root->second, 0, 0}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    explore(steps, i, model, tokens.first(most), use);
  }
  return steps;
}

std::optional<StoredChain> StoreIndex::longest(const Fingerprint& model, TokenSpan tokens,
                                               Position limit, bool needs_snapshot) const {
  const std::vector<Step> steps = walk(model, tokens, limit, Use::offer);
  const BlobKind kind = needs_snapshot ? BlobKind::snapshot : BlobKind::segment;
  const Step* best = nullptr;
  const BlobRecord* stands = nullptr;  // at the end of the best
  for (const Step& step : steps) {
    const Entry* entry = step.node->entry(kind).get();
    if (entry == nullptr || entry->pending) continue;
    if (best != nullptr && rank(entry->record, step.position) <= rank(*stands, best->position)) {
      continue;
    }
    best = &step;
    stands = &entry->record;
  }
  if (best == nullptr) return std::nullopt;
  std::vector<BlobRecord> segments;
  for (const Step* at = best; !at->node->is_root(); at = &steps[at->before]) {
    segments.push_back(at->node->segment->record);
  }
  StoredChain chain = chain_to(segments, best->position);
  if (needs_snapshot) {
    chain.snapshot = *stands;
    chain.bytes += stands->payload_bytes;
  }
  return chain;
}

StoredCover StoreIndex::cover(const Fingerprint& model, TokenSpan tokens) const {
  StoredCover cover;
  for (const Step& step : walk(model, tokens, static_cast<Position>(tokens.size()), Use::plan)) {
    if (step.position > cover.until) cover = {step.position, step.node->identity};
  }
  return cover;
}

Position StoreIndex::evicted(const Fingerprint& model, TokenSpan tokens, Position limit,
                             bool needs_snapshot) const {
  if (evicted_.empty() || limit <= 0) return 0;
  std::vector<EvictedChains::Stand> known;
  for (const Step& step : walk(model, tokens, limit, Use::plan)) {
    known.push_back({step.node->identity, step.position});
  }
  if (known.empty()) known.emplace_back();  // of this model nothing is left
  const auto most = std::min(tokens.size(), static_cast<std::size_t>(limit));
  const auto chain = longest(model, tokens, limit, needs_snapshot);
  const Position reach =
      evicted_.reach(model, tokens.first(most), std::move(known), needs_snapshot);
  return chain && chain->position >= reach ? 0 : reach;
}

std::vector<Position> StoreIndex::snapshots(const Fingerprint& model, TokenSpan tokens) const {
  std::vector<Position> positions;
  for (const Step& step : walk(model, tokens, static_cast<Position>(tokens.size()), Use::plan)) {
    if (step.node->snapshot) positions.push_back(step.position);
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

// With two at one position: the one that has a snapshot.
std::optional<Identity> StoreIndex::node_at(const Fingerprint& model, TokenSpan tokens,
                                            Position position) const {
  const Node* found = nullptr;
  for (const Step& step : walk(model, tokens, position, Use::plan)) {
    if (step.position != position || step.node->is_root()) continue;
    if (found == nullptr || (step.node->snapshot && !found->snapshot)) found = step.node;
  }
  return found == nullptr ? std::nullopt : std::optional(found->identity);
}

}  // namespace samovar
