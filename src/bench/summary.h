// The summary of a report: for every step and depth each target's median and spread, and the ratio
// of the first two targets, from the pairs of each round. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/statistics.h"

namespace samovar::bench {

enum class Unit { milliseconds, tokens_per_second, bytes };

struct Cell {
  std::optional<Summary> value;           // in the section's unit; nullopt: see `missing`
  std::optional<double> prompt_tokens;    // median
  std::optional<double> computed_tokens;  // median
  std::optional<double>
      prefill_per_second;  // Step::cold: computed tokens over the time to the first
  std::optional<double> server_per_second;  // Step::decode: what the server says, median
  std::optional<double> bytes_per_token;    // Step::write: over tokens computed and sampled, median
  std::string missing;
  // Step::restart_cold: the figures are those of restart_warm, of which nothing came from files.
  bool stands_for_both = false;
};

// Of the first target. Even: within 2 %, or fewer than three rounds, or a spread with 1 in it.
enum class Verdict { none, better, even, loses };

struct Row {
  std::int64_t depth = 0;
  std::int64_t sessions = 1;
  std::vector<Cell> cells;       // one a target of the report
  std::optional<Summary> ratio;  // first target / second target
  Verdict verdict = Verdict::none;
};

struct Section {
  Step step = Step::cold;
  Unit unit = Unit::milliseconds;
  std::vector<Row> rows;  // by depth
};

[[nodiscard]] Unit unit_of(Step step);

// What a measurement counts in its step's unit; nullopt: it was not measured.
[[nodiscard]] std::optional<double> value_of(const Measurement& measurement);

[[nodiscard]] std::vector<Section> summarise(const Report& report);

// Where the time to the first piece went, by the server's own figures; the last part is what they
// do not account for. Milliseconds.
struct Part {
  std::string name;
  double ms = 0;
};
[[nodiscard]] std::vector<Part> parts_of(const Measurement& measurement);

// The measurement in the middle of all of that step, depth, count of sessions and target; nullptr:
// none.
[[nodiscard]] const Measurement* middle_of(const Report& report, Step step, std::int64_t depth,
                                           std::int64_t sessions, const std::string& target);

}  // namespace samovar::bench
