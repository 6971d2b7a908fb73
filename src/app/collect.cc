#include "app/collect.h"

#include "base/process_memory.h"

namespace samovar::app {
namespace {

CollectedStore collect_store(const StoreStats& stats) {
  return {.online = stats.online,
          .bytes = stats.bytes,
          .bytes_max = stats.size_max,
          .files = stats.entries,
          .queued_bytes = stats.queued_bytes,
          .files_written = {stats.segments_written, stats.snapshots_written},
          .bytes_written = {stats.segment_bytes_written, stats.snapshot_bytes_written},
          .files_shed = stats.shed,
          .write_errors = stats.write_errors,
          .files_removed = {stats.evicted, stats.evicted_full_disk, stats.superseded,
                            stats.unmatchable, stats.quarantined, stats.gone}};
}

std::uint64_t count(auto number) { return static_cast<std::uint64_t>(number); }

}  // namespace

Collected collect(const EngineThread& engine, const Store* store) {
  const SchedulerFigures figures = engine.figures();
  const RewarmFigures rewarms = engine.rewarm_figures();
  Collected now{.waiting = count(figures.waiting),
                .restoring = count(figures.restoring),
                .prefilling = count(figures.prefilling),
                .decoding = count(figures.decoding),
                .cells_used = count(figures.cells_used),
                .cells = count(figures.cells_total),
                .sequences_used = count(figures.sequences_used),
                .sequences = count(figures.sequences_total),
                .anchors = count(figures.anchors),
                .anchor_bytes = figures.anchor_bytes,
                .anchor_bytes_max = figures.anchor_bytes_max,
                .resident_bytes = resident_bytes(),
                .sequences_evicted = figures.sequences_evicted,
                .anchors_dropped = figures.anchors_dropped,
                .rewarmed_tokens = rewarms.tokens,
                .rewarm_time = rewarms.time};
  if (store != nullptr) now.store = collect_store(store->stats());
  return now;
}

}  // namespace samovar::app
