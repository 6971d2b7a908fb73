// Metrics: the Meter that counts, and what GET /metrics answers. One for the process; made first,
// so that every part may report to it; any thread.
//
// What is reported is kept here. What the parts count themselves, and how things stand, is asked
// for at each scrape. Every series is there from the start, so that a rate never begins with a gap;
// counters start at zero with the process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "obs/collected.h"
#include "obs/meter.h"

namespace samovar {

class Metrics final : public Meter {
 public:
  // `miss_classes`: the names that missed() will be called with.
  explicit Metrics(const std::vector<std::string>& miss_classes);
  ~Metrics() override;

  // `collect` is called by every text() and must stay callable until it is replaced or taken away
  // with an empty one; neither waits for more than a text() that runs.
  void collect_with(std::function<Collected()> collect);

  // In Prometheus' text format, version 0.0.4.
  [[nodiscard]] std::string text() const;
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

  void turn_refused(Refusal reason) override;
  void turn_ended(const EndedTurn& turn) override;
  void missed(std::string_view miss_class, std::int64_t tokens) override;
  void token_generated() override;
  void decode_step(Micros took) override;
  void restore_tried() override;
  void restore_accepted(std::uint64_t bytes, Micros took) override;
  void restore_rejected(RestoreFault fault, std::uint64_t bytes, Micros took) override;
  void file_written(Micros took) override;

 private:
  struct Registered;
  const std::unique_ptr<Registered> registered_;
};

}  // namespace samovar
