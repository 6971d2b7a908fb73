// Where a re-warm (TurnKind::rewarm) goes on from and where it runs, or that it does not. A pure
// function, like the planner (planner.h), but a guest: a re-warm is worth the tokens that it saves
// a later turn times how likely that is, and nothing goes for it that is worth more.
//
// - Where a sequence ends in what the prompt begins with, it is extended.
// - Else the sequence that shares most is forked, so that both lines stay. Only what an earlier
//   re-warm left, and no turn has gone on in, is rewound or replaced: a newer reply made a better
//   one.
// - A sequence to fork into is one of several free ones; or the last free one, if the next turn
//   that needs one would find something worth less than the re-warm, or the re-warm itself; or one
//   that is worth less. What goes, now or then, is stored already, or is a spare line. The line it
//   forks never goes.
// - An eighth of the cells stays free for the next turn.
// - No room, nothing to go on from, something running: no plan.
#pragma once

#include <optional>
#include <vector>

#include "prefix/planner.h"

namespace samovar {

struct RewarmInput {
  const Prompt& prompt;
  Position until = 0;  // tokens of it to have in memory: a canonical cut
  const std::vector<Position>& cuts;
  RewindKind rewind = RewindKind::anywhere;
  const std::vector<ResidentView>& residents;  // one per sequence, by id
  const Anchors& anchors;
  const CellLedger& cells;
  Position reply_reserve = 1;
};

// prompt_tokens of the plan is `until`. A plan that computes nothing says that all is there.
[[nodiscard]] std::optional<Plan> make_rewarm_plan(const RewarmInput& input);

// How much likelier a line is to be used while it has no twin.
inline constexpr double kTwinWeight = 0.5;

}  // namespace samovar
