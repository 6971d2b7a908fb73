// The body of POST /v1/chat/completions, checked and translated. Unknown fields are accepted, null
// counts as absent, wrong types and out-of-range values are refused with the field's path
// ("messages[2].content[1].type") and the remedy. No model is needed; any thread may call it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/chat.h"
#include "core/sampling.h"
#include "explain/neutralise.h"

namespace samovar {

class MessageMemo;

// What a request that says nothing gets. From the command line.
struct ChatDefaults {
  SamplingParams sampling;
  std::optional<std::int64_t> max_tokens;  // nullopt: no limit
  std::optional<bool> enable_thinking;     // nullopt: the template's default
  int vocab_size = 0;                      // bounds logit_bias; 0: unchecked
  RuleSet neutralise;                      // volatile lines to fix (explain/neutralise.h)
  bool sort_tools = false;                 // tools in the order of their names
};

struct ChatCompletionRequest {
  ChatRequest chat;
  SamplingParams sampling;
  std::vector<std::string> stop;
  std::optional<std::int64_t> max_tokens;
  bool stream = false;
  bool include_usage = false;    // stream_options.include_usage
  bool return_progress = false;  // prompt_progress chunks during prefill
  std::string session_key;       // prompt_cache_key
  std::string user_hint;         // metadata.user_id, else user: a weaker sign of a session
  bool store = false;            // keep request and reply, for GET /v1/chat/completions/{id}
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
