// The body of POST /v1/responses, checked and translated. As in chat requests, unknown fields are
// accepted, null counts as absent, and what is wrong or cannot be honoured is refused with the
// field's path ("input[2].content[0].type") and the remedy. What is left out instead, because
// agents send it with every request and go on without it, is listed in `left_out`.
//
// No model is needed; any thread may call it. docs/responses.md is the user's view.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/dialect_request.h"
#include "api/response_items.h"
#include "base/result.h"

namespace samovar {

class MessageMemo;

// What earlier responses left behind. Implemented by StoredResponses (stored_responses.h).
class ResponseHistory {
 public:
  virtual ~ResponseHistory() = default;
  using Items = std::shared_ptr<const nlohmann::ordered_json>;  // an array

  // Input and output of a response and of those that it goes on from, as input items in order, an
  // array for each. Errors: not_found, naming the response that is missing.
  [[nodiscard]] virtual Result<std::vector<Items>> conversation(const std::string& id) const = 0;
  // An item of a response's output. Errors: not_found.
  [[nodiscard]] virtual Result<std::shared_ptr<const nlohmann::ordered_json>> item(
      const std::string& id) const = 0;
};

struct ResponsesRequest : DialectRequest {
  bool background = false;
  std::string previous;               // previous_response_id
  ReasoningForm reasoning;            // how it is to be shown
  bool logprobs = false;              // with the text
  std::vector<std::string> left_out;  // "tools[3] (web_search)"
  std::string settings;               // ResponseHead::settings
};

// Errors: invalid_argument (field and remedy filled), too_large (body above
// limits::body_bytes_max). `history` may be null: there is nothing to go on from. With a memo only
// items that are not in it are parsed, for the same result.
[[nodiscard]] Result<ResponsesRequest> parse_responses_request(std::string_view body,
                                                               const ChatDefaults& defaults,
                                                               const ResponseHistory* history,
                                                               MessageMemo* memo = nullptr);

// The same without the conversation, for a body that was accepted once.
[[nodiscard]] Result<ResponsesRequest> parse_response_settings(std::string_view body,
                                                               const ChatDefaults& defaults);

}  // namespace samovar
