// CostModel: how long the next measurement will about take, from those that were made: a power of
// the context's length through the last two. For progress and announcements only; no result
// contains it. A value; one thread. Milliseconds.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/measurement.h"

namespace samovar::bench {

class CostModel {
 public:
  // What a cold prompt of that length took.
  void cold(const std::string& target, std::int64_t tokens, double ms);
  // What another measurement took, everything around it included.
  void other(const std::string& target, Step step, std::int64_t depth, double ms);

  [[nodiscard]] double predict(const std::string& target, Step step, std::int64_t depth) const;

 private:
  struct Key {
    std::string target;
    Step step;
    std::int64_t depth;
    auto operator<=>(const Key&) const = default;
  };
  std::map<std::string, std::map<std::int64_t, double>> cold_;
  std::map<Key, double> others_;
};

}  // namespace samovar::bench
