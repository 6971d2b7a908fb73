// Addresses and refusals of servers, in the user's words.
#include <fmt/format.h>

#include "client/completion_chunk.h"
#include "client/transfer.h"

namespace samovar::client {

std::string base_url(std::string url) {
  if (url.find("://") == std::string::npos) url = "http://" + url;
  while (url.ends_with('/')) url.pop_back();
  if (url.ends_with("/v1")) url.erase(url.size() - 3);
  while (url.ends_with('/')) url.pop_back();
  return url;
}

Error refusal(int status, std::string_view body, const std::string& url,
              const std::string& retry_after) {
  Error error{ErrorKind::internal, error_text(body), "", ""};
  if (error.message.empty()) error.message = fmt::format("the server answered {}", status);
  if (status >= 200 && status < 300) {  // a web page, not an API
    return {ErrorKind::not_found, url + " answers with a web page", "--url",
            "give the address of an OpenAI-compatible API"};
  }
  switch (status) {
    case 401:
      error.kind = ErrorKind::unauthorized;
      error.remedy = "give the server's API key: SAMOVAR_API_KEY=... or --key-file FILE";
      break;
    case 403:
      error.kind = ErrorKind::forbidden;
      error.remedy = "the server does not let this client in; see its own message";
      break;
    case 404:
    case 405:
      error.kind = ErrorKind::not_found;
      error.remedy = fmt::format(
          "is {} the address of an OpenAI-compatible server, and is --model one of its models?",
          url);
      break;
    case 413:
      error.kind = ErrorKind::too_large;
      error.remedy = "/new begins a shorter conversation; /edit changes the last message";
      break;
    case 429:
    case 503:
      error.kind = ErrorKind::overloaded;
      error.remedy = retry_after.empty()
                         ? "/retry sends the message again"
                         : fmt::format(
                               "/retry sends the message again; the server asks to wait "
                               "{} s",
                               retry_after);
      break;
    default:
      error.kind = status < 500 ? ErrorKind::invalid_argument : ErrorKind::internal;
      if (status >= 300 && status < 400) {
        error.message = fmt::format("{} answers from another address ({})", url, status);
        error.remedy = "give that one with --url";
      } else if (body.find("context") != std::string_view::npos && status == 400) {
        error.remedy = "/new begins another conversation; /edit N goes back to an earlier message";
      }
      break;
  }
  return error;
}

}  // namespace samovar::client
