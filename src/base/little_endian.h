// Numbers as little-endian bytes, which is how every file of the store holds them. Pure functions;
// the caller has checked that the bytes are there.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace samovar {

// All machines that Samovar runs on are little-endian, so loading and storing are plain copies, and
// arrays of numbers can be hashed and written as they lie in memory.
static_assert(std::endian::native == std::endian::little);

template <std::integral T>
[[nodiscard]] T load_le(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <std::integral T>
void store_le(std::uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace samovar
