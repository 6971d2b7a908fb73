// A seeded stream of numbers, the same on every machine: no <random> distribution and no libm call,
// whose results differ between libraries. Each tensor draws from its own stream (seed and name), so
// a tensor does not depend on the ones written before it.
#pragma once

#include <cstdint>
#include <string_view>

namespace samovar::mkmodel {

class Random {
 public:
  Random(std::uint64_t seed, std::string_view name) : state_(seed * 0x9E3779B97F4A7C15ULL) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  }

  // splitmix64
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  // About normal, mean 0 and sd 1: the sum of four 16-bit uniforms, in exact integer arithmetic.
  float normal() {
    const std::uint64_t bits = next();
    const auto sum = static_cast<std::int32_t>((bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) +
                                               ((bits >> 32) & 0xFFFF) + (bits >> 48));
    constexpr float sd = 37'837.2F;  // sqrt(4 * 65536^2 / 12)
    return static_cast<float>(sum - 2 * 65'535) / sd;
  }

 private:
  std::uint64_t state_;
};

}  // namespace samovar::mkmodel
