// Runner: carries out a plan against all targets, in turn, and collects what was measured. Blocks,
// on the caller's thread. What fails is a Measurement that says why; that target is then left out
// at that depth. When the user stops it, what was measured until then is the result.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/progress_text.h"
#include "bench/cost_model.h"
#include "bench/plan.h"
#include "bench/prompts.h"
#include "bench/target.h"

namespace samovar::bench {

struct RunnerTools {
  const Clock& clock;
  // Waits so long; false: the user wants to stop. wait(0) only asks.
  std::function<bool(Micros)> wait;
  std::function<void(const std::string& line)> say;
  std::function<void(const Progress& progress)> progress;  // milliseconds
};

struct RunResult {
  std::vector<Measurement> measurements;
  std::vector<TargetFacts> facts;  // of each target
  bool stopped = false;
  bool failed = false;  // some measurement was tried and failed
};

class Runner {
 public:
  // Borrows all of it.
  Runner(const std::vector<Target*>& targets, const PlanOptions& options, RunnerTools tools);

  // Once. Error: nothing could be measured at all.
  Result<RunResult> run();

 private:
  // What is known of one target.
  struct Subject {
    Target* target = nullptr;
    BodySettings settings;
    std::int64_t context = 0;                            // 0: not known
    std::map<std::int64_t, std::vector<Message>> talks;  // by session
    bool settled = false;    // its store has been at rest since its last request
    std::string out;         // why it is left out at this depth; empty: it is not
    std::set<Step> skipped;  // said to be missing at this depth
  };

  [[nodiscard]] Stop stop() const;
  Status prepare(RunResult& result);
  Status measure_words(Subject& subject);
  void warm_up(Subject& subject, std::uint64_t number);
  void begin_depth(std::int64_t depth);
  void carry_out(const Task& task, std::size_t index, RunResult& result);
  void measure(Subject& subject, const Task& task, int order, RunResult& result);
  [[nodiscard]] std::string missing(const Subject& subject, const Task& task) const;

  Measurement perform(Subject& subject, const Task& task);
  Measurement begin(Subject& subject, const Task& task);
  Measurement follow_up(Subject& subject, const Task& task, std::int64_t max_tokens);
  Measurement write(Subject& subject, const Task& task);
  void change_middle(std::vector<Message>& talk, const Task& task) const;
  Status ask_aside(Subject& subject, const Task& task);
  Status start_again(Subject& subject, const Task& task);
  void settle();
  Result<std::map<std::string, std::uint64_t>> files_at_rest(Target& target, Micros quiet);

  Answer ask(Subject& subject, const std::vector<Message>& messages, std::int64_t max_tokens);
  [[nodiscard]] std::int64_t reply_of(const Task& task) const;
  [[nodiscard]] std::int64_t room(std::int64_t depth) const;
  [[nodiscard]] double expected(const Subject& subject, const Task& task) const;
  [[nodiscard]] std::uint64_t seed_of(const Task& task, std::uint64_t what) const;
  void announce(std::size_t index);
  void show(std::size_t index);
  [[nodiscard]] double predicted(const Task& task) const;

  const PlanOptions& options_;
  const RunnerTools tools_;
  std::vector<Subject> subjects_;
  std::vector<Task> tasks_;
  CostModel costs_;
  WordCost words_;
  std::int64_t start_ = 0;  // tokens of the template before the first message
  Micros began_ = 0;
};

}  // namespace samovar::bench
