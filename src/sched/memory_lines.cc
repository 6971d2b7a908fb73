// Memory's part in re-warms: a guest line beside the one that a reply left, and what becomes of the
// two when the next turn shows which of them it goes on from.
#include <algorithm>
#include <cassert>
#include <utility>

#include "sched/memory.h"

namespace samovar {

EngineStatus Memory::apply_rewarm(const Plan& plan, std::vector<Position> segment_ends) {
  evict_all(plan, EvictionCause::rewarm);
  EngineStatus status = EngineStatus::ok;
  if (plan.source == ReuseSource::anchor) {
    status = rewind(plan.target, plan.resume_at, plan.snapshot);
  } else if (plan.source == ReuseSource::fork) {
    const Resident& from = resident(plan.from);
    assert(!from.running);
    status = fork(plan.from, plan.target, plan.resume_at, plan.snapshot);
    if (status == EngineStatus::ok) {
      Resident& guest = at(plan.target);
      guest.last_used = from.last_used;
      guest.session = from.session;
      guest.continued = from.continued;
      guest.departed = std::max(1, from.departed);
      link(plan.from, plan.target, plan.resume_at);
    }
  }
  if (status != EngineStatus::ok) return status;
  Resident& target = at(plan.target);
  if (!plan.canonical) target.canonical_end = std::min(target.canonical_end, plan.resume_at - 1);
  target.history_end = plan.prompt_tokens;
  target.ends = std::move(segment_ends);
  return status;
}

EngineStatus Memory::prefill_rewarm(SeqId sequence, TokenSpan tokens) {
  Resident& resident = at(sequence);
  assert(!resident.running);
  const Micros last_used = resident.last_used;
  const auto begin = static_cast<Position>(resident.tokens.size());
  const EngineStatus status = prefill(sequence, tokens, false, true);
  if (status != EngineStatus::ok) return status;
  resident.last_used = last_used;
  if (resident.rewarmed_begin >= resident.rewarmed_end) resident.rewarmed_begin = begin;
  resident.rewarmed_end = static_cast<Position>(resident.tokens.size());
  return status;
}

Position Memory::rewarmed_in(const Plan& plan) const {
  if (plan.from < 0) return 0;
  const Resident& from = resident(plan.from);
  return std::max(0, std::min(from.rewarmed_end, plan.resume_at) - from.rewarmed_begin);
}

// A turn goes on from one of two lines; where they differ, the other one is spare from now on.
void Memory::choose_line(const Plan& plan) {
  if (plan.from < 0) return;
  Resident& line = at(plan.from);
  line.rewarmed_begin = std::max(line.rewarmed_begin, std::min(line.rewarmed_end, plan.resume_at));
  if (line.twin < 0 || plan.resume_at <= line.shared) return;
  Resident& other = at(line.twin);
  if (!line.guest && !other.guest) return;  // known already
  line.shared = 0;
  // The next reply of the chosen line departs as this one did.
  if (plan.source != ReuseSource::live) line.guest = false;
  other.guest = false;
  other.spare = true;
}

void Memory::link(SeqId line, SeqId guest, Position shared) {
  unlink(line);
  at(line).twin = guest;
  at(line).shared = shared;
  at(guest).twin = line;
  at(guest).shared = shared;
  at(guest).guest = true;
}

void Memory::unlink(SeqId sequence) {
  Resident& resident = at(sequence);
  if (resident.twin < 0) return;
  Resident& twin = at(resident.twin);
  for (Resident* one : {&resident, &twin}) {
    one->twin = -1;
    one->shared = 0;
    one->guest = false;
  }
}

}  // namespace samovar
