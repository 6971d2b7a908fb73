// What a turn cost, as one line, and the bar while its prompt is computed. Only figures that the
// server gave or this program measured itself, which the words say; prefill and decode are never
// in one figure. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "client/completion_chunk.h"

namespace samovar::client {

// Measured here, from sending the request; milliseconds.
struct Measured {
  std::optional<double> first_text_ms;
  double total_ms = 0;
};

[[nodiscard]] std::string figures_line(const TurnFigures& figures, const Measured& measured);

// At most `columns` wide. The bar's first part are reused tokens, shown lighter.
[[nodiscard]] std::string progress_line(const PromptProgress& progress, int columns);

// For servers that send no progress: "⠹ waiting for the first word, 12 s".
[[nodiscard]] std::string waiting_line(double seconds, int tick);

[[nodiscard]] std::string grouped(std::int64_t number);    // 12,345
[[nodiscard]] std::string short_time(double seconds);      // "40 ms", "1.2 s", "3 min 5 s"
[[nodiscard]] std::string age_text(std::int64_t seconds);  // "just now", "5 min ago", "3 days ago"

}  // namespace samovar::client
