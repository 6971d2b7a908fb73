#include "store/identity.h"

#include <algorithm>
#include <span>

#include "base/little_endian.h"

namespace samovar {
namespace {

template <std::size_t N>
std::string to_hex(const std::array<std::uint8_t, N>& bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * N);
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

template <std::size_t N>
std::optional<std::array<std::uint8_t, N>> of_hex(std::string_view text) {
  if (text.size() != 2 * N) return std::nullopt;
  std::array<std::uint8_t, N> bytes{};
  for (std::size_t i = 0; i < N; ++i) {
    const int high = digit_of(text[2 * i]);
    const int low = digit_of(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return bytes;
}

}  // namespace

std::string Identity::hex() const { return to_hex(bytes); }

std::optional<Identity> Identity::from_hex(std::string_view text) {
  const auto bytes = of_hex<32>(text);
  if (!bytes) return std::nullopt;
  return Identity{*bytes};
}

std::string SessionId::hex() const { return to_hex(bytes); }

std::optional<SessionId> SessionId::from_hex(std::string_view text) {
  const auto bytes = of_hex<16>(text);
  if (!bytes) return std::nullopt;
  return SessionId{*bytes};
}

SessionId session_of_key(std::string_view key) {
  return session_of_text("key " + std::string(key));
}

SessionId session_of_text(std::string_view text) {
  const Sha256 hash = sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  SessionId session;
  std::copy_n(hash.begin(), session.bytes.size(), session.bytes.begin());
  return session;
}

PrefixHasher::PrefixHasher(const Fingerprint& model, const Identity& parent) {
  hasher_.update(parent.bytes);
  hasher_.update(model.bytes);
}

// Token ids lie in memory as the formula wants them: see base/little_endian.h.
void PrefixHasher::append(TokenSpan tokens) {
  hasher_.update({reinterpret_cast<const std::uint8_t*>(tokens.data()), tokens.size_bytes()});
}

Identity PrefixHasher::identity() const { return Identity{hasher_.digest()}; }

Identity identity_of(const Fingerprint& model, const Identity& parent, TokenSpan tokens) {
  PrefixHasher hasher(model, parent);
  hasher.append(tokens);
  return hasher.identity();
}

}  // namespace samovar
