// Who may talk to the server: keys, and the Host check against DNS rebinding. Decided from the
// request's headers alone, before its body is read. Immutable after construction; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/http_types.h"
#include "base/result.h"

namespace samovar {

struct AccessOptions {
  std::string host;                        // the address the server listens on
  std::vector<std::string> api_keys;       // empty: no key is asked for
  std::vector<std::string> allowed_hosts;  // further names clients may use
  std::vector<std::string> open_paths;     // GET and HEAD of exactly these need no key
};

class Access {
 public:
  // Fails (forbidden, with the flag) if the server could be reached from elsewhere without a key.
  static Result<Access> create(AccessOptions options);

  // Errors: forbidden (Host, POST or listener of another site), unauthorized (key missing or
  // wrong), invalid_argument (a body for /ready or for what needs no key). GET and HEAD of /health
  // and of the open paths need no key.
  // `http_1_0`: such requests may leave Host out.
  [[nodiscard]] Status check(const HttpRequest& request, bool http_1_0) const;

 private:
  [[nodiscard]] bool from_other_site(const HttpRequest& request) const;
  explicit Access(AccessOptions options) : options_(std::move(options)) {}
  [[nodiscard]] bool host_allowed(std::string_view host_header) const;
  [[nodiscard]] bool is_open(const HttpRequest& request) const;
  [[nodiscard]] bool key_known(std::string_view key) const;

  AccessOptions options_;
};

// "localhost", 127.0.0.0/8 and ::1. No look-ups: a name that merely resolves to loopback does not
// count.
[[nodiscard]] bool is_loopback(std::string_view host);

// Takes the same time for every `given` of one length, whatever `secret` is.
[[nodiscard]] bool equal_in_constant_time(std::string_view given, std::string_view secret);

}  // namespace samovar
