// HttpServer: sockets to HttpRequest and back. It owns listening, connections and their threads,
// limits, keys and the Host check; what a request means is the handler's business. The HTTP library
// behind it (cpp-httplib) is seen by server.cc only.
//
// The handler is called on a thread of the request's own, by many threads at once, and may block: a
// thread is taken once the whole request is there (reception.h). Beyond `threads` requests wait,
// beyond `waiting` they are answered 503; GET /health and /ready are answered all the same. Its
// exceptions become a 500 and a log line. bind() fails with the flag at fault; start(), stop() and
// the destructor belong to one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/http_types.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/result.h"
#include "http/connection.h"

namespace samovar {

struct HttpServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any free one
  std::vector<std::string> api_keys;
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> open_paths;                    // need no key (access.h)
  std::size_t threads = 512;                              // requests served at the same time
  std::size_t waiting = limits::waiting_requests_max;     // requests that may wait for a thread
  std::size_t connections = limits::connections_max;      // besides those served
  std::size_t waiting_bytes = limits::waiting_bytes_max;  // of requests that are not served yet
  std::size_t body_bytes_max = limits::body_bytes_max;
  ConnectionTimeouts timeouts;
};

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

class HttpServer {
 public:
  // Binds and refuses what is unsafe; nothing is served before start().
  static Result<std::unique_ptr<HttpServer>> bind(HttpServerOptions options, HttpHandler handler);
  ~HttpServer();

  void start();

  // No new connections or requests; requests in work get `grace` to end, then their sockets are
  // shut.
  void stop(Micros grace);

  [[nodiscard]] int port() const;
  [[nodiscard]] std::string url() const;  // "http://127.0.0.1:8080"

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar
