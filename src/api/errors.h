// Errors as the dialects say them. OpenAI's form, {"error": {message, type, param, code}}, is that
// of every endpoint but Anthropic's, {"type": "error", "error": {type, message}}. Pure functions,
// any thread, nothing fails.
#pragma once

#include <string>
#include <string_view>

#include "api/http_types.h"
#include "base/result.h"

namespace samovar {

enum class ErrorForm { openai, anthropic };

// The form that clients of a path expect, for what is refused before any handler sees it.
[[nodiscard]] ErrorForm error_form_of(std::string_view path);

[[nodiscard]] int http_status(ErrorKind kind, ErrorForm form = ErrorForm::openai);

// The JSON text of an error, for a response's body and for the `data:` of an SSE event.
[[nodiscard]] std::string error_json(const Error& error, ErrorForm form = ErrorForm::openai);

// The whole response; 401 gets WWW-Authenticate, 429, 503 and 529 Retry-After.
[[nodiscard]] HttpResponse error_response(const Error& error, int retry_after_seconds = 1,
                                          ErrorForm form = ErrorForm::openai);

// 405 for a path that answers other methods only, `allowed` ("GET, HEAD").
[[nodiscard]] HttpResponse wrong_method(const HttpRequest& request, std::string_view allowed);

// A prompt that can never fit the context: 400 with what agents compact their history on, OpenAI's
// code context_length_exceeded or Anthropic's words "prompt is too long". (ErrorKind::too_large
// alone is a body above the limit: 413.)
[[nodiscard]] HttpResponse context_length_response(const Error& error,
                                                   ErrorForm form = ErrorForm::openai);

}  // namespace samovar
