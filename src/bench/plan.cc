#include "bench/plan.h"

#include <algorithm>
#include <numeric>

namespace samovar::bench {
namespace {

int rounds_at(const std::vector<int>& rounds, std::size_t index) {
  return rounds.empty() ? 1 : std::max(1, rounds[std::min(index, rounds.size() - 1)]);
}

void add_sessions(const PlanOptions& options, std::int64_t depth, std::vector<Task>& tasks) {
  for (int round = -1; round < options.rounds; ++round) {
    for (std::int64_t session = 0; session < options.sessions; ++session) {
      tasks.push_back({.step = Step::sessions,
                       .depth = depth,
                       .round = round,
                       .session = session,
                       .recorded = round >= 0,
                       .begins = round < 0});
    }
  }
}

}  // namespace

std::vector<Task> make_tasks(const PlanOptions& options) {
  std::vector<Task> tasks;
  const auto wants = [&](Step step) {
    return std::ranges::find(options.steps, step) != options.steps.end();
  };
  for (std::size_t i = 0; i < options.depths.size(); ++i) {
    const std::int64_t depth = options.depths[i];
    const bool gone_on_with = std::ranges::any_of(
        options.steps, [](Step step) { return step != Step::cold && step != Step::sessions; });
    if (wants(Step::cold) || gone_on_with) {
      const int rounds = wants(Step::cold) ? rounds_at(options.cold_rounds, i) : 1;
      for (int round = 0; round < rounds; ++round) {
        tasks.push_back(
            {.depth = depth, .round = round, .recorded = wants(Step::cold), .begins = true});
      }
    }
    const auto add = [&](Step step, int rounds) {
      if (!wants(step)) return;
      for (int round = 0; round < rounds; ++round) tasks.push_back({step, depth, round});
    };
    // A server that forgets at a restart has to compute all of it again, so those come last.
    add(Step::decode, options.rounds);
    add(Step::resident, options.rounds);
    add(Step::write, options.rounds);
    add(Step::side, options.rounds);
    add(Step::edit, rounds_at(options.edit_rounds, i));
    add(Step::restart_warm, rounds_at(options.restart_rounds, i));
    add(Step::restart_cold, rounds_at(options.restart_rounds, i));
    if (wants(Step::sessions)) add_sessions(options, depth, tasks);
  }
  return tasks;
}

std::vector<std::size_t> order_of(std::size_t index, std::size_t targets) {
  std::vector<std::size_t> order(targets);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (index % 2 == 1) std::ranges::reverse(order);
  return order;
}

}  // namespace samovar::bench
