// Which earlier turn a turn goes on from. Pure; any thread; nothing fails. 256 candidates of 400
// messages each are looked through in a few milliseconds.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "explain/turn_shape.h"

namespace samovar {

// Index of the predecessor of `after` among `candidates` (oldest first), or nullopt: this is a
// conversation's first turn. Turns of the same session key come first, then those that share the
// most messages at the same places; the newest of equals. System messages do not count, so that
// something volatile in them hides nothing; nor does reasoning, nor white space.
[[nodiscard]] std::optional<std::size_t> pick_before(std::span<const TurnShape* const> candidates,
                                                     const TurnShape& after);

}  // namespace samovar
