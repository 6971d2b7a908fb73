#include "obs/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "obs/collected_families.h"
#include "obs/metric_table.h"

namespace samovar {
namespace {

double seconds(Micros duration) { return static_cast<double>(duration) / 1e6; }

template <class Label>
std::size_t index(Label label) {
  return static_cast<std::size_t>(label);
}

}  // namespace

// The registry's series by metric and label value, in the table's order.
struct Metrics::Registered {
  explicit Registered(const std::vector<std::string>& classes) : miss_classes(classes) {
    counters.resize(metric_table().size());
    histograms.resize(metric_table().size());
    for (const MetricDefinition& metric : metric_table()) {
      if (is_collected(metric.id)) continue;
      if (metric.type == MetricType::counter) add_counters(metric);
      if (metric.type == MetricType::histogram) add_histogram(metric);
    }
  }

  void add_counters(const MetricDefinition& metric) {
    auto& family =
        prometheus::BuildCounter().Name(metric.name).Help(metric.help).Register(registry);
    auto& series = counters[index(metric.id)];
    if (metric.label.empty()) return series.push_back(&family.Add({}));
    const auto& values = metric.values.empty() ? miss_classes : metric.values;
    for (const auto& value : values) series.push_back(&family.Add({{metric.label, value}}));
  }

  void add_histogram(const MetricDefinition& metric) {
    auto& family =
        prometheus::BuildHistogram().Name(metric.name).Help(metric.help).Register(registry);
    histograms[index(metric.id)] = &family.Add({}, buckets(metric.id));
  }

  void add(MetricId id, double amount = 1.0, std::size_t label = 0) {
    counters[index(id)][label]->Increment(amount);
  }
  void observe(MetricId id, Micros took) { histograms[index(id)]->Observe(seconds(took)); }
  void observe(MetricId id, const std::optional<Micros>& took) {
    if (took) observe(id, *took);
  }

  // constant after construction
  const std::vector<std::string> miss_classes;
  prometheus::Registry registry;
  std::vector<std::vector<prometheus::Counter*>> counters;
  std::vector<prometheus::Histogram*> histograms;

  std::mutex mutex;
  std::function<Collected()> collect;  // guarded by mutex, which is held while it runs
};

Metrics::Metrics(const std::vector<std::string>& miss_classes)
    : registered_(std::make_unique<Registered>(miss_classes)) {}
Metrics::~Metrics() = default;

void Metrics::collect_with(std::function<Collected()> collect) {
  const std::scoped_lock lock(registered_->mutex);
  registered_->collect = std::move(collect);
}

std::string Metrics::text() const {
  auto families = registered_->registry.Collect();
  {
    const std::scoped_lock lock(registered_->mutex);
    if (registered_->collect) append_families(registered_->collect(), families);
  }
  std::ranges::sort(families, {}, &prometheus::MetricFamily::name);
  return prometheus::TextSerializer().Serialize(families);
}

void Metrics::turn_refused(Refusal reason) {
  registered_->add(MetricId::turns_refused, 1, index(reason));
}

void Metrics::turn_ended(const EndedTurn& turn) {
  Registered& into = *registered_;
  into.add(MetricId::turns, 1, index(turn.end));
  into.observe(MetricId::queue_seconds, turn.queue);
  into.observe(MetricId::render_seconds, turn.render);
  into.observe(MetricId::plan_seconds, turn.plan);
  into.observe(MetricId::restore_phase_seconds, turn.restore);
  into.observe(MetricId::prefill_seconds, turn.prefill);
  into.observe(MetricId::first_token_seconds, turn.first_token);
  into.add(MetricId::tokens_offered, static_cast<double>(turn.offered));
  into.add(MetricId::tokens_reused, static_cast<double>(turn.reused), index(turn.from));
  into.add(MetricId::tokens_computed, static_cast<double>(turn.computed));
  into.add(MetricId::tokens_rewarmed_reused, static_cast<double>(turn.rewarmed));
}

void Metrics::missed(std::string_view miss_class, std::int64_t tokens) {
  const auto& classes = registered_->miss_classes;
  const auto found = std::ranges::find(classes, miss_class);
  if (found == classes.end()) return;  // no miss, by its name
  const auto label = static_cast<std::size_t>(found - classes.begin());
  registered_->add(MetricId::misses, 1, label);
  registered_->add(MetricId::miss_tokens, static_cast<double>(tokens), label);
}

void Metrics::token_generated() { registered_->add(MetricId::tokens_generated); }

void Metrics::decode_step(Micros took) {
  registered_->observe(MetricId::decode_step_seconds, took);
}

void Metrics::restore_tried() { registered_->add(MetricId::restores_tried); }

void Metrics::restore_accepted(std::uint64_t bytes, Micros took) {
  registered_->add(MetricId::restores_accepted);
  registered_->add(MetricId::restore_bytes, static_cast<double>(bytes), 0);
  registered_->add(MetricId::restore_seconds, seconds(took), 0);
}

void Metrics::restore_rejected(RestoreFault fault, std::uint64_t bytes, Micros took) {
  registered_->add(MetricId::restores_rejected, 1, index(fault));
  registered_->add(MetricId::restore_bytes, static_cast<double>(bytes), 1);
  registered_->add(MetricId::restore_seconds, seconds(took), 1);
}

void Metrics::file_written(Micros took) { registered_->observe(MetricId::write_seconds, took); }

}  // namespace samovar
