// What a replay comes to: how many turns, how long each phase took, how many tokens were computed
// that need not have been, what was missed, whether the runs agree. Pure; any thread. A figure that
// the server does not tell is "–" in a table, null in JSON and empty in CSV.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/statistics.h"
#include "replay/replayer.h"
#include "replay/trace.h"

namespace samovar::replay {

struct RunSummary {
  std::size_t turns = 0;
  std::size_t whole = 0;
  std::size_t cut = 0;
  std::size_t failed = 0;
  std::size_t left_out = 0;
  std::map<std::string, bench::Summary> phases;  // ms, by name; those that were told
  std::optional<std::int64_t> prompt, reused, computed, replied;  // sums of what was told
  std::optional<std::int64_t> fresh, beyond;
  std::size_t beyond_counted = 0;  // turns whose `beyond` is known
  std::optional<std::int64_t> beyond_max;
  std::map<std::string, std::size_t> misses;
  std::size_t compared = 0;
  std::size_t equal = 0;
  std::size_t differing = 0;  // turns that differ first in their conversation
  std::size_t after_difference = 0;
  Micros took = 0;
  Micros late_max = 0;  // a request was made so long after it was due
};

[[nodiscard]] RunSummary summarise_run(const ReplayRun& run);

struct ReplayLimits {
  std::optional<std::int64_t> beyond;  // tokens that any turn may compute beyond the new ones
  bool equal = false;                  // every turn of the later runs that is compared
};

// What the limits are violated by, for people; empty: nothing. A limit that nothing could be held
// against is violated.
[[nodiscard]] std::vector<std::string> violations(const std::vector<ReplayRun>& runs,
                                                  const Trace& trace, const ReplayLimits& limits);

[[nodiscard]] std::string report_text(const Trace& trace, const std::vector<ReplayRun>& runs,
                                      bool every_turn);
[[nodiscard]] std::string report_json(const Trace& trace, const std::vector<ReplayRun>& runs);
[[nodiscard]] std::string report_csv(const Trace& trace, const std::vector<ReplayRun>& runs);

}  // namespace samovar::replay
