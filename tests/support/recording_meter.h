// A Meter that keeps what it is told, for tests. Any thread. Header only.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "obs/meter.h"

namespace samovar {

class RecordingMeter final : public Meter {
 public:
  struct Restore {
    std::uint64_t bytes = 0;
    Micros took = 0;
  };
  struct Told {
    std::vector<Refusal> refused;
    std::vector<EndedTurn> ended;
    std::vector<std::pair<std::string, std::int64_t>> missed;
    int generated = 0;
    std::vector<Micros> steps;
    int tried = 0;
    std::vector<Restore> accepted;
    std::vector<std::pair<RestoreFault, Restore>> rejected;
    std::vector<Micros> written;
  };

  [[nodiscard]] Told told() const {
    const std::scoped_lock lock(mutex_);
    return told_;
  }

  void turn_refused(Refusal reason) override { hold()->refused.push_back(reason); }
  void turn_ended(const EndedTurn& turn) override { hold()->ended.push_back(turn); }
  void missed(std::string_view miss_class, std::int64_t tokens) override {
    hold()->missed.emplace_back(miss_class, tokens);
  }
  void token_generated() override { ++hold()->generated; }
  void decode_step(Micros took) override { hold()->steps.push_back(took); }
  void restore_tried() override { ++hold()->tried; }
  void restore_accepted(std::uint64_t bytes, Micros took) override {
    hold()->accepted.push_back({bytes, took});
  }
  void restore_rejected(RestoreFault fault, std::uint64_t bytes, Micros took) override {
    hold()->rejected.emplace_back(fault, Restore{bytes, took});
  }
  void file_written(Micros took) override { hold()->written.push_back(took); }

 private:
  // The lock lives to the end of the full expression.
  struct Locked {
    std::unique_lock<std::mutex> lock;
    Told* told;
    Told* operator->() { return told; }
  };
  Locked hold() { return {std::unique_lock(mutex_), &told_}; }

  mutable std::mutex mutex_;
  Told told_;  // guarded by mutex_
};

}  // namespace samovar
