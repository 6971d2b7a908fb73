// The columns of a replay's report, by name: one list for tables, JSON and CSV.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "replay/turn_result.h"

namespace samovar::replay {

struct PhaseColumn {
  const char* name;
  std::optional<double> TurnResult::* value;  // ms
};

struct TokenColumn {
  const char* name;
  std::optional<std::int64_t> TurnResult::* value;
};

[[nodiscard]] std::span<const PhaseColumn> phase_columns();
[[nodiscard]] std::span<const TokenColumn> token_columns();

}  // namespace samovar::replay
