// The body of POST /v1/messages (Anthropic's Messages API), checked and translated. Unknown fields
// are accepted, null counts as absent; what cannot be honoured is refused with the field's path and
// the remedy. docs/messages.md says how each part is understood. Pure; any thread.
// Format: https://docs.anthropic.com/en/api/messages
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/dialect_request.h"
#include "api/json_fields.h"
#include "api/message_memo.h"
#include "base/result.h"

namespace samovar {

// The field with which Anthropic's SDK asks the server to keep the conversation. Refused with what
// makes the SDK send all messages itself (messages_api.cc).
inline constexpr const char* kThreadField = "thread";

// Errors: invalid_argument (field and remedy filled), too_large (body above
// limits::body_bytes_max). With a memo, used for this dialect alone, only messages that are not in
// it are parsed, for the same result.
[[nodiscard]] Result<DialectRequest> parse_messages_request(std::string_view body,
                                                            const ChatDefaults& defaults,
                                                            MessageMemo* memo = nullptr);

// --- its two halves (messages_blocks.cc, messages_tools.cc) ---------------------------------

// One element of `messages`: a message for the tool results, another for what the user says.
[[nodiscard]] ParsedMessages read_blocks_message(const JsonObject& fields);

// `system`, a string or text blocks; empty if there is none.
[[nodiscard]] std::string read_system(const JsonObject& body);

void read_messages_tools(const JsonObject& body, ChatRequest& chat);

}  // namespace samovar
