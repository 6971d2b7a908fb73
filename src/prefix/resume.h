// Where a prompt can go on from what is resident, and what a sequence is worth. What the planners
// (planner.h, rewarm_plan.h) have in common. Pure; any thread.
#pragma once

#include <vector>

#include "prefix/planner.h"

namespace samovar {

struct Resume {
  const ResidentView* resident = nullptr;
  Position matched = 0;   // tokens shared with it
  Position position = 0;  // where to go on; 0: nothing worth reusing
  bool live = false;      // at the sequence's end: nothing to restore
  bool canonical = true;
  SnapshotPtr snapshot;
};

// What a resume point is looked for in.
struct ResumeInput {
  const Prompt& prompt;
  const std::vector<Position>& cuts;  // canonical_cuts(prompt)
  RewindKind rewind = RewindKind::anywhere;
  const Anchors& anchors;
  Position limit = 0;  // the last position to resume at
};

// The best place to resume the prompt from what `resident` holds.
[[nodiscard]] Resume find_resume(const ResumeInput& input, const ResidentView& resident);

// Orders resume points: more tokens reused first; then live, then the sequence whose tail is
// cheaper to lose, then the lower id, so that equal inputs give equal plans.
[[nodiscard]] bool better(const Resume& a, const Resume& b);

// Tokens that would have to be computed again if the sequence went x likelihood of use.
[[nodiscard]] double value_of(const ResidentView& resident);

// A free sequence; nullptr: none.
[[nodiscard]] const ResidentView* find_empty(const std::vector<ResidentView>& residents);

// The idle sequence worth least, other than `except` and those already in `gone`.
[[nodiscard]] const ResidentView* least_valuable(const std::vector<ResidentView>& residents,
                                                 SeqId except, const std::vector<SeqId>& gone);

}  // namespace samovar
