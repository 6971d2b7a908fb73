// What the metrics ask of the parts at every scrape. Any thread.
#pragma once

#include "obs/collected.h"
#include "sched/engine_thread.h"
#include "store/store.h"

namespace samovar::app {

// `store` may be null: there is none.
[[nodiscard]] Collected collect(const EngineThread& engine, const Store* store);

}  // namespace samovar::app
