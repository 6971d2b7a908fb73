// What a turn computed again although the turn before it had computed it: what both have in common
// before the difference and was not reused, and what they still share behind it. Private to
// explain(). Pure; any thread; nothing fails.
#pragma once

#include <cstddef>

#include "explain/departure.h"

namespace samovar {

struct Loss {
  Position at = 0;          // Departure::at, corrected by what is known to have been reused
  Position before = 0;      // tokens before the difference
  Position after = 0;       // tokens behind it
  std::size_t changed = 0;  // the first message that is not the same in both turns
  Alignment alignment;      // of the messages from there on

  [[nodiscard]] Position total() const { return before + after; }
};

[[nodiscard]] Loss measure_loss(const Comparison& comparison, const Departure& departure);

}  // namespace samovar
