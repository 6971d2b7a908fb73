// Schedule: which request of a trace is made when. A request waits for the turns that it names to
// end, and then for as long as it did when it was recorded, scaled; the first of a session for its
// time since the trace began. Of a trace with more sessions than may run side by side, the others
// begin as those end; sub-agents belong to the session that started them. Knows no clock and no
// thread: it is told the time. One thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "replay/trace.h"

namespace samovar::replay {

struct ScheduleOptions {
  double speed = 1;          // pauses are divided by it; 0: there are none
  std::size_t sessions = 0;  // that run side by side at most; 0: as recorded
};

class Schedule {
 public:
  Schedule(const Trace& trace, ScheduleOptions options, Micros start);

  // A turn that is due, which is under way from now on.
  std::optional<std::size_t> next(Micros now);

  // When the next one is due; nullopt: not before another has ended.
  [[nodiscard]] std::optional<Micros> next_at() const;

  // `whole` false: what follows it is not asked for.
  void ended(std::size_t turn, Micros now, bool whole);

  [[nodiscard]] bool done() const { return left_ == 0; }
  [[nodiscard]] std::size_t left() const { return left_; }  // not ended or given up
  [[nodiscard]] const std::vector<std::size_t>& given_up() const { return given_up_; }

 private:
  struct Turn {
    std::vector<std::size_t> followers;
    std::size_t waits_for = 0;  // turns that have not ended
    std::size_t session = 0;    // its first turn; all that wait for one another are of one
    Micros delay = 0;
    bool over = false;
  };
  struct Session {
    Micros at = 0;
    std::vector<std::pair<Micros, std::size_t>> beginnings;  // turns that wait for none
    std::size_t open = 0;                                    // turns that are not over
  };
  void link(const Trace& trace);
  [[nodiscard]] std::size_t session_of(std::size_t turn);
  void begin_sessions(Micros now);
  void give_up(std::size_t turn);
  void leave(std::size_t turn);
  [[nodiscard]] Micros scaled(std::int64_t ms) const;

  const ScheduleOptions options_;
  const Micros start_;
  std::vector<Turn> turns_;
  std::vector<Session> sessions_;     // by first turn; most are empty
  std::vector<std::size_t> to_come_;  // sessions, the last one first
  std::set<std::pair<Micros, std::size_t>> due_;
  std::vector<std::size_t> given_up_;
  std::size_t running_ = 0;  // sessions
  std::size_t left_ = 0;
};

}  // namespace samovar::replay
