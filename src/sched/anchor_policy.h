// Which canonical cuts of a prompt become anchors. Pure.
//
// Anchors follow meaning: the end of system and tools, message starts, the end of the history
// before the generation primer; and a coarse grid under long messages. Where a message start is no
// cut, the last cut before it stands for it. Message starts are taken densely while the budget
// allows: `spacing` is the distance at which this prompt's anchors fill half of it. The start of
// the last message that is no reply is taken always: what clients add to their newest message
// (reminders, the time) is gone from there in the next turn.
//
// Learned: a place that was seen to change is told by learn().
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/prompt.h"
#include "prefix/anchors.h"

namespace samovar {

class AnchorPolicy {
 public:
  // `grid`: tokens between anchors where there is no structure; 0: none there. `snapshot_bytes` 0:
  // no anchors.
  AnchorPolicy(const Prompt& prompt, const std::vector<Position>& cuts, Position grid,
               std::size_t snapshot_bytes, std::size_t budget_bytes);

  // The region after `cut` was seen to change between turns.
  void learn(Position cut) { divergence_cut_ = cut; }

  // Whether to take an anchor now that the sequence ends at `position`, the newest anchor before it
  // being at `previous` (0: none).
  [[nodiscard]] std::optional<AnchorKind> at(Position position, Position previous) const;

 private:
  bool enabled_ = false;
  Position grid_ = 0;
  Position spacing_ = 0;
  Position system_cut_ = 0;
  Position history_cut_ = 0;
  Position question_cut_ = 0;           // the last message that is no reply
  Position divergence_cut_ = 0;         // 0: none is known
  Position last_cut_ = 0;               // calls that end before it end at a cut
  std::vector<Position> message_cuts_;  // ascending
};

}  // namespace samovar
