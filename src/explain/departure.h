// Where two prompts part, and which of their differences is to blame. Private to explain(). Pure;
// any thread; nothing fails.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/turn.h"
#include "explain/explain.h"
#include "explain/rendered_place.h"
#include "explain/shape_compare.h"

namespace samovar {

struct Departure {
  Position at = 0;      // prompt tokens that both have in common
  bool exact = false;   // from tokens, not from sizes
  bool broken = false;  // false: the later prompt goes on from all that is known of the earlier
  std::optional<std::size_t> byte;  // of the rendered text
  std::size_t message = 0;  // in which message of the later request it lies, as far as known
  const Difference* blamed = nullptr;  // nullptr: the template shows the same messages differently
};

struct Comparison {
  const TurnShape& before;
  const TurnShape& after;
  const ReuseFacts& facts;
  const Figures& figures;
  std::vector<Difference> differences;
  std::vector<Position> positions;  // message_positions(after)
};

// Points into `comparison.differences`.
[[nodiscard]] Departure find_departure(const Comparison& comparison);

// The first message whose reasoning the earlier prompt (or its reply) had and that a template drops
// because a user message follows; nullopt: none.
[[nodiscard]] std::optional<std::size_t> reasoning_before_user(const TurnShape& before,
                                                               const TurnShape& after);

}  // namespace samovar
