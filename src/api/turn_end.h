// What a dialect does when a reply is complete: tells the recorder what went out, and gets the
// `timings` object with everything there is to say of the turn. Blocks for no longer than it takes
// to parse the reply once.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "core/chat.h"
#include "core/turn.h"
#include "turn/turn_records.h"

namespace samovar {

// `recorder` may be null: then the figures alone.
[[nodiscard]] nlohmann::ordered_json end_of_turn(const TurnFinished& event, const char* finish,
                                                 const ChatMessage& message,
                                                 TurnRecorder* recorder);

}  // namespace samovar
