// StoreIndex: what the store holds, in memory: a forest of prefixes. A node is a place where a
// prefix was cut; its segment reaches back to its parent, and a snapshot may stand on it. Finding
// the longest usable prefix of a prompt walks from the root by hashing, never touching the disk.
//
// A checkpoint is offered only if its whole chain is published (S3): every segment back to token 0
// and, for models that need one, the snapshot. Pending files (being written) count as covered, so
// that nothing is written twice, and are never offered.
//
// Holds entries of all models in the directory, because all count against the budget (S6).
// Not thread-safe: Store guards it. Every operation is O(1) or O(chain) but for eviction_order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "core/anchor_kind.h"
#include "core/tokens.h"
#include "store/blob_format.h"
#include "store/identity.h"

namespace samovar {

// One file: what its header says and how it has been used. What the catalog keeps.
struct BlobRecord {
  BlobKind kind = BlobKind::segment;
  Fingerprint model;
  Identity identity;
  Identity parent;
  Position begin = 0;
  Position end = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t file_bytes = 0;  // header included
  AnchorKind anchor = AnchorKind::message;
  bool canonical = false;
  SessionId session;
  Micros cost = 0;             // engine time to compute [begin, end) again
  std::int64_t created = 0;    // wall seconds
  std::int64_t last_used = 0;  // wall seconds
  std::uint32_t uses = 0;      // restores
  std::string label;

  bool operator==(const BlobRecord&) const = default;
};

struct BlobKey {
  BlobKind kind = BlobKind::segment;
  Identity identity;
  bool operator==(const BlobKey&) const = default;
  auto operator<=>(const BlobKey&) const = default;
};

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
  // Bytes count from now on, pending or not. An entry that is there already stays as it is (false).
  bool add(BlobRecord record, bool pending);
  void publish(const BlobKey& key);  // pending -> published
  bool erase(const BlobKey& key);    // false: not there
  void clear();

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
  [[nodiscard]] std::size_t entries() const { return records_.size(); }
  [[nodiscard]] std::vector<BlobRecord> records() const;  // a copy, in no order

  // What to remove, in this order, so that at least `bytes` become free (S6): see eviction.cc.
  // Never what is held, pinned or pending. `needs_snapshot`: how each model resumes; unknown ones
  // are taken to need one if any of their entries is a snapshot.
  [[nodiscard]] std::vector<BlobKey> eviction_order(std::uint64_t bytes, std::int64_t now) const;

  // Published segments whose chain is broken, and snapshots without their segment: nothing can ever
  // match them (S5).
  [[nodiscard]] std::vector<BlobKey> unreachable() const;

  // Snapshots that the newer snapshot at `tip` makes superfluous: of the same session, before it on
  // its chain, tips (history or reply ends) themselves, no branch leaves from them, and nearer than
  // `spacing` tokens to the snapshot before. Called after tip is published.
  [[nodiscard]] std::vector<BlobKey> superseded_by(const Identity& tip, Position spacing) const;

 private:
  struct Entry {
    BlobRecord record;
    bool pending = false;
    int holds = 0;
  };
  std::map<BlobKey, Entry> records_;  // implementation is free to choose other containers
  std::vector<Identity> pins_;
  std::uint64_t bytes_ = 0;
};

}  // namespace samovar
