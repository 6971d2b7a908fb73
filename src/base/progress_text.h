// ProgressText: how far something long is, in words, from what it is told and when. On a terminal a
// bar that is drawn again and again, else a line every ten seconds. Pure but for its memory of the
// last seconds, from which it takes the rate; one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "base/clock.h"

namespace samovar {

struct Progress {
  std::string name;         // of what is done now
  std::uint64_t done = 0;   // in units of the work: bytes, milliseconds, steps
  std::uint64_t total = 0;  // likewise
};

// What is different between kinds of work.
struct ProgressStyle {
  std::string (*amount)(std::uint64_t units) = nullptr;  // "1.25 GiB"
  std::string verb;             // "downloading": begins the first line without a terminal
  bool rate = false;            // says units a second
  Micros window = 8 * kSecond;  // which the rate, and so the time left, is taken from
};

[[nodiscard]] ProgressStyle download_progress();

class ProgressText {
 public:
  ProgressText(bool terminal, ProgressStyle style)
      : terminal_(terminal), style_(std::move(style)) {}

  // What to show now; nullopt: nothing new. A bar has no line end and fits into `columns`.
  [[nodiscard]] std::optional<std::string> next(const Progress& progress, Micros now, int columns);

 private:
  struct Mark {
    Micros at = 0;
    std::uint64_t done = 0;
  };
  [[nodiscard]] double rate() const;  // units a second; 0: not known yet
  [[nodiscard]] std::string figures(const Progress& progress, double share, bool whole) const;

  const bool terminal_;
  const ProgressStyle style_;
  std::deque<Mark> marks_;  // of the last seconds
  std::optional<Micros> shown_;
  bool complete_ = false;
};

// "1:05" or "2:00:05".
[[nodiscard]] std::string clock_text(double seconds);

}  // namespace samovar
