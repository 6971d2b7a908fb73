// Result<T>: a value or an Error. The world fails through Result (bad input, a full disk, a client
// that left); a broken promise between our own parts fails through assert.
//
// An Error is written for the person who will read it: `message` says what is wrong, `field` names
// the request field or command-line flag at fault (may be empty), `remedy` says what to do about it
// (may be empty). Dialects translate an Error into their own JSON; nothing below api/ knows JSON.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace samovar {

enum class ErrorKind {
  invalid_argument,  // the caller's input is wrong; the same input will always fail
  unauthorized,      // no key, or a wrong one
  forbidden,         // refused by policy (Host check)
  not_found,
  method_not_allowed,
  too_large,    // beyond a fixed limit (body, depth, messages, prompt)
  overloaded,   // the queue is full; the same request may succeed later
  unavailable,  // starting up or shutting down
  cancelled,    // the client is gone
  internal,     // our fault or the engine's
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::string field = {};
  std::string remedy = {};

  // "message (field). remedy", for logs and terminals.
  [[nodiscard]] std::string describe() const;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = std::expected<void, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorKind kind, std::string message,
                                                 std::string field = {}, std::string remedy = {}) {
  return std::unexpected(Error{kind, std::move(message), std::move(field), std::move(remedy)});
}

}  // namespace samovar
