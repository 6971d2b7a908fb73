// explain(): why a turn computed again what the turn before it had computed, from the shapes of
// both and from what there was to reuse. Pure and quick (a few passes over the messages' hashes,
// and one over the texts where they are at hand), meant for any thread but the engine's. Nothing
// fails: what is not known makes the answer coarser, never wrong about what is exact.
#pragma once

#include <optional>

#include "core/turn.h"
#include "explain/explanation.h"
#include "explain/turn_shape.h"

namespace samovar {

// Losses up to so many tokens are none: the generation primer, the cut before a message.
inline constexpr Position kSmallLoss = 128;

struct Figures {
  // Prompt tokens that were really reused. nullopt: not known; everything before the difference is
  // taken to be (samovar explain).
  std::optional<Position> reused;
  double prefill_us_per_token = 0.0;  // 0: not known
  bool same_run = true;               // the server has not been started anew since the turn before
};

// `before`: the turn that `after` goes on from (pick_before.h), or nullptr.
[[nodiscard]] Explanation explain(const TurnShape* before, const TurnShape& after,
                                  const ReuseFacts& facts, const Figures& figures);

}  // namespace samovar
