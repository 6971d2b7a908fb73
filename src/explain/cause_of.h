// The class of an explanation, from where two prompts part and what was lost. Private to explain().
// Pure; any thread; nothing fails.
#pragma once

#include "explain/cause.h"
#include "explain/departure.h"
#include "explain/loss.h"

namespace samovar {

[[nodiscard]] Cause cause_of(const Comparison& comparison, const Departure& departure,
                             const Loss& loss);

// The turn before asked for a reply and got one, for all that is known, and the next message is
// another user message.
[[nodiscard]] bool reply_is_missing(const Comparison& comparison);

}  // namespace samovar
