#include "replay/replay_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "replay/report_columns.h"

namespace samovar::replay {
namespace {

void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

std::string place(const Trace& trace, std::size_t run, std::size_t turn) {
  return fmt::format("run {}, turn {}", run + 1, trace.turns[turn].id);
}

void check_beyond(const std::vector<ReplayRun>& runs, const Trace& trace, std::int64_t most,
                  std::vector<std::string>& found) {
  bool any = false;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].turns.size(); ++i) {
      const auto& beyond = runs[r].turns[i].beyond;
      any = any || beyond.has_value();
      if (!beyond || *beyond <= most) continue;
      found.push_back(fmt::format("{}: {} tokens were computed beyond the new ones, more than {}",
                                  place(trace, r, i), *beyond, most));
    }
  }
  if (!any) {
    found.emplace_back("the server tells no tokens, so --max-beyond could not be held to anything");
  }
}

void check_equal(const std::vector<ReplayRun>& runs, const Trace& trace,
                 std::vector<std::string>& found) {
  std::size_t compared = 0;
  for (std::size_t r = 1; r < runs.size(); ++r) {
    for (std::size_t i = 0; i < runs[r].turns.size(); ++i) {
      const TurnResult& turn = runs[r].turns[i];
      compared += turn.sameness == Sameness::not_compared ? 0 : 1;
      if (turn.sameness != Sameness::differs) continue;
      found.push_back(fmt::format("{}: its output differs from run 1, {}", place(trace, r, i),
                                  turn.difference));
    }
  }
  if (compared == 0) {
    found.emplace_back(
        "no turn could be compared: --require-equal needs --runs 2 and temperature 0 (--greedy)");
  }
}

}  // namespace

RunSummary summarise_run(const ReplayRun& run) {
  RunSummary summary;
  std::map<std::string, std::vector<double>> phases;
  for (const TurnResult& turn : run.turns) {
    ++summary.turns;
    summary.whole += turn.outcome == TurnOutcome::whole ? 1 : 0;
    summary.cut += turn.outcome == TurnOutcome::cut ? 1 : 0;
    summary.failed += turn.outcome == TurnOutcome::failed ? 1 : 0;
    summary.left_out += turn.outcome == TurnOutcome::left_out ? 1 : 0;
    for (const PhaseColumn& phase : phase_columns()) {
      if (const auto& ms = turn.*phase.value) phases[phase.name].push_back(*ms);
    }
    add(summary.prompt, turn.prompt);
    add(summary.reused, turn.reused);
    add(summary.computed, turn.computed);
    add(summary.replied, turn.replied);
    add(summary.fresh, turn.fresh);
    add(summary.beyond, turn.beyond);
    if (turn.beyond) {
      ++summary.beyond_counted;
      summary.beyond_max = std::max(summary.beyond_max.value_or(0), *turn.beyond);
    }
    if (!turn.miss.empty()) ++summary.misses[turn.miss];
    summary.compared += turn.sameness == Sameness::not_compared ? 0 : 1;
    summary.equal += turn.sameness == Sameness::equal ? 1 : 0;
    summary.differing += turn.sameness == Sameness::differs ? 1 : 0;
    summary.after_difference += turn.sameness == Sameness::after_difference ? 1 : 0;
  }
  for (auto& [name, values] : phases) {
    if (auto spread = bench::summarise(std::move(values))) summary.phases[name] = *spread;
  }
  summary.took = run.took;
  summary.late_max = run.late_max;
  return summary;
}

std::vector<std::string> violations(const std::vector<ReplayRun>& runs, const Trace& trace,
                                    const ReplayLimits& limits) {
  std::vector<std::string> found;
  if (limits.beyond) check_beyond(runs, trace, *limits.beyond, found);
  if (limits.equal) check_equal(runs, trace, found);
  return found;
}

}  // namespace samovar::replay
