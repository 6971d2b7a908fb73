#include "turn/local_turn_service.h"

#include <utility>

namespace samovar {

Result<std::shared_ptr<TurnStream>> LocalTurnService::submit(
    TurnRequest request, std::shared_ptr<TurnObserver> observer) {
  auto stream = std::make_shared<TurnStream>(std::move(observer));
  if (auto accepted = engine_.submit(std::move(request), stream); !accepted) {
    return std::unexpected(accepted.error());
  }
  return stream;
}

}  // namespace samovar
