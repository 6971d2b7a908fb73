// The x-samovar-* headers of a response, which tell the client what its turn reused, and what broke
// its prefix. No text of prompt or reply is in them. docs/turns.md describes them. Pure.
#pragma once

#include <optional>

#include "api/http_types.h"
#include "core/turn.h"
#include "turn/turn_records.h"

namespace samovar {

// Appends them. `prompt`, `reused`: of a turn that has been admitted; nullopt: not known yet.
void add_turn_headers(const TurnReport& report, const std::optional<TurnStarted>& started,
                      Headers& headers);

}  // namespace samovar
