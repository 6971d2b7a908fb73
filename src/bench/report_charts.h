// Which charts a report has, and what is in them. Pure; any thread. nullopt: there is too little
// for that chart.
#pragma once

#include <optional>

#include "bench/chart.h"

namespace samovar::bench {

// Time to the first piece over the context's length: cold, resident, after restarts.
[[nodiscard]] std::optional<LineChart> first_piece_chart(const Report& report,
                                                         const std::vector<Section>& sections);

// One section's figures over the context's length.
[[nodiscard]] std::optional<LineChart> section_chart(const Report& report, const Section& section);

// Where the time to the first piece went in the turn in the middle of each step, at every depth.
[[nodiscard]] std::optional<BarChart> parts_chart(const Report& report, const Section& section);

}  // namespace samovar::bench
