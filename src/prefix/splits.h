// Canonical splits: where a prompt is cut into engine calls.
//
// Where a prompt is cut changes the bits of the recurrent state (and of the attention sums). So the
// cuts are a pure function of the token prefix, whether or not anything is saved or resumed: two
// prompts that share a prefix share its cuts, and a prompt resumed at a cut computes exactly what
// it would have computed cold.
//
// The rule, from left to right: cut where a reply of the model begins (the end of some turn's
// history: where follow-ups resume); cut where another message starts, unless the previous cut is
// closer than `spacing`; and cut `ubatch` tokens after the previous cut at the latest. Without the
// spacing, a chat of short messages would be computed in tiny pieces. A follow-up recomputes the
// generation primer; an edit of a message also what lies between it and the last cut, at most
// spacing - 1 tokens.
#pragma once

#include <vector>

#include "core/prompt.h"
#include "core/tokens.h"

namespace samovar {

// The cuts of `prompt`, ascending, each in [1, prompt.size()]. The prompt's end is not a cut unless
// the rule puts one there.
std::vector<Position> canonical_cuts(const Prompt& prompt, Position ubatch, Position spacing);

// The largest cut <= limit; 0 if there is none.
Position last_cut_at(const std::vector<Position>& cuts, Position limit);

// Where the engine call that begins at `position` ends: the next cut, at most `ubatch` tokens on
// and never beyond `size`. `position` may lie between cuts (after a reply that was decoded token by
// token).
Position call_end(const std::vector<Position>& cuts, Position position, Position size,
                  Position ubatch);

}  // namespace samovar
