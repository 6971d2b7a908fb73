// What leaves the store when it must shrink, and in which order (S6). Pure functions over a picture
// of the index; any thread. O(n log n).
//
// A checkpoint is what can be given up: a snapshot, or, for models that keep no snapshots, a
// segment with nothing behind it. What it is worth:
//
//   (cost of computing again from the next-shorter checkpoint) x likelihood of use / bytes freed
//
// Giving up the last checkpoint that needs a segment frees the segment too, so shared segments
// weigh on nobody until one checkpoint alone needs them. All three figures change as checkpoints
// go, and the order follows them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "store/blob_record.h"

namespace samovar {

// A node of the index, for deciding. `parent` is where the segment begins; kLost without a segment.
struct Place {
  using Index = std::uint32_t;
  static constexpr Index kRoot = std::numeric_limits<Index>::max();
  static constexpr Index kLost = kRoot - 1;

  const BlobRecord* segment = nullptr;
  const BlobRecord* snapshot = nullptr;
  Index parent = kLost;
  // Held, pinned or pending: it stays, and every segment before it.
  bool segment_kept = false;
  bool snapshot_kept = false;
};

// Blobs whose segments do not reach back to token 0: nothing can match them (S3, S5). Longest
// first.
[[nodiscard]] std::vector<BlobKey> unreachable_in(const std::vector<Place>& places);

// What to remove to free at least `bytes`, in an order of which every beginning leaves whole
// chains. All that may go, if that is less.
[[nodiscard]] std::vector<BlobKey> eviction_order_of(const std::vector<Place>& places,
                                                     std::uint64_t bytes, std::int64_t now);

}  // namespace samovar
