// StorePicture: what the store holds of one model and what would leave it next, as a value: for
// people who look, never for deciding. Any thread. Store::picture() makes it: the index is copied
// under its lock, all else happens outside.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/anchor_kind.h"
#include "core/tokens.h"
#include "store/blob_record.h"
#include "store/eviction.h"
#include "store/identity.h"

namespace samovar {

// The end of a segment, with what stands there. Its chain reaches back to token 0.
struct StoredPlace {
  Identity identity;
  Identity parent;  // root if begin == 0
  Position begin = 0;
  Position end = 0;
  std::uint64_t bytes = 0;                  // of the segment's file on disk
  std::uint64_t snapshot_bytes = 0;         // of the snapshot's; 0: there is none
  AnchorKind anchor = AnchorKind::message;  // of the snapshot, else of the segment
  SessionId session;                        // that wrote it
  std::int64_t last_used = 0;               // wall seconds
  std::uint32_t hits = 0;                   // restores
  bool pinned = false;                      // or needed by a restore that runs
  bool writing = false;                     // segment or snapshot is not on disk yet
};

struct StorePicture {
  Fingerprint model;
  bool needs_snapshot = false;       // the model resumes at snapshots only
  std::vector<StoredPlace> places;   // a parent before its children
  std::vector<Identity> evict_next;  // of places, at most kEvictNextMax: what goes first
};

// So many places are told in the order in which they would go.
inline constexpr std::size_t kEvictNextMax = 64;

// One node of the index, copied. `place` is without its records.
struct CopiedPlace {
  std::optional<BlobRecord> segment;
  std::optional<BlobRecord> snapshot;
  Place place;
  bool segment_pending = false;
  bool snapshot_pending = false;
};

// Pure. `copies` is a whole index, of all models: they share the budget. `now`: wall seconds.
[[nodiscard]] StorePicture make_picture(const std::vector<CopiedPlace>& copies,
                                        const Fingerprint& model, bool needs_snapshot,
                                        std::int64_t now);

}  // namespace samovar
