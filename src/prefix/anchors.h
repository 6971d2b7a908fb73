// Anchors: the snapshots that a resident sequence can go back to, under one byte budget.
//
// An anchor is useful only while the K/V of its prefix is resident, so it lives and dies with its
// sequence; forked sequences share the snapshots of their common prefix, and shared bytes are
// counted once.
//
// Thinning. When the budget is exceeded, the anchor goes whose loss costs least: the distance to
// the anchor before it (the tokens that a rewind to it would have to compute again) times how
// likely its sequence is to be asked for. The anchor at the end of system and tools, one before a
// region that is known to change, and the newest one of a sequence go last, and those of a running
// sequence never.
//
// Forgetting. A divergence anchor that so many resumptions of its sequence had no use for is an
// ordinary one from then on.
//
// Used by the engine thread only.
#pragma once

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <vector>

#include "core/anchor_kind.h"
#include "core/tokens.h"
#include "engine/engine.h"

namespace samovar {

struct Anchor {
  Position position = 0;
  AnchorKind kind = AnchorKind::message;
  SnapshotPtr snapshot;
  int unused = 0;  // resumptions since a divergence anchor was last of use
};

class Anchors {
 public:
  Anchors(int sequences, std::size_t budget_bytes);

  [[nodiscard]] const std::vector<Anchor>& of(SeqId sequence) const;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t budget() const { return budget_; }
  // Snapshots, each once however many sequences share it.
  [[nodiscard]] std::size_t snapshots() const { return holders_.size(); }

  // The anchor with the largest position <= limit, or nullptr. Valid until the next change.
  [[nodiscard]] const Anchor* best(SeqId sequence, Position limit) const;
  [[nodiscard]] const Anchor* at(SeqId sequence, Position position) const;

  // Adds in position order; an anchor already there is kept (its kind may be raised).
  void add(SeqId sequence, Anchor anchor);
  void truncate(SeqId sequence, Position position);  // drops anchors beyond `position`
  // A turn resumes at `position` of the sequence.
  void note_resume(SeqId sequence, Position position);
  void fork(SeqId source, SeqId target, Position position);

  // Drops a snapshot from every sequence: it could not be restored and is never tried again.
  void forget(const Snapshot* snapshot);

  // Drops anchors until the budget holds. `weight(sequence)`: how likely the sequence is to be
  // used, > 0; `running(sequence)`: its guarded anchors are kept. Returns the number dropped.
  int thin(const std::function<double(SeqId)>& weight, const std::function<bool(SeqId)>& running);

 private:
  void hold(const SnapshotPtr& snapshot);
  void release(const SnapshotPtr& snapshot);
  [[nodiscard]] const Snapshot* cheapest(const std::function<double(SeqId)>& weight,
                                         const std::function<bool(SeqId)>& running,
                                         bool protected_too) const;

  std::vector<std::vector<Anchor>> sequences_;
  std::unordered_map<const Snapshot*, int> holders_;
  std::size_t bytes_ = 0;
  std::size_t budget_ = 0;
};

}  // namespace samovar
