#include "prefix/rewarm_plan.h"

#include <algorithm>

#include "prefix/resume.h"
#include "prefix/shared_prefix.h"

namespace samovar {
namespace {

// What is left free for the next turn: this part of all cells.
constexpr Position kCellsLeft = 8;

bool may_go(const ResidentView& resident) { return resident.spare || resident.saved; }

class Guest {
 public:
  Guest(const RewarmInput& input, const Resume& resume, Plan& plan)
      : input_(input),
        plan_(plan),
        worth_(plan.compute() * resume.resident->weight * kTwinWeight) {}

  // Chooses the sequence to fork into. False: there is none.
  bool find_sequence() {
    for (const ResidentView& resident : input_.residents) {
      if (!outdated(resident)) continue;
      plan_.evict.push_back(resident.id);
      plan_.target = resident.id;
      return true;
    }
    const auto empty = std::ranges::count_if(
        input_.residents, [](const ResidentView& resident) { return resident.tokens.empty(); });
    if (empty > 0) plan_.target = find_empty(input_.residents)->id;
    if (empty > 1) return true;
    const ResidentView* least = cheapest();
    if (empty == 1) {
      // The next turn that needs a sequence evicts what is worth least then.
      return least == nullptr || value_of(*least) >= worth_ || may_go(*least);
    }
    if (least == nullptr || !evict(*least)) return false;
    plan_.target = least->id;
    return true;
  }

  // Makes room for what is computed. False: it would take too much.
  bool find_cells() {
    const Position left = std::max(input_.reply_reserve, input_.cells.total() / kCellsLeft);
    while (input_.cells.free() + input_.cells.freed_by(plan_.evict) < plan_.compute() + left) {
      const ResidentView* least = cheapest();
      if (least == nullptr || !evict(*least)) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] const ResidentView* cheapest() const {
    return least_valuable(input_.residents, plan_.from, plan_.evict);
  }

  // Left by an earlier re-warm of the line that is forked.
  [[nodiscard]] bool outdated(const ResidentView& resident) const {
    return resident.guest && resident.twin == plan_.from && !resident.tokens.empty();
  }

  // False if it must stay.
  bool evict(const ResidentView& resident) {
    given_up_ += value_of(resident);
    if (!may_go(resident) || given_up_ >= worth_) return false;
    plan_.evict.push_back(resident.id);
    return true;
  }

  const RewarmInput& input_;
  Plan& plan_;
  const double worth_;
  double given_up_ = 0.0;
};

// Orders as better() does; of equals, what an earlier re-warm left comes first.
bool better_for_guest(const Resume& a, const Resume& b) {
  if (a.position == b.position && a.live == b.live && a.resident->guest != b.resident->guest) {
    return a.resident->guest;
  }
  return better(a, b);
}

}  // namespace

std::optional<Plan> make_rewarm_plan(const RewarmInput& input) {
  const ResumeInput where{.prompt = input.prompt,
                          .cuts = input.cuts,
                          .rewind = input.rewind,
                          .anchors = input.anchors,
                          .limit = input.until};
  Plan plan;
  plan.prompt_tokens = input.until;
  std::optional<Resume> best;
  for (const ResidentView& resident : input.residents) {
    if (resident.running) return std::nullopt;
    Resume resume = find_resume(where, resident);
    plan.matched = std::max(plan.matched, resume.matched);
    if (resume.position == 0) continue;
    if (!best || better_for_guest(resume, *best)) best = std::move(resume);
  }
  if (!best) return std::nullopt;
  plan.from = best->resident->id;
  plan.resume_at = std::min(best->position, input.until);
  plan.canonical = best->canonical;
  plan.snapshot = best->snapshot;
  if (plan.compute() == 0) return plan;
  Guest guest(input, *best, plan);
  if (best->live) {
    plan.source = ReuseSource::live;
    plan.target = plan.from;
  } else if (best->resident->guest) {
    plan.source = ReuseSource::anchor;
    plan.target = plan.from;
  } else {
    plan.source = ReuseSource::fork;
    if (!guest.find_sequence()) return std::nullopt;
  }
  if (!guest.find_cells()) return std::nullopt;
  return plan;
}

}  // namespace samovar
