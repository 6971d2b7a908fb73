// Where a prompt's K/V is cut into segments for the store. Like the canonical cuts, of which they
// are a part, the ends are a pure function of the token prefix, so sessions that share a prefix
// share its segments: the end of system and tools, every place where a reply begins (where
// follow-ups resume), and, under long messages, the first cut that is `stride` tokens on.
#pragma once

#include <vector>

#include "core/prompt.h"
#include "core/tokens.h"

namespace samovar {

// Ascending, a subset of `cuts` (canonical_cuts(prompt)).
std::vector<Position> segment_ends(const Prompt& prompt, const std::vector<Position>& cuts,
                                   Position stride);

}  // namespace samovar
