#include "obs/collected_families.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace samovar {
namespace {

// A metric's values, in the order of its label's.
struct Reading {
  MetricId id;
  std::vector<double> values;
};

template <class Numbers>
std::vector<double> all(const Numbers& numbers) {
  return {numbers.begin(), numbers.end()};
}

std::vector<Reading> readings(const Collected& now) {
  using enum MetricId;
  const auto one = [](auto number) { return std::vector{static_cast<double>(number)}; };
  std::vector<Reading> all_of_them = {
      {tokens_rewarmed, one(now.rewarmed_tokens)},
      {rewarm_seconds, one(static_cast<double>(now.rewarm_time) / 1e6)},
      {sequences_evicted, all(now.sequences_evicted)},
      {anchors_dropped, one(now.anchors_dropped)},
      {turns_waiting, one(now.waiting)},
      {turns_running, all(std::array{now.restoring, now.prefilling, now.decoding})},
      {cells_used, one(now.cells_used)},
      {cells, one(now.cells)},
      {sequences_used, one(now.sequences_used)},
      {sequences, one(now.sequences)},
      {anchors, one(now.anchors)},
      {anchor_bytes, one(now.anchor_bytes)},
      {anchor_bytes_max, one(now.anchor_bytes_max)},
      {resident_bytes, one(now.resident_bytes)}};
  if (!now.store) return all_of_them;
  const CollectedStore& store = *now.store;
  for (Reading& reading : std::vector<Reading>{{files_written, all(store.files_written)},
                                               {bytes_written, all(store.bytes_written)},
                                               {files_shed, one(store.files_shed)},
                                               {write_errors, one(store.write_errors)},
                                               {files_removed, all(store.files_removed)},
                                               {store_online, one(store.online ? 1 : 0)},
                                               {store_bytes, one(store.bytes)},
                                               {store_bytes_max, one(store.bytes_max)},
                                               {store_files, one(store.files)},
                                               {store_queued_bytes, one(store.queued_bytes)}}) {
    all_of_them.push_back(std::move(reading));
  }
  return all_of_them;
}

prometheus::MetricFamily family(const Reading& reading) {
  const MetricDefinition& metric = definition(reading.id);
  const bool counter = metric.type == MetricType::counter;
  prometheus::MetricFamily family;
  family.name = metric.name;
  family.help = metric.help;
  family.type = counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  for (std::size_t i = 0; i < reading.values.size(); ++i) {
    prometheus::ClientMetric series;
    if (!metric.label.empty()) series.label.push_back({metric.label, metric.values.at(i)});
    (counter ? series.counter.value : series.gauge.value) = reading.values[i];
    family.metric.push_back(std::move(series));
  }
  return family;
}

}  // namespace

bool is_collected(MetricId id) {
  static const std::vector<Reading> every = [] {
    Collected with_store;
    with_store.store.emplace();
    return readings(with_store);
  }();
  return std::ranges::find(every, id, &Reading::id) != every.end();
}

void append_families(const Collected& collected, std::vector<prometheus::MetricFamily>& families) {
  for (const Reading& reading : readings(collected)) families.push_back(family(reading));
}

}  // namespace samovar
