#include "http/refusals.h"

#include <string>

namespace samovar {

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

}  // namespace samovar
