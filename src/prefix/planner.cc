#include "prefix/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <utility>

#include "prefix/resume.h"
#include "prefix/shared_prefix.h"

namespace samovar {
namespace {

// What rewinding in place would lose. Nothing, if only a reply lies beyond.
double value_of_tail(const Resume& resume) {
  const ResidentView& resident = *resume.resident;
  if (resume.live || resume.matched >= resident.history_end) return 0.0;
  const auto held = static_cast<Position>(resident.tokens.size());
  return static_cast<double>(held - resume.position) * resident.weight;
}

// A checkpoint on disk is worth it if it saves more time than it takes.
bool restore_pays(const PlanInput& input, Position resident) {
  const Position gain = input.stored - resident;
  if (!input.may_reuse || gain < kReuseMin) return false;
  const double rate = input.prefill_us_per_token;
  return rate == 0.0 || static_cast<double>(gain) * rate > input.stored_us;
}

// Where a restore goes: into an empty sequence, or in the place of an idle one that holds nothing
// but a beginning of the same prompt, or else of the one worth least.
bool place_restore(const PlanInput& input, Plan& plan) {
  plan.source = ReuseSource::store;
  plan.resume_at = input.stored;
  plan.from = -1;
  plan.snapshot = nullptr;
  plan.canonical = true;
  const ResidentView* victim = nullptr;
  for (const ResidentView& resident : input.residents) {
    if (resident.running || resident.tokens.empty()) continue;
    const auto held = static_cast<Position>(resident.tokens.size());
    if (shared_prefix(resident.tokens, input.prompt.tokens) == held) victim = &resident;
  }
  if (victim == nullptr) {
    if (const ResidentView* empty = find_empty(input.residents)) {
      plan.target = empty->id;
      return true;
    }
    victim = least_valuable(input.residents, -1, {});
  }
  if (victim == nullptr) return false;
  plan.target = victim->id;
  plan.evict.push_back(victim->id);
  return true;
}

// Chooses the sequence the turn runs in. Fills source, target and evict.
bool place(const PlanInput& input, const Resume* resume, Plan& plan) {
  const bool may_rewind = resume != nullptr && !resume->resident->running;
  if (may_rewind && value_of_tail(*resume) == 0.0) {
    plan.source = resume->live ? ReuseSource::live : ReuseSource::anchor;
    plan.target = resume->resident->id;
    return true;
  }
  plan.source = resume == nullptr ? ReuseSource::none : ReuseSource::fork;
  if (const ResidentView* empty = find_empty(input.residents)) {
    plan.target = empty->id;
    return true;
  }
  const ResidentView* victim = least_valuable(input.residents, plan.from, {});
  const bool tail_is_cheaper =
      may_rewind && (victim == nullptr || value_of_tail(*resume) <= value_of(*victim));
  if (tail_is_cheaper) {
    plan.source = ReuseSource::anchor;
    plan.target = resume->resident->id;
    return true;
  }
  if (victim == nullptr) return false;
  plan.target = victim->id;
  plan.evict.push_back(victim->id);
  return true;
}

// Cells that are free once the plan is carried out, before anything is computed.
Position free_cells(const PlanInput& input, const Plan& plan) {
  const SeqId cut = plan.source == ReuseSource::anchor ? plan.target : -1;
  return input.cells.free() - input.cells_reserved +
         input.cells.freed_by(plan.evict, cut, plan.resume_at);
}

// A fork of an idle sequence becomes a rewind of it: its tail is lost, nothing else need be.
bool fork_to_rewind(const PlanInput& input, Plan& plan) {
  if (plan.source != ReuseSource::fork) return false;
  if (input.residents[static_cast<std::size_t>(plan.from)].running) return false;
  plan.source = ReuseSource::anchor;
  plan.target = plan.from;
  return true;
}

// Makes room: gives up the tail that a fork would keep or evicts idle sequences, whatever is worth
// less, then spares those that turn out not to be needed.
bool make_room(const PlanInput& input, double tail_value, Plan& plan) {
  const Position need = plan.new_cells() + input.reply_reserve;
  std::size_t fixed = plan.evict.size();  // the fork's target, if it had to be emptied
  while (free_cells(input, plan) < need) {
    const ResidentView* victim = least_valuable(input.residents, plan.from, plan.evict);
    const bool tail_is_cheaper = victim == nullptr || tail_value <= value_of(*victim);
    if (tail_is_cheaper && fork_to_rewind(input, plan)) {
      fixed = 0;
      continue;
    }
    if (victim == nullptr) return false;
    plan.evict.push_back(victim->id);
  }
  for (std::size_t i = plan.evict.size(); i-- > fixed;) {
    Plan spared = plan;
    spared.evict.erase(spared.evict.begin() + static_cast<std::ptrdiff_t>(i));
    if (free_cells(input, spared) >= need) plan = std::move(spared);
  }
  return true;
}

}  // namespace

std::expected<Plan, PlanBlocked> make_plan(const PlanInput& input) {
  assert(input.prompt.size() > 0);
  Plan plan;
  plan.prompt_tokens = input.prompt.size();
  const ResumeInput where{.prompt = input.prompt,
                          .cuts = input.cuts,
                          .rewind = input.rewind,
                          .anchors = input.anchors,
                          .limit = input.prompt.size() - 1};
  std::optional<Resume> best;
  for (const ResidentView& resident : input.residents) {
    if (resident.tokens.empty()) continue;
    Resume resume = find_resume(where, resident);
    plan.matched = std::max(plan.matched, resume.matched);
    if (resume.position == 0 || !input.may_reuse) continue;
    if (!best || better(resume, *best)) best = std::move(resume);
  }
  if (best) {
    plan.from = best->resident->id;
    plan.resume_at = best->position;
    plan.canonical = best->canonical;
    plan.snapshot = best->snapshot;
  }
  if (restore_pays(input, plan.resume_at)) {
    if (!place_restore(input, plan)) return std::unexpected(PlanBlocked::no_sequence);
    if (!make_room(input, 0.0, plan)) return std::unexpected(PlanBlocked::no_cells);
    plan.predicted_us =
        input.stored_us + static_cast<double>(plan.compute()) * input.prefill_us_per_token;
    return plan;
  }
  plan.predicted_us = static_cast<double>(plan.compute()) * input.prefill_us_per_token;
  if (!place(input, best ? &*best : nullptr, plan))
    return std::unexpected(PlanBlocked::no_sequence);
  const double tail_value = best ? value_of_tail(*best) : 0.0;
  if (!make_room(input, tail_value, plan)) return std::unexpected(PlanBlocked::no_cells);
  return plan;
}

std::string Plan::describe() const {
  std::string text;
  if (source == ReuseSource::none) {
    text = fmt::format("none: compute {} tokens in sequence {}", prompt_tokens, target);
    if (matched > 0) text += fmt::format(" (shares {} with what is resident)", matched);
  } else if (source == ReuseSource::store) {
    text = fmt::format(
        "store: {} of {} tokens from disk (shares {} with what is resident), compute {} in "
        "sequence {}",
        resume_at, prompt_tokens, matched, compute(), target);
  } else {
    text = fmt::format("{}: {} of {} tokens from sequence {} (shares {}), compute {}",
                       to_string(source), resume_at, prompt_tokens, from, matched, compute());
    if (source == ReuseSource::fork) text += fmt::format(" in sequence {}", target);
    if (!canonical) text += ", not at a canonical cut";
  }
  if (predicted_us > 0) text += fmt::format(", ~{:.2f} s", predicted_us / 1e6);
  if (!evict.empty()) text += fmt::format(", evicts {}", fmt::join(evict, " "));
  return text;
}

}  // namespace samovar
