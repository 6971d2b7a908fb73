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

  std::mt19937& random_;
  const FakeClock& clock_;
  const Position cells_;
  std::vector<Client> clients_;
  Outcome outcome_;
};

// Throws if the scheduler's books and the engine disagree about anything.
void check_books(const Scheduler& scheduler, const FakeEngine& engine,
                 const FakeEngineOptions& engine_options, const SchedulerOptions& options);

// SAMOVAR_SIM_SEED; 0 without.
[[nodiscard]] unsigned only_seed();

// Runs the seeds 1 to `rounds`, or only that one; fails with the seed and how to repeat it.
[[nodiscard]] Outcome simulate(unsigned rounds, const std::function<Outcome(unsigned seed)>& run);

}  // namespace samovar::sim
