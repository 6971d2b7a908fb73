// The seam between http/ (sockets) and api/ (dialects): a request and a response as values, without
// a library behind them. http/ fills an HttpRequest once the body is complete, calls the Router on
// the request's own thread (handlers block), sends the response's status and headers at once,
// and then either `body` or whatever `stream` writes. Both run on that same thread.
//
// A response whose `stream` is never run (the connection broke while the headers were sent) is
// simply destroyed: the turn behind it is cancelled then.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace samovar {

using Headers = std::vector<std::pair<std::string, std::string>>;

// The first header of that name, in any spelling; nullptr if there is none.
[[nodiscard]] const std::string* find_header(const Headers& headers, std::string_view name);

struct HttpRequest {
  std::string method;  // upper case
  std::string path;    // decoded, without the query
  std::string query;   // after the '?', undecoded; may be empty
  Headers headers;
  std::string body;
  std::string remote;                 // the peer's address, for logs
  Micros arrived = 0;                 // when the body was complete
  std::function<bool()> client_gone;  // polled while a handler waits, not by `stream`; may be empty
};

// GET or HEAD.
[[nodiscard]] bool reads(const HttpRequest& request);

// Where a streaming response writes its body. Implemented by http/.
class BodyWriter {
 public:
  virtual ~BodyWriter() = default;
  // Sends the bytes now. False: the client is gone, nothing more will arrive there.
  virtual bool write(std::string_view bytes) = 0;
  // True once the client is known to be gone. Cheap: polled many times a second.
  [[nodiscard]] virtual bool client_gone() = 0;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json; charset=utf-8";
  Headers headers;   // besides Content-Type and Content-Length
  std::string body;  // unused if `stream` is set
  // Writes the whole body and returns when it is complete or the client is gone. Run at most once.
  std::function<void(BodyWriter&)> stream;
};

}  // namespace samovar
