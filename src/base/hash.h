// The two hashes of the store. SHA-256 (OpenSSL) says what something *is*: nobody can make two
// prompts with one identity. XXH3-128 says whether bytes are still those that were written: ten
// times as fast as memory can be read, and no protection against an attacker. Values; a hasher
// belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/bytes.h"

namespace samovar {

using Sha256 = std::array<std::uint8_t, 32>;

class Sha256Hasher {
 public:
  Sha256Hasher();
  ~Sha256Hasher();
  Sha256Hasher(Sha256Hasher&&) noexcept;
  Sha256Hasher& operator=(Sha256Hasher&&) noexcept;

  void update(Bytes bytes);

  // The hash of what was given so far; more may follow.
  [[nodiscard]] Sha256 digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] Sha256 sha256(Bytes bytes);

// XXH3-128 with seed 0: `low` and `high` as xxHash names them.
struct Checksum {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const Checksum&) const = default;
};

[[nodiscard]] Checksum checksum(Bytes bytes);

}  // namespace samovar
