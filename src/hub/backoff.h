// Backoff: how long to wait before a request is tried again: 1, 2, 4, ... up to 30 seconds, or what
// the server asked for, up to 5 minutes; and when to give up. A value, pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"

namespace samovar::hub {

class Backoff {
 public:
  explicit Backoff(int tries) : tries_(tries) {}

  // After a failure. `retry_after`: the header's value, seconds; may be empty. nullopt: give up.
  [[nodiscard]] std::optional<Micros> next(std::string_view retry_after);

  void reset() { failures_ = 0; }  // something came

 private:
  int tries_;
  int failures_ = 0;
};

}  // namespace samovar::hub
