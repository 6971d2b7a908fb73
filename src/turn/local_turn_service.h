// LocalTurnService: TurnService over the engine thread of this process. Thread-safe; borrows the
// engine thread.
#pragma once

#include <memory>

#include "sched/engine_thread.h"
#include "turn/turn_service.h"

namespace samovar {

class LocalTurnService final : public TurnService {
 public:
  explicit LocalTurnService(EngineThread& engine) : engine_(engine) {}

  Result<std::shared_ptr<TurnStream>> submit(TurnRequest request,
                                             std::shared_ptr<TurnObserver> observer) override;
  [[nodiscard]] int load() const override { return engine_.load(); }

 private:
  EngineThread& engine_;
};

}  // namespace samovar
