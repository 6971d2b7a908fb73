// The body of POST /v1/chat/completions, checked and translated. Unknown fields are accepted, null
// counts as absent, wrong types and out-of-range values are refused with the field's path
// ("messages[2].content[1].type") and the remedy. No model is needed; any thread may call it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/dialect_request.h"
#include "base/result.h"

namespace samovar {

class MessageMemo;

struct ChatCompletionRequest : DialectRequest {
  StreamExtras extras;
};

// The body of POST /v1/samovar/turns/{id}/continue: the same without a conversation; may be empty.
[[nodiscard]] Result<ChatCompletionRequest> parse_continue_request(std::string_view body,
                                                                   const ChatDefaults& defaults);

// Errors: invalid_argument (field and remedy filled), too_large (body above
// limits::body_bytes_max). With a memo only messages that are not in it are parsed, for the same
// result.
[[nodiscard]] Result<ChatCompletionRequest> parse_chat_request(std::string_view body,
                                                               const ChatDefaults& defaults,
                                                               MessageMemo* memo = nullptr);

}  // namespace samovar
