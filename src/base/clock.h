// Clock: the only source of time. Monotonic microseconds for durations and deadlines, wall seconds
// for timestamps that people read. Tests and the simulation pass a FakeClock.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace samovar {

using Micros = std::int64_t;  // a monotonic instant or a duration, in microseconds

inline constexpr Micros kMillisecond = 1000;
inline constexpr Micros kSecond = 1'000'000;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Micros now() const = 0;                 // monotonic
  [[nodiscard]] virtual std::int64_t wall_seconds() const = 0;  // since 1970, UTC
};

// The machine's clocks. One instance for the process.
const Clock& system_clock();

// A clock that moves only when told to.
class FakeClock final : public Clock {
 public:
  [[nodiscard]] Micros now() const override { return now_.load(); }
  [[nodiscard]] std::int64_t wall_seconds() const override {
    return 1'700'000'000 + now_.load() / kSecond;
  }
  void advance(Micros duration) { now_ += duration; }

 private:
  std::atomic<Micros> now_ = 0;
};

[[nodiscard]] constexpr double to_ms(Micros duration) {
  return static_cast<double>(duration) / 1000.0;
}

}  // namespace samovar
