// The metrics that are collected at a scrape, in the library's form. Private to src/obs. Pure.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "obs/collected.h"
#include "obs/metric_table.h"

namespace samovar {

// Whether the metric comes from Collected; all others are reported to Metrics.
[[nodiscard]] bool is_collected(MetricId id);

// One family for each of them; none of the store's without a store.
void append_families(const Collected& collected, std::vector<prometheus::MetricFamily>& families);

}  // namespace samovar
