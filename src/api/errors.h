// Errors in OpenAI's form: {"error":{"message","type","param","code"}}, with the HTTP status that
// belongs to the kind. Pure functions, any thread, nothing fails.
#pragma once

#include <string>
#include <string_view>

#include "api/http_types.h"
#include "base/result.h"

namespace samovar {

[[nodiscard]] int http_status(ErrorKind kind);

// The JSON text of an error, for a response's body and for the `data:` of an SSE event.
[[nodiscard]] std::string error_json(const Error& error);

// The whole response; 401 gets WWW-Authenticate, 429 and 503 Retry-After.
[[nodiscard]] HttpResponse error_response(const Error& error, int retry_after_seconds = 1);

// 405 for a path that answers other methods only, `allowed` ("GET, HEAD").
[[nodiscard]] HttpResponse wrong_method(const HttpRequest& request, std::string_view allowed);

// A prompt that can never fit the context: 400 with OpenAI's code context_length_exceeded, on which
// agents compact their history. (ErrorKind::too_large alone is a body above the limit: 413.)
[[nodiscard]] HttpResponse context_length_response(const Error& error);

}  // namespace samovar
