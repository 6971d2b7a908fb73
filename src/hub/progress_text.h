// ProgressText: a download in words, from what it is told and when. On a terminal a bar that is
// drawn again and again, else a line every ten seconds. Pure but for its memory of the last
// seconds, from which it takes the rate; one thread.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "base/clock.h"
#include "hub/hub_tools.h"

namespace samovar::hub {

class ProgressText {
 public:
  explicit ProgressText(bool terminal) : terminal_(terminal) {}

  // What to show now; nullopt: nothing new. A bar has no line end and fits into `columns`.
  [[nodiscard]] std::optional<std::string> next(const FetchProgress& progress, Micros now,
                                                int columns);

 private:
  struct Mark {
    Micros at = 0;
    std::uint64_t done = 0;
  };
  [[nodiscard]] double rate() const;  // bytes a second; 0: not known yet

  const bool terminal_;
  std::deque<Mark> marks_;  // of the last seconds
  std::optional<Micros> shown_;
  bool complete_ = false;
};

}  // namespace samovar::hub
