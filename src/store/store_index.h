// StoreIndex: what the store holds, in memory: a forest of prefixes. A node is a place where a
// prefix was cut; its segment reaches back to its parent, and a snapshot may stand on it. Finding
// the longest usable prefix of a prompt walks from the root by hashing, never touching the disk.
//
// A checkpoint is offered only if its whole chain is published (S3): every segment back to token 0
// and, for models that need one, the snapshot. Pending files (being written) count as covered, so
// that nothing is written twice, and are never offered.
//
// Holds entries of all models in the directory, because all count against the budget (S6).
// Not thread-safe: Store guards it. Operations are O(1) or O(chain), a walk along a prompt hashes
// from each matching node to the end of its longest child that fits, and records, eviction_order
// and unreachable look at everything.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "core/anchor_kind.h"
#include "core/tokens.h"
#include "store/blob_format.h"
#include "store/blob_record.h"
#include "store/evicted_chains.h"
#include "store/eviction.h"
#include "store/identity.h"
#include "store/store_picture.h"

namespace samovar {

// A resume point and everything it needs, segments in order from token 0.
struct StoredChain {
  Position position = 0;  // tokens it brings back
  std::vector<BlobRecord> segments;
  std::optional<BlobRecord> snapshot;
  std::uint64_t bytes = 0;  // payloads

  [[nodiscard]] std::vector<BlobKey> keys() const;
};

// How far the segments along some tokens reach, pending ones included.
struct StoredCover {
  Position until = 0;
  Identity node;  // root if until == 0
};

class StoreIndex {
 public:
  // Bytes count from now on, pending or not. An entry that is there already stays as it is (false);
  // one that cannot be true (an empty range, or not that of the other blob of its node) is refused.
  bool add(BlobRecord record, bool pending);
  void publish(const BlobKey& key);  // pending -> published
  bool erase(const BlobKey& key);    // false: not there
  bool evict(const BlobKey& key);    // the same, and it is remembered that it had to make room
  void clear();

  // Evicted in an earlier life. What is there again is not remembered.
  void remember_evicted(const EvictedBlob& blob);

  // What the longest checkpoint of `tokens` with position <= limit would be, had nothing that is
  // remembered been evicted; 0: no longer than what is there.
  [[nodiscard]] Position evicted(const Fingerprint& model, TokenSpan tokens, Position limit,
                                 bool needs_snapshot) const;

  [[nodiscard]] const BlobRecord* find(const BlobKey& key) const;  // pending ones too
  [[nodiscard]] bool published(const BlobKey& key) const;
  [[nodiscard]] bool has_children(const Identity& identity) const;  // segments or pending ones

  // The longest usable checkpoint of `tokens` with position <= limit. With `needs_snapshot` it ends
  // at a snapshot, else at any segment's end. With two of one length: the one read before.
  [[nodiscard]] std::optional<StoredChain> longest(const Fingerprint& model, TokenSpan tokens,
                                                   Position limit, bool needs_snapshot) const;

  // The snapshots along `tokens` (published or pending), ascending positions; and how far segments
  // reach. What a writer needs to know to write only what is missing.
  [[nodiscard]] StoredCover cover(const Fingerprint& model, TokenSpan tokens) const;
  [[nodiscard]] std::vector<Position> snapshots(const Fingerprint& model, TokenSpan tokens) const;
  // The node at exactly `position` along `tokens` whose chain is complete, pending included.
  [[nodiscard]] std::optional<Identity> node_at(const Fingerprint& model, TokenSpan tokens,
                                                Position position) const;

  // --- use ---
  void used(const std::vector<BlobKey>& keys, std::int64_t now);  // a restore succeeded
  void hold(const std::vector<BlobKey>& keys);     // a running restore needs them: not evicted
  void release(const std::vector<BlobKey>& keys);  // counted; held twice must be released twice
  [[nodiscard]] bool held(const BlobKey& key) const;
  void pin(const Identity& node);  // the node and all before it stay
  void unpin(const Identity& node);
  [[nodiscard]] const std::vector<Identity>& pins() const { return pins_; }

  // --- size ---
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }  // on disk, in blocks of 4096
  [[nodiscard]] std::uint64_t pending_bytes() const { return pending_bytes_; }  // of those
  [[nodiscard]] std::size_t entries() const { return entries_; }
  [[nodiscard]] std::vector<BlobRecord> records() const;  // a copy, in no order
  [[nodiscard]] std::vector<CopiedPlace> copy() const;    // of all nodes, for a StorePicture

  // What to remove, in this order, so that at least `bytes` become free (S6): see eviction.cc.
  // Never what is held, pinned or pending. `needs_snapshot`: how each model resumes; unknown ones
  // are taken to need one if any of their entries is a snapshot.
  [[nodiscard]] std::vector<BlobKey> eviction_order(std::uint64_t bytes, std::int64_t now) const;

  // Published segments whose chain is broken, and snapshots without their segment: nothing can ever
  // match them (S5).
  [[nodiscard]] std::vector<BlobKey> unreachable() const;

  // Snapshots that the newer snapshot at `tip` makes superfluous: of the same session, before it on
  // its chain, tips (history or reply ends) themselves, no branch leaves from them, and nearer than
  // `spacing` tokens to the snapshot before. The end of a reply spares the end of its own history:
  // the next turn shows which of them it goes on from. Called after tip is published.
  [[nodiscard]] std::vector<BlobKey> superseded_by(const Identity& tip, Position spacing) const;

 private:
  struct Entry {
    BlobRecord record;
    bool pending = false;
  };
  // A place where a prefix was cut. Lives as long as an entry stands on it or a segment begins at
  // it; `parent` and a count in the parent's `lengths` go with the segment.
  struct Node {
    Identity identity;
    Place::Index slot = Place::kRoot;
    Node* parent = nullptr;  // null without a segment
    std::unique_ptr<Entry> segment;
    std::unique_ptr<Entry> snapshot;
    std::map<Position, std::uint32_t> lengths;  // of its children, with how many have it

    [[nodiscard]] bool is_root() const { return slot == Place::kRoot; }
    [[nodiscard]] bool joined() const;  // its segment begins where the parent's ends
    [[nodiscard]] const std::unique_ptr<Entry>& entry(BlobKind kind) const {
      return kind == BlobKind::segment ? segment : snapshot;
    }
  };
  // A node found along some tokens, and the step it was reached from.
  struct Step {
    const Node* node = nullptr;
    std::size_t before = 0;
    Position position = 0;
  };
  enum class Use { offer, plan };  // plan: pending segments count as well

  [[nodiscard]] const Node* node(const Identity& identity) const;
  [[nodiscard]] const Entry* entry(const BlobKey& key) const;
  Node& make_node(const Identity& identity);
  void drop_if_empty(Node* node);
  void detach(Node& node);
  [[nodiscard]] std::vector<Step> walk(const Fingerprint& model, TokenSpan tokens, Position until,
                                       Use use) const;
  void explore(std::vector<Step>& steps, std::size_t from, const Fingerprint& model,
               TokenSpan tokens, Use use) const;
  [[nodiscard]] std::unordered_set<const Node*> pinned_nodes() const;
  [[nodiscard]] std::vector<Place> places() const;

  std::unordered_map<Identity, Node, IdentityHash> nodes_;
  std::unordered_map<Fingerprint, Node, IdentityHash> roots_;  // one for each model
  std::vector<Node*> slots_;                                   // nodes_, dense: see places()
  std::map<BlobKey, int> holds_;  // outlive their entries: a quarantined one may come back
  std::vector<Identity> pins_;
  EvictedChains evicted_;
  std::uint64_t bytes_ = 0;
  std::uint64_t pending_bytes_ = 0;
  std::size_t entries_ = 0;
};

}  // namespace samovar
