// What the simulations share: clients that hold conversations and check every reply against the
// fake model's own answer, and the comparison of the scheduler's books with the engine. Everything
// follows from one random engine. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "sched/scheduler.h"
#include "tests/support/fake_engine.h"
#include "tests/support/turns.h"

namespace samovar::sim {

// Thrown by a check; the message is the finding.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool condition, const std::string& what) {
  if (!condition) throw Violation(what);
}

struct Outcome {
  int finished = 0;
  int cut_for_cells = 0;
  int failed = 0;
  int cancelled = 0;
  int fell_back = 0;  // turns that went on after a restore that failed
  int restored_tokens = 0;
  std::int64_t evictions = 0;
  std::int64_t computed = 0;
  std::int64_t offered = 0;
  std::map<ReuseSource, int> sources;
  int rewarms = 0;            // handed in
  int rewarms_whole = 0;      // got to their end
  int rewarms_ended = 0;      // ended otherwise
  std::int64_t rewarmed = 0;  // tokens that turns reused

  void add(const Outcome& other);
};

class Clients {
 public:
  using Submit = std::function<void(TurnRequest, std::shared_ptr<RecordingSink>)>;

  // `cells`: larger prompts would be refused, and are not sent.
  Clients(std::mt19937& random, const FakeClock& clock, Position cells, int count);

  // Every client does what is due: sends, disconnects, or takes its reply in. `may_fail`: turns may
  // end in an error that is not the client's own.
  void act(const Submit& submit, bool may_fail);

  // Takes in what has ended; `all`: every turn must have.
  void settle(bool may_fail, bool all);

  // Replies are followed by re-warms from now on, handed in by `submit`.
  void rewarm_with(Submit submit) { rewarm_ = std::move(submit); }

  // The server is gone: what runs gets no answer, and is asked again later.
  void lose_connections();

  [[nodiscard]] const Outcome& outcome() const { return outcome_; }

 private:
  struct Client {
    Conversation conversation;
    Prompt prompt;
    std::size_t max_tokens = 0;
    std::shared_ptr<RecordingSink> sink;  // nullptr: thinking
    bool disconnects = false;
    bool repeats = false;  // asks again what got no answer
    Micros until = 0;      // thinking or, if it disconnects, connected
  };

  [[nodiscard]] int pick(int below) {
    return below <= 0 ? 0 : static_cast<int>(random_() % static_cast<unsigned>(below));
  }
  void change(Client& client);
  void send(Client& client, const Submit& submit);
  void take_in(Client& client, bool may_fail);
  void count(const RecordingSink& sink);
  void drop_reasoning(Client& client);
  void rewarm(const Client& client);
  void settle_rewarms(bool all);

  std::mt19937& random_;
  const FakeClock& clock_;
  const Position cells_;
  std::vector<Client> clients_;
  Submit rewarm_;  // empty: none
  std::vector<std::shared_ptr<RecordingSink>> rewarms_;
  Outcome outcome_;
};

// Compares a scheduler before and after one step: what re-warms must never do.
class RewarmWatch {
 public:
  explicit RewarmWatch(const Scheduler& scheduler);
  void check_step(bool may_fail) const;

 private:
  struct Before {
    std::uint64_t epoch = 0;
    bool may_go = false;
  };
  const Scheduler& scheduler_;
  const bool busy_;
  const RewarmFigures figures_;
  const std::int64_t evictions_;
  std::vector<Before> sequences_;
};

// Throws if the scheduler's books and the engine disagree about anything.
void check_books(const Scheduler& scheduler, const FakeEngine& engine,
                 const FakeEngineOptions& engine_options, const SchedulerOptions& options);

// SAMOVAR_SIM_SEED; 0 without.
[[nodiscard]] unsigned only_seed();

// Runs the seeds 1 to `rounds`, or only that one; fails with the seed and how to repeat it.
[[nodiscard]] Outcome simulate(unsigned rounds, const std::function<Outcome(unsigned seed)>& run);

}  // namespace samovar::sim
