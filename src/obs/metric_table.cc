#include "obs/metric_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cassert>

#include "obs/collected.h"
#include "obs/meter.h"

namespace samovar {
namespace {

template <class Names>
std::vector<std::string> all(const Names& names) {
  return {names.begin(), names.end()};
}

constexpr auto kCounter = MetricType::counter;
constexpr auto kGauge = MetricType::gauge;
constexpr auto kHistogram = MetricType::histogram;

using Table = std::vector<MetricDefinition>;

void add_turns(Table& table) {
  using enum MetricId;
  table.push_back({turns, kCounter, "samovar_turns_total",
                   "Turns that were accepted and have ended.",
                   "+1 with the last event of each, whether or not anybody still reads it", "end",
                   all(kTurnEnds)});
  table.push_back({turns_refused, kCounter, "samovar_turns_refused_total",
                   "Turns that were not accepted.",
                   "+1 where a turn is handed in; requests that are no turn (malformed, without a "
                   "key) are not counted",
                   "reason", all(kRefusals)});
  table.push_back({queue_seconds, kHistogram, "samovar_turn_queue_seconds",
                   "Time that a turn waited for a sequence.",
                   "Σ of its waits, from being handed in until it is planned; every ended turn"});
  table.push_back({render_seconds, kHistogram, "samovar_turn_render_seconds",
                   "Time to parse a turn's request, render its template and tokenise it.",
                   "one value per ended turn"});
  table.push_back({plan_seconds, kHistogram, "samovar_turn_plan_seconds",
                   "Time to choose what a turn reuses, and to let go of what makes room.",
                   "Σ over its plans, those that failed too; ended turns that left the queue. "
                   "Planning that finds no room is part of the wait in the queue"});
  table.push_back({restore_phase_seconds, kHistogram, "samovar_turn_restore_seconds",
                   "Time to bring what a turn reuses into its sequence.",
                   "Σ of rewinds, forks and restores, failed ones too; ended turns that did any of "
                   "these"});
  table.push_back({prefill_seconds, kHistogram, "samovar_turn_prefill_seconds",
                   "Time to compute a turn's prompt tokens.",
                   "Σ of its own engine calls and snapshots; ended turns that computed at least "
                   "one token"});
  table.push_back({first_token_seconds, kHistogram, "samovar_turn_first_token_seconds",
                   "Time from a turn's arrival to the first token of its reply.",
                   "one value per ended turn that has a token"});
  table.push_back({decode_step_seconds, kHistogram, "samovar_decode_step_seconds",
                   "Time of one decode step, which gives every running reply one token.",
                   "one value per engine call, sampling included, as it happens"});
}

void add_tokens(Table& table) {
  using enum MetricId;
  table.push_back({tokens_offered, kCounter, "samovar_tokens_offered_total",
                   "Prompt tokens of the turns that have ended.", "+ prompt size of each"});
  table.push_back({tokens_reused, kCounter, "samovar_tokens_reused_total",
                   "Prompt tokens that a turn took from memory or disk and computed further from.",
                   "+ reused tokens of each ended turn that computed at least one token", "source",
                   all(kReusedFrom)});
  table.push_back({tokens_computed, kCounter, "samovar_tokens_computed_total",
                   "Prompt tokens that a turn computed.",
                   "+ computed tokens of each ended turn, each once even if an engine error made "
                   "it repeat some"});
  table.push_back({tokens_generated, kCounter, "samovar_tokens_generated_total",
                   "Tokens of replies that were sampled.",
                   "+1 for each as it is sampled, end tokens included"});
  table.push_back({tokens_rewarmed, kCounter, "samovar_tokens_rewarmed_total",
                   "Tokens that re-warms computed in idle time.",
                   "+ tokens of each of their engine calls; in no other figure"});
  table.push_back({tokens_rewarmed_reused, kCounter, "samovar_tokens_rewarmed_reused_total",
                   "Reused tokens that a re-warm had computed, each at its first use.",
                   "a part of samovar_tokens_reused_total"});
  table.push_back({rewarm_seconds, kCounter, "samovar_rewarm_seconds_total",
                   "Engine time that re-warms took.", "Σ of their engine calls and snapshots"});
  table.push_back(
      {misses, kCounter, "samovar_misses_total",
       "Turns that computed tokens which an earlier turn had computed.",
       "+1 for each ended turn that has computed such tokens, by the class of its explanation "
       "(not `none`)",
       "class"});
  table.push_back({miss_tokens, kCounter, "samovar_miss_tokens_total",
                   "Tokens that were computed again.",
                   "+ tokens lost of each miss, at most what the turn computed", "class"});
}

void add_restores(Table& table) {
  using enum MetricId;
  const std::vector<std::string> results = {"accepted", "rejected"};
  table.push_back({restores_tried, kCounter, "samovar_restores_tried_total",
                   "Restores from disk that were begun.",
                   "= accepted + rejected + those under way"});
  table.push_back(
      {restores_accepted, kCounter, "samovar_restores_accepted_total",
       "Restores whose every part the engine took in.",
       "+1 when the last part is in; its tokens are counted as reused when the turn has "
       "computed from them"});
  table.push_back({restores_rejected, kCounter, "samovar_restores_rejected_total",
                   "Restores that were given up; the turn is planned again.",
                   "+1 when it is given up", "reason", all(kRestoreFaults)});
  table.push_back({restore_bytes, kCounter, "samovar_restore_bytes_total",
                   "Bytes that restores brought to the engine.",
                   "+ payloads taken in, when the restore is accepted or rejected", "result",
                   results});
  table.push_back({restore_seconds, kCounter, "samovar_restore_seconds_total",
                   "Time that restores took.",
                   "+ from the first read to the end of the restore, other turns' calls between "
                   "its parts included",
                   "result", results});
}

void add_store(Table& table) {
  using enum MetricId;
  table.push_back({write_seconds, kHistogram, "samovar_store_write_seconds",
                   "Time to write one checkpoint file, from its creation to its sync.",
                   "one value per file, failed ones too; rests that leave the processor to replies "
                   "are included"});
  table.push_back({files_written, kCounter, "samovar_store_written_files_total",
                   "Checkpoint files that were published.",
                   "+1 when the file is durable under its final name", "kind", all(kFileKinds)});
  table.push_back({bytes_written, kCounter, "samovar_store_written_bytes_total",
                   "Bytes of the checkpoint files that were published.",
                   "+ size of each file, header included", "kind", all(kFileKinds)});
  table.push_back({files_shed, kCounter, "samovar_store_shed_files_total",
                   "Checkpoint files that were queued and given up.",
                   "+1 for each: the disk failed, no room could be made, or what it hangs on was "
                   "not written"});
  table.push_back({write_errors, kCounter, "samovar_store_write_errors_total",
                   "Times that the disk refused to take what the store wrote.",
                   "+1 for each group of files that met an error"});
  table.push_back({files_removed, kCounter, "samovar_store_removed_files_total",
                   "Checkpoint files that left the store, by cause.",
                   "+1 when its entry is removed, or, of a damaged file that has none, when it is "
                   "put in quarantine",
                   "cause", all(kRemovalCauses)});
  table.push_back({sequences_evicted, kCounter, "samovar_sequences_evicted_total",
                   "Idle sequences that left the engine's memory, by cause.",
                   "+1 when the engine drops it", "cause", all(kEvictionCauses)});
  table.push_back({anchors_dropped, kCounter, "samovar_anchors_dropped_total",
                   "Anchors that were dropped to keep within the memory for anchors.",
                   "+1 for each; those that leave with their sequence are not counted"});
}

void add_state(Table& table) {
  using enum MetricId;
  const auto gauge = [&](MetricId id, const char* name, const char* help, const char* formula) {
    table.push_back({id, kGauge, name, help, formula});
  };
  gauge(turns_waiting, "samovar_turns_waiting", "Turns that wait for a sequence.",
        "accepted and not running");
  table.push_back({turns_running,
                   kGauge,
                   "samovar_turns_running",
                   "Turns that hold a sequence, by what they do.",
                   "as of the last engine call; their sum is at most --parallel",
                   "phase",
                   {"restore", "prefill", "decode"}});
  gauge(cells_used, "samovar_cells_used", "Cells that hold a token.",
        "a cell that forked sequences share counts once");
  gauge(cells, "samovar_cells", "Cells that there are.", "the context, -c");
  gauge(sequences_used, "samovar_sequences_used", "Sequences that hold tokens, running or not.",
        "as of the last engine call");
  gauge(sequences, "samovar_sequences", "Sequences that there are.", "--sequences");
  gauge(anchors, "samovar_anchors", "Snapshots that are kept in host memory.",
        "one that forked sequences share counts once");
  gauge(anchor_bytes, "samovar_anchor_bytes", "Bytes of the snapshots in host memory.",
        "each once");
  gauge(anchor_bytes_max, "samovar_anchor_bytes_max", "Bytes that snapshots may take.",
        "--anchor-memory");
  gauge(store_online, "samovar_store_online", "Whether the store can write.",
        "1 yes, 0 while it rests after an error");
  gauge(store_bytes, "samovar_store_bytes", "Bytes of everything in the store's folder.",
        "quarantine and other models' files included");
  gauge(store_bytes_max, "samovar_store_bytes_max", "Bytes that the store's folder may take.",
        "--store-size");
  gauge(store_files, "samovar_store_files", "Checkpoint files that the store knows.",
        "queued ones included");
  gauge(store_queued_bytes, "samovar_store_queued_bytes", "Bytes that wait to be written.",
        "of the group that is being written, too");
  gauge(resident_bytes, "process_resident_memory_bytes",
        "Bytes of the process in physical memory (RSS).",
        "what is mapped of the model's file included");
}

}  // namespace

const std::vector<MetricDefinition>& metric_table() {
  static const Table table = [] {
    Table all_of_them;
    add_turns(all_of_them);
    add_tokens(all_of_them);
    add_restores(all_of_them);
    add_store(all_of_them);
    add_state(all_of_them);
    return all_of_them;
  }();
  return table;
}

const MetricDefinition& definition(MetricId id) {
  const MetricDefinition& found = metric_table()[static_cast<std::size_t>(id)];
  assert(found.id == id);
  return found;
}

const std::vector<double>& buckets(MetricId histogram) {
  static const std::vector<double> phases = {
      0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,  0.25, 0.5,
      1,      2.5,     5,      10,    30,     60,    120,  300,   600,  1200, 1800};
  static const std::vector<double> steps = {0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02,
                                            0.03,  0.04,  0.05,  0.075, 0.1,    0.15, 0.2,   0.3,
                                            0.5,   1,     2.5,   10,    60,     300,  1800};
  return histogram == MetricId::decode_step_seconds ? steps : phases;
}

std::string_view to_string(MetricType type) {
  switch (type) {
    case MetricType::counter:
      return "counter";
    case MetricType::gauge:
      return "gauge";
    case MetricType::histogram:
      return "histogram";
  }
  return "untyped";
}

std::string markdown_row(const MetricDefinition& metric) {
  std::string label;
  if (!metric.label.empty()) {
    label = fmt::format("`{}`: {}", metric.label,
                        metric.values.empty() ? "class of the explanation"
                                              : fmt::format("{}", fmt::join(metric.values, ", ")));
  }
  return fmt::format("| `{}` | {} | {} | {} | {} |", metric.name, to_string(metric.type), label,
                     metric.help, metric.formula);
}

}  // namespace samovar
