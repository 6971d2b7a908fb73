// The object that /v1/responses answers with, as JSON text, whole or at any moment of its life.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "core/turn.h"

namespace samovar {

// What does not change.
struct ResponseHead {
  std::string id;
  std::int64_t created = 0;  // seconds since 1970
  std::string model;
  std::string settings;  // the request's, as members of a JSON object: {"instructions":...} without
                         // the braces (responses_request.h)
};

// What does. All but `status` are JSON.
struct ResponseState {
  std::string status = "in_progress";  // queued, in_progress, completed, incomplete, failed,
                                       // cancelled
  std::int64_t completed = 0;          // seconds since 1970; 0: it is not
  std::string error = "null";
  std::string incomplete = "null";  // incomplete_details
  std::string output = "[]";
  std::string usage = "null";
  std::string timings = {};  // docs/turns.md; empty: left out
};

[[nodiscard]] std::string response_json(const ResponseHead& head, const ResponseState& state);

[[nodiscard]] std::string response_usage(const TurnTimings& timings, Position reasoning_tokens);

// {"code","message"} with the codes that clients know.
[[nodiscard]] std::string response_error(const Error& error);

// Status and details of a reply that ended by itself: `finish` as ReplyDone has it.
void set_finish(std::string_view finish, ResponseState& state);

}  // namespace samovar
