// A ledger's record as JSON, for GET /v1/samovar/turns. Pure; any thread. docs/turns.md describes
// the fields.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "core/chat.h"
#include "ledger/turn_record.h"

namespace samovar {

// Without reply and texts.
[[nodiscard]] nlohmann::ordered_json turn_json(const TurnRecord& turn);

// An assistant message as chat completions have it.
[[nodiscard]] nlohmann::ordered_json message_json(const ChatMessage& message);

// "a,b" as ["a","b"].
[[nodiscard]] nlohmann::ordered_json word_list(const std::string& words);

// A kept chat completion as it was answered once. `message` is the reply.
[[nodiscard]] nlohmann::ordered_json completion_json(const TurnRecord& turn,
                                                     nlohmann::ordered_json message);

}  // namespace samovar
