// http_get(): one GET with its redirects, by libcurl, on the calling thread, until it ends. The
// bearer token goes to the origin (scheme, host, port) of the first address only, a redirect from
// https to http is refused, and every answer's head of the way is kept, for what a hub says stands
// in the redirect. Blocks; any thread. Failures are about the connection; a status is the server's
// word and no failure.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "net/http_head.h"

namespace samovar::net {

struct GetRequest {
  std::string url;
  std::string bearer;                // empty: none
  std::vector<std::string> headers;  // "Name: value", sent to every address of the way
  Micros stall = 30 * kSecond;       // ends when so long (whole seconds) under 1 KiB/s came
  Micros connect = 15 * kSecond;
};

struct GetHooks {
  // The last answer's head, before its body. False: the body is not wanted, the exchange ends.
  std::function<bool(const HttpHead& head)> on_head;
  // A piece of the body. False: it cannot be taken, the exchange ends.
  std::function<bool(Bytes bytes)> on_body;
  // Asked often, at least once a second. True: ends the exchange as `stopped`.
  std::function<bool()> stop;
};

struct GetAnswer {
  HttpHead head;               // of the last answer
  std::vector<HttpHead> hops;  // of the redirects before it
  std::string url;             // where the last answer came from
};

enum class GetFault {
  bad_address,  // the address, or one that it was redirected to
  unreachable,  // no such host, nothing listens, no route
  unsafe,       // no TLS connection that can be trusted, or a redirect away from TLS
  broken,       // the connection ended too early, or stalled
  stopped,      // by a hook
};

struct GetError {
  GetFault fault = GetFault::broken;
  std::string message;  // "nothing listens at https://hub.example:443"
};

[[nodiscard]] std::expected<GetAnswer, GetError> http_get(const GetRequest& request,
                                                          const GetHooks& hooks);

}  // namespace samovar::net
