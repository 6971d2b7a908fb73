#include "sched/turn_start.h"

namespace samovar {

TurnStarted start_of(const Plan& plan, const ReuseFacts& facts, TurnTimings& timings) {
  timings.reused_tokens = plan.resume_at;
  timings.matched_tokens = plan.matched;
  timings.source = plan.source;
  return {.prompt_tokens = plan.prompt_tokens,
          .reused_tokens = plan.resume_at,
          .plan = plan.describe(),
          .source = plan.source,
          .facts = facts};
}

}  // namespace samovar
