// RequestScan: is a whole request there? It looks at the bytes of one request as they come, each
// once, and says when a thread could serve it without waiting for the client. It never decides what
// a request means or where it ends: the parser does, from the same bytes. So whatever it does not
// understand it calls ready, and the parser refuses it.
//
// Pure values; one thread; nothing fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/limits.h"

namespace samovar {

struct RequestBounds {
  std::size_t head_bytes = limits::head_bytes_max;  // request line and headers
  std::size_t held_bytes =
      limits::held_request_bytes;  // a longer request is ready when so much came
  std::size_t body_bytes_max = limits::body_bytes_max;  // a body that says it is longer is ready
};

enum class Arrival {
  head,      // the head is not complete
  body,      // the body is not complete
  ready,     // complete, or as much of it as is waited for
  oversize,  // the head is longer than its bound
};

class RequestScan {
 public:
  explicit RequestScan(RequestBounds bounds) : bounds_(bounds) {}

  // `request`: everything since the request's first byte; it only grows from call to call.
  Arrival look(std::string_view request);

  void restart() { *this = RequestScan(bounds_); }  // for the next request

 private:
  enum class Framing { unknown, none, length, chunked };

  bool read_head(std::string_view head);  // false: the parser shall have it as it is
  bool chunks_complete(std::string_view request);

  RequestBounds bounds_;
  Framing framing_ = Framing::unknown;
  std::size_t at_ = 0;            // looked at so far
  std::size_t whole_ = 0;         // bytes of a request whose length is known
  std::uint64_t chunk_left_ = 0;  // of the current chunk and its line end
  bool trailers_ = false;         // the last chunk was there
};

// The path of a request's first line, without its query, undecoded; empty if there is none yet.
[[nodiscard]] std::string_view path_of(std::string_view request);

// GET /health or /ready, what is asked to see whether the server lives.
[[nodiscard]] bool is_probe(std::string_view request);

}  // namespace samovar
