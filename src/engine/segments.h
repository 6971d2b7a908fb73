// SegmentPort: sequences as bytes and back, for a store. Kept apart from Engine, which needs none
// of it.
//
// A segment is the K/V rows of a token range of one sequence. A sequence comes back by importing
// its segments in order from token 0 and then, for models that need one, rewinding it to its own
// length with a snapshot of that position; until then it is not usable. Bytes are opaque, hold no
// identity and no checksum: the caller verifies both before they come here. Implemented by
// LlamaEngine; engine thread only. A failed import leaves the sequence as it was, and the engine
// has made sure that it still computes.
#pragma once

#include <cstddef>
#include <functional>

#include "base/buffer_pool.h"
#include "base/bytes.h"
#include "base/result.h"
#include "core/tokens.h"
#include "engine/engine.h"

namespace samovar {

class SegmentPort {
 public:
  virtual ~SegmentPort() = default;

  // Memory of the given size for a segment's bytes; an empty span refuses.
  using Room = std::function<MutableBytes(std::size_t bytes)>;

  // Tokens [begin, end) of the sequence, into what `room` gives, which is asked once; costs
  // O(end - begin), whatever the sequence's length. Fails if there is no room.
  virtual Status export_segment(SeqId sequence, Position begin, Position end, const Room& room) = 0;

  // Appends the tokens [begin, end) that `segment` was exported from; `begin` must be the
  // sequence's length.
  virtual Status import_segment(SeqId sequence, Position begin, Position end, Bytes segment) = 0;

  // A snapshot's bytes, valid as long as it; and a snapshot made of such bytes.
  // Null if there is no memory for it.
  [[nodiscard]] virtual Bytes snapshot_bytes(const Snapshot& snapshot) const = 0;
  virtual SnapshotPtr make_snapshot(Position position, Bytes bytes) = 0;

  // The same, keeping the buffer's memory instead of copying it.
  virtual SnapshotPtr adopt_snapshot(Position position, Buffer bytes) {
    return make_snapshot(position, bytes.bytes());
  }
};

}  // namespace samovar
