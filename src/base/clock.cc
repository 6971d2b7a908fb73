#include "base/clock.h"

#include <chrono>

namespace samovar {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Micros now() const override {
    const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(since_start).count();
  }
  [[nodiscard]] std::int64_t wall_seconds() const override {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
  }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

}  // namespace samovar
