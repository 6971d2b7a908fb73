// The table of all metrics: names, types, labels, and what each means. The registry is made from
// it, the HELP lines come from it, and docs/metrics.md is held to it by a test. A name that is here
// keeps its meaning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace samovar {

enum class MetricId {
  turns,
  turns_refused,
  queue_seconds,
  render_seconds,
  plan_seconds,
  restore_phase_seconds,
  prefill_seconds,
  first_token_seconds,
  decode_step_seconds,
  tokens_offered,
  tokens_reused,
  tokens_computed,
  tokens_generated,
  tokens_rewarmed,
  tokens_rewarmed_reused,
  rewarm_seconds,
  misses,
  miss_tokens,
  restores_tried,
  restores_accepted,
  restores_rejected,
  restore_bytes,
  restore_seconds,
  write_seconds,
  files_written,
  bytes_written,
  files_shed,
  write_errors,
  files_removed,
  sequences_evicted,
  anchors_dropped,
  turns_waiting,
  turns_running,
  cells_used,
  cells,
  sequences_used,
  sequences,
  anchors,
  anchor_bytes,
  anchor_bytes_max,
  store_online,
  store_bytes,
  store_bytes_max,
  store_files,
  store_queued_bytes,
  resident_bytes,
};

enum class MetricType { counter, gauge, histogram };

struct MetricDefinition {
  MetricId id = {};
  MetricType type = {};
  std::string name;
  std::string help;                      // one sentence
  std::string formula;                   // how its number comes about, or what to compute from it
  std::string label = {};                // at most one; empty: none
  std::vector<std::string> values = {};  // of the label; empty: known when the server starts
};

// In the order of MetricId.
[[nodiscard]] const std::vector<MetricDefinition>& metric_table();

[[nodiscard]] const MetricDefinition& definition(MetricId id);

// Upper bounds in seconds, the last one 1,800.
[[nodiscard]] const std::vector<double>& buckets(MetricId histogram);

// The metric's row in docs/metrics.md.
[[nodiscard]] std::string markdown_row(const MetricDefinition& metric);

[[nodiscard]] std::string_view to_string(MetricType type);

}  // namespace samovar
