#include "http/refusals.h"

#include <string>

#include "api/errors.h"

namespace samovar {

namespace {

const char* reason(int status) {
  switch (status) {
    case 408:
      return "Request Timeout";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Service Unavailable";
  }
}

}  // namespace

Error refusal(int status, std::size_t body_bytes_max) {
  switch (status) {
    case 404:
      return {ErrorKind::not_found, "there is nothing at this path"};
    case 413:
      return {ErrorKind::too_large,
              "the request body is larger than " + std::to_string(body_bytes_max) + " bytes"};
    case 414:
      return {ErrorKind::invalid_argument, "the request's path is too long"};
    case 415:
      return {ErrorKind::invalid_argument, "compressed request bodies are not supported",
              "Content-Encoding", "send the body as it is"};
    case 500:
      return {ErrorKind::internal, "internal error"};
    default:
      return {ErrorKind::invalid_argument, "the request is not valid HTTP"};
  }
}

HttpResponse length_required(std::string_view path) {
  const Error error = {ErrorKind::invalid_argument, "the request does not say how long its body is",
                       "Content-Length", "send the body's length, or send it chunked"};
  HttpResponse response = error_response(error, 1, error_form_of(path));
  response.status = 411;
  return response;
}

std::string refusal_bytes(int status, const Error& error, std::string_view path) {
  const HttpResponse response = error_response(error, 1, error_form_of(path));
  std::string text = "HTTP/1.1 " + std::to_string(status) + " " + reason(status) + "\r\n";
  for (const auto& [name, value] : response.headers) {
    text.append(name).append(": ").append(value).append("\r\n");
  }
  text += "Content-Type: " + response.content_type + "\r\n";
  text += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  return text + "Connection: close\r\n\r\n" + response.body;
}

}  // namespace samovar
