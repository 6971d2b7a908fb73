#include "app/page_parts.h"

#include <algorithm>

#include "app/version.h"
#include "base/process_memory.h"

namespace samovar::app {

namespace {

constexpr Micros kLookWait = 2 * kSecond;  // for the engine thread, which may be in a long call

// A page that is open must not take a thread that turns need.
constexpr int kListenersMax = 16;
constexpr int kThreadsPerListener = 8;

PageFacts page_facts(const PageInputs& in) {
  PageFacts facts;
  facts.version = kVersion;
  facts.started = system_clock().wall_seconds();
  facts.options = in.options.given;
  facts.model_id = in.model.id;
  facts.architecture = in.model.architecture;
  facts.context = in.model.context;
  facts.trained_context = in.model.trained_context;
  facts.recurrent = in.engine.model().rewind == RewindKind::snapshot;
  facts.sequences = in.model.sequences;
  facts.snapshot_bytes = in.engine.limits().snapshot_bytes;
  facts.token_bytes = in.engine.limits().token_bytes;
  facts.parallel = in.options.parallel;
  facts.queue_max = in.options.queue;
  facts.kv_bytes = in.plan.kv;
  facts.kv_bytes_per_token = in.plan.kv_per_token;
  facts.recurrent_bytes = in.plan.state;
  facts.model_bytes = in.plan.weights;
  if (in.store != nullptr) {
    facts.store_folder = in.store->options().folder;
    facts.store_bytes_max = in.store->options().size_max;
    facts.writes_per_day = in.store->options().writes_per_day;
  }
  return facts;
}

}  // namespace

PageApi::Parts page_parts(const PageInputs& in) {
  EngineThread& engine_thread = in.engine_thread;
  Store* const store = in.store;
  return {
      .records = in.records,
      .clock = system_clock(),
      .facts = page_facts(in),
      .ready = in.ready,
      .figures = [&engine_thread] { return engine_thread.figures(); },
      .rss_bytes = [] { return resident_bytes(); },
      .look = [&engine_thread] { return engine_thread.look(kLookWait); },
      .store_stats = [store]() -> std::optional<StoreStats> {
        if (store == nullptr) return std::nullopt;
        return store->stats();
      },
      .store_picture =
          [store] {
            StorePicture picture;
            if (store != nullptr) picture = store->picture();
            return picture;
          },
      .listeners_max = std::clamp(in.options.http_threads / kThreadsPerListener, 1, kListenersMax)};
}

}  // namespace samovar::app
