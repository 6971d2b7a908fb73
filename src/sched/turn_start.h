// What a turn reports when it is admitted, be it a request or a re-warm. Pure; the engine thread's.
#pragma once

#include "core/turn.h"
#include "prefix/planner.h"

namespace samovar {

// Puts into `timings` what the plan reuses; the event says the same.
[[nodiscard]] TurnStarted start_of(const Plan& plan, const ReuseFacts& facts, TurnTimings& timings);

}  // namespace samovar
