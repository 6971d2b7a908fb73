// From pictures of memory and store and the turns of the ledger to what the page shows of sessions:
// the tree, with names. Pure; any thread.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "api/page_json.h"
#include "ledger/turn_record.h"
#include "sched/resident_picture.h"
#include "store/store_picture.h"

namespace samovar {

struct SessionsInput {
  const ResidentPicture* memory = nullptr;  // null: not known now
  const StorePicture& store;                // empty without one
  const std::vector<TurnRecord>& turns;     // newest first
  // What a session that checkpoints carry is called, as far as this process knows.
  std::function<std::optional<std::string>(const SessionId&)> name_of;
  Micros now = 0;             // on the engine's clock
  std::int64_t wall_now = 0;  // seconds
  std::size_t nodes_max = 2000;
  std::size_t sessions_max = 200;
};

[[nodiscard]] PageSessions make_sessions(const SessionsInput& input);

}  // namespace samovar
