#include "api/errors.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/json_text.h"

namespace samovar {
namespace {

struct Names {
  const char* type;
  const char* code;
};

Names openai_names(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return {"invalid_request_error", "invalid_value"};
    case ErrorKind::unauthorized:
      return {"invalid_request_error", "invalid_api_key"};
    case ErrorKind::forbidden:
      return {"invalid_request_error", "forbidden"};
    case ErrorKind::not_found:
      return {"invalid_request_error", "not_found"};
    case ErrorKind::method_not_allowed:
      return {"invalid_request_error", "method_not_allowed"};
    case ErrorKind::too_large:
      return {"invalid_request_error", "request_too_large"};
    case ErrorKind::overloaded:
      return {"rate_limit_error", "overloaded"};
    case ErrorKind::unavailable:
      return {"server_error", "unavailable"};
    case ErrorKind::cancelled:
      return {"server_error", "cancelled"};
    case ErrorKind::internal:
      return {"server_error", "internal_error"};
  }
  return {"server_error", "internal_error"};
}

// OpenAI has no place for a remedy of its own, and clients show `message` only.
std::string full_message(const Error& error) {
  if (error.remedy.empty()) return error.message;
  return error.message + ": " + error.remedy;
}

std::string openai_json(const Error& error, const char* code) {
  nlohmann::ordered_json json;
  json["message"] = full_message(error);
  json["type"] = openai_names(error.kind).type;
  json["param"] = nullptr;
  if (!error.field.empty()) json["param"] = error.field;
  json["code"] = code;
  return json_text({{"error", std::move(json)}});
}

// https://docs.anthropic.com/en/api/errors
const char* anthropic_type(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
    case ErrorKind::method_not_allowed:
      return "invalid_request_error";
    case ErrorKind::unauthorized:
      return "authentication_error";
    case ErrorKind::forbidden:
      return "permission_error";
    case ErrorKind::not_found:
      return "not_found_error";
    case ErrorKind::too_large:
      return "request_too_large";
    case ErrorKind::overloaded:
    case ErrorKind::unavailable:
      return "overloaded_error";
    case ErrorKind::cancelled:
    case ErrorKind::internal:
      return "api_error";
  }
  return "api_error";
}

// It has no place for the field: the message names it where it does not already.
std::string anthropic_json(const Error& error, const char* type) {
  std::string message = full_message(error);
  if (!error.field.empty() && message.find(error.field) == std::string::npos) {
    message = error.field + ": " + message;
  }
  return json_text({{"type", "error"}, {"error", {{"type", type}, {"message", message}}}});
}

}  // namespace

ErrorForm error_form_of(std::string_view path) {
  constexpr std::string_view kMessages = "/v1/messages";
  if (!path.starts_with(kMessages)) return ErrorForm::openai;
  path.remove_prefix(kMessages.size());
  return path.empty() || path.front() == '/' ? ErrorForm::anthropic : ErrorForm::openai;
}

int http_status(ErrorKind kind, ErrorForm form) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return 400;
    case ErrorKind::unauthorized:
      return 401;
    case ErrorKind::forbidden:
      return 403;
    case ErrorKind::not_found:
      return 404;
    case ErrorKind::method_not_allowed:
      return 405;
    case ErrorKind::too_large:
      return 413;
    case ErrorKind::overloaded:
      return form == ErrorForm::anthropic ? 529 : 429;
    case ErrorKind::unavailable:
      return 503;
    case ErrorKind::cancelled:
      return 499;  // nginx's "client closed request"; nobody reads it
    case ErrorKind::internal:
      return 500;
  }
  return 500;
}

std::string error_json(const Error& error, ErrorForm form) {
  return form == ErrorForm::anthropic ? anthropic_json(error, anthropic_type(error.kind))
                                      : openai_json(error, openai_names(error.kind).code);
}

HttpResponse error_response(const Error& error, int retry_after_seconds, ErrorForm form) {
  HttpResponse response;
  response.status = http_status(error.kind, form);
  response.body = error_json(error, form);
  if (error.kind == ErrorKind::unauthorized) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  if (error.kind == ErrorKind::overloaded || error.kind == ErrorKind::unavailable) {
    response.headers.emplace_back("Retry-After", std::to_string(retry_after_seconds));
  }
  return response;
}

HttpResponse wrong_method(const HttpRequest& request, std::string_view allowed) {
  HttpResponse response = error_response(
      {ErrorKind::method_not_allowed, request.path + " does not answer " + request.method, "",
       "use " + std::string(allowed)},
      1, error_form_of(request.path));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

HttpResponse context_length_response(const Error& error, ErrorForm form) {
  HttpResponse response;
  response.status = 400;
  if (form == ErrorForm::anthropic) {
    Error named = error;
    named.message = "prompt is too long: " + error.message;
    response.body = anthropic_json(named, "invalid_request_error");
  } else {
    response.body = openai_json(error, "context_length_exceeded");
  }
  return response;
}

}  // namespace samovar
