// Replayer: makes the requests of a trace again, with their pauses, and feeds each reply back as
// the assistant's message of the next request. One run of the whole trace a call; of several runs
// the later ones are compared with the first. Borrows trace, target and clock.
//
// run() belongs to one thread, which waits in it; requests are made from threads of its own, or
// from this one with `threads` 0. A request that fails ends its conversation; the others go on.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bench/target.h"
#include "replay/histories.h"
#include "replay/schedule.h"
#include "replay/trace.h"
#include "replay/turn_result.h"

namespace samovar::replay {

struct ReplayOptions {
  ScheduleOptions schedule;
  bool recorded_replies = false;  // feed back those of the trace
  bool greedy = false;            // temperature 0 whatever was recorded
  bool sessions_named = true;     // prompt_cache_key
  std::string model;              // of the requests; empty: the field is left out
  Micros timeout = 0;             // for each reply; 0: none
  std::size_t threads = 16;
};

struct ReplayProgress {
  std::size_t done = 0;
  std::size_t turns = 0;
  std::size_t failed = 0;
  std::size_t running = 0;
};

struct ReplayRun {
  std::vector<TurnResult> turns;  // as the trace's
  Micros took = 0;
  // A request was made so long after it was due, as all threads were waiting for replies.
  Micros late_max = 0;
};

class Replayer {
 public:
  struct Hooks {
    std::function<void(const ReplayProgress&)> progress;  // after each turn, one at a time
    bench::Stop stop;                                     // any thread; may be empty
    // With `threads` 0: until this instant nothing is due.
    std::function<void(Micros until)> wait;
  };
  Replayer(const Trace& trace, bench::Target& target, const Clock& clock, ReplayOptions options);

  [[nodiscard]] ReplayRun run(const Hooks& hooks);

 private:
  struct Work;
  void work(Work& work, const Hooks& hooks);
  void ask(std::size_t turn, Work& work, const Hooks& hooks);
  [[nodiscard]] Followed followed(std::size_t turn, const Work& work,
                                  const std::vector<ChatMessage>& messages) const;
  [[nodiscard]] FedReply feed(std::size_t turn, const TurnResult& result) const;
  void compare_with_first(std::size_t turn, Work& work) const;
  [[nodiscard]] bool same_settings(std::size_t turn) const;

  const Trace& trace_;
  const Histories histories_;
  bench::Target& target_;
  const Clock& clock_;
  const ReplayOptions options_;
  std::vector<TurnResult> first_;  // of the first run; empty during it
  std::vector<std::unique_ptr<FedReply>> first_fed_;
};

}  // namespace samovar::replay
