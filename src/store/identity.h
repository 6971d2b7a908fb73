// Identities: which prefix of which model a blob belongs to (invariant S2).
//
//   identity(end of a segment) = SHA-256(parent identity || model fingerprint || token ids)
//
// with token ids as 32-bit little-endian numbers and 32 zero bytes as the parent of token 0. So an
// identity names everything before it, and where it was cut. Values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "core/tokens.h"

namespace samovar {

// 32 bytes that name something; hex() is 64 characters, lower-case, and the only text form.
struct Identity {
  Sha256 bytes{};

  bool operator==(const Identity&) const = default;
  auto operator<=>(const Identity&) const = default;
  [[nodiscard]] bool is_root() const { return *this == Identity{}; }
  [[nodiscard]] std::string hex() const;
  static std::optional<Identity> from_hex(std::string_view text);
};

using Fingerprint = Identity;  // of a model and all settings that change its state's bytes

struct IdentityHash {
  std::size_t operator()(const Identity& identity) const {
    std::size_t value = 0;
    std::memcpy(&value, identity.bytes.data(), sizeof value);
    return value;
  }
};

// Which session wrote a blob: for listing, purging and replacing what it has outgrown. Never part
// of an identity. All zero: unknown.
struct SessionId {
  std::array<std::uint8_t, 16> bytes{};
  bool operator==(const SessionId&) const = default;
  auto operator<=>(const SessionId&) const = default;
  [[nodiscard]] bool known() const { return *this != SessionId{}; }
  [[nodiscard]] std::string hex() const;
  static std::optional<SessionId> from_hex(std::string_view text);
};

// The session of a client that names it by a key (prompt_cache_key): the first 16 bytes of
// SHA-256("key " + key).
[[nodiscard]] SessionId session_of_key(std::string_view key);
// One that has no key: the first 16 bytes of SHA-256(text). The caller never uses a text twice.
[[nodiscard]] SessionId session_of_text(std::string_view text);

// The identities along one run of tokens after `parent`: append, look, append, look.
class PrefixHasher {
 public:
  PrefixHasher(const Fingerprint& model, const Identity& parent);
  void append(TokenSpan tokens);
  [[nodiscard]] Identity identity() const;

 private:
  Sha256Hasher hasher_;
};

[[nodiscard]] Identity identity_of(const Fingerprint& model, const Identity& parent,
                                   TokenSpan tokens);

}  // namespace samovar
