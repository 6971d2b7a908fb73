// What the page is told of: the composition of PageApi's parts. One thread; what it is given must
// outlive the result.
#pragma once

#include <functional>

#include "api/models.h"
#include "api/page_api.h"
#include "app/options.h"
#include "engine/engine.h"
#include "engine/memory_plan.h"
#include "sched/engine_thread.h"
#include "store/store.h"

namespace samovar::app {

struct PageInputs {
  const ServeOptions& options;
  const MemoryPlan& plan;
  const ServedModel& model;
  const Engine& engine;
  EngineThread& engine_thread;
  Store* store;  // null: none
  TurnRecords& records;
  std::function<bool()> ready;
};

[[nodiscard]] PageApi::Parts page_parts(const PageInputs& inputs);

}  // namespace samovar::app
