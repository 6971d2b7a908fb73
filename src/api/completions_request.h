// The body of POST /v1/completions, checked and translated: text that goes on, without a chat
// template. As parse_chat_request: wrong fields are refused by their path with the remedy. Pure;
// any thread.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "api/dialect_request.h"
#include "base/result.h"
#include "core/tokens.h"

namespace samovar {

struct CompletionRequest : DialectRequest {
  std::variant<std::string, Tokens> prompt;
  bool echo = false;  // the prompt's text comes first in the reply
  StreamExtras extras;
};

// Errors: invalid_argument (field and remedy filled), too_large.
[[nodiscard]] Result<CompletionRequest> parse_completion_request(std::string_view body,
                                                                 const ChatDefaults& defaults);

}  // namespace samovar
