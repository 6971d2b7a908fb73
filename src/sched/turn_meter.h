// From what the engine thread knows of a turn to what the metrics count of it. Pure; any thread.
#pragma once

#include "base/result.h"
#include "core/turn.h"
#include "obs/meter.h"

namespace samovar {

[[nodiscard]] EndedTurn ended_turn(const TurnTimings& timings, TurnEnd end);

// How a turn that failed with `error` ended.
[[nodiscard]] TurnEnd end_of(const Error& error);

// Why a turn was refused with `error`.
[[nodiscard]] Refusal refusal_of(const Error& error);

}  // namespace samovar
