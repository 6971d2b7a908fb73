// TurnState: one turn inside the scheduler, from admission to its last event.
//
//   waiting ──admit──▶ (restore) ──▶ prefill ──last piece──▶ decode ──end, stop, length──▶ done
//      ▲                │    ▲                    │
//      └───give way─────┘    └──────repair────────┘       cancelled from anywhere ──▶ done
//
// Owned and used by the engine thread only.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/turn.h"
#include "engine/engine.h"
#include "prefix/planner.h"
#include "sched/anchor_policy.h"
#include "sched/stop_matcher.h"
#include "store/store_restore.h"

namespace samovar {

enum class Phase { waiting, restore, prefill, decode, done };

struct TurnState {
  TurnId id = 0;
  TurnRequest request;
  std::unique_ptr<Sampler> sampler;
  std::shared_ptr<TurnSink> sink;

  Phase phase = Phase::waiting;
  SeqId sequence = -1;
  std::vector<Position> cuts;  // canonical cuts of the prompt
  std::vector<Position> ends;  // of segments for the store
  AnchorPolicy anchor_policy;
  std::unique_ptr<StoreRestore> restore;  // in Phase::restore
  Plan restore_plan;                      // the plan that it carries out
  Micros restore_began = 0;
  Tokens target;           // what the sequence must hold before the next sample
  Tokens reply;            // sampled so far; the last one is not forwarded yet
  Position prefilled = 0;  // prompt tokens this turn computed, repeats included
  bool repaired = false;   // an engine error was survived once; a second one ends the turn
  bool announced = false;  // TurnStarted was sent

  StopMatcher stop;
  std::size_t text_bytes = 0;  // pushed through `stop`
  std::size_t sent_bytes = 0;
  std::deque<std::pair<std::size_t, Sampled>> unsent;  // (start of its text, sample), for logprobs

  TurnTimings timings;
  ReuseFacts facts;
  Micros waiting_since = 0;
  std::int64_t blocked_at = 0;  // how many turns had ended when it was found to need more cells
  int passed_by = 0;            // later turns that overtook it since

  TurnState(TurnId turn, TurnRequest what, std::unique_ptr<Sampler> chooser,
            std::shared_ptr<TurnSink> events, std::vector<Position> splits,
            std::vector<Position> segment_ends, AnchorPolicy policy, Micros now)
      : id(turn),
        request(std::move(what)),
        sampler(std::move(chooser)),
        sink(std::move(events)),
        cuts(std::move(splits)),
        ends(std::move(segment_ends)),
        anchor_policy(std::move(policy)),
        target(request.prompt.tokens),
        stop(request.stop),
        waiting_since(request.submitted > 0 ? request.submitted : now) {
    timings.render = request.render_time;
    timings.prompt_tokens = request.prompt.size();
  }

  // Cells the turn was promised and has not used, its sequence holding `held` tokens.
  [[nodiscard]] Position reserved(Position held, Position reply_reserve) const {
    const auto size = static_cast<Position>(target.size());
    return std::max(0, size - held) + reply_reserve;
  }

  // The turn's figures as they stand. Of a turn that finished, reused + computed = prompt; of one
  // that did not, computed is what it got done.
  [[nodiscard]] TurnTimings figures() const {
    TurnTimings figures = timings;
    figures.computed_tokens = std::min(prefilled, timings.prompt_tokens - timings.reused_tokens);
    figures.reply_tokens = static_cast<Position>(reply.size());
    return figures;
  }

  // Only the first `position` tokens are still what was reused at the start.
  void keep_reused(Position position) {
    timings.reused_tokens = std::min(timings.reused_tokens, position);
    timings.rewarmed_tokens = std::min(timings.rewarmed_tokens, position);
  }
};

}  // namespace samovar
