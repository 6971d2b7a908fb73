// Goal: no interleaving of arrivals, disconnects, full cells and engine errors gives a wrong token,
// loses a turn, evicts a running sequence or lets the books drift from the engine.
//
// Method: the real scheduler over a fake engine and clock, driven by a seed. Clients hold
// conversations: they extend, edit, branch, regenerate, repeat interrupted requests and send side
// requests. After every step the invariants are checked; every finished reply is compared with the
// fake model's own answer. One seed is one run: SAMOVAR_SIM_SEED=n sim_test repeats it. Two
// canaries with a broken engine must be noticed, or the simulation sees nothing.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <stdexcept>

#include "sched/scheduler.h"
#include "tests/support/fake_engine.h"
#include "tests/support/turns.h"

namespace samovar {
namespace {

struct Client {
  Conversation conversation;
  Prompt prompt;
  std::size_t max_tokens = 0;
  std::shared_ptr<RecordingSink> sink;  // nullptr: thinking
  bool disconnects = false;
  Micros until = 0;  // thinking or, if it disconnects, connected
};

struct Outcome {
  int finished = 0;
  int cut_for_cells = 0;
  int failed = 0;
  int cancelled = 0;
  std::int64_t evictions = 0;
  std::int64_t computed = 0;
  std::int64_t offered = 0;
  std::map<ReuseSource, int> sources;
};

// Thrown by a check; the message is the finding.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void require(bool condition, const std::string& what) {
  if (!condition) throw Violation(what);
}

class Simulation {
 public:
  Simulation(unsigned seed, FakeEngineOptions engine_options)
      : random_(seed), options_(vary(engine_options, seed)), engine_(options_, clock_) {
    scheduler_options_.parallel = 1 + pick(options_.sequences - 1);
    scheduler_options_.anchor_grid = 256;
    scheduler_options_.anchor_bytes_max =
        static_cast<std::size_t>(2 + pick(40)) * options_.snapshot_bytes;
    scheduler_options_.reply_reserve = 1 + pick(64);
    scheduler_ = std::make_unique<Scheduler>(engine_, clock_, scheduler_options_);
    clients_.resize(static_cast<std::size_t>(1 + pick(8)));
    for (Client& client : clients_)
      client.conversation.messages = {words(pick(300), 1 + random_() % 3)};
  }

  Outcome run(int steps) {
    for (int step = 0; step < steps; ++step) {
      for (Client& client : clients_) act(client);
      if (!scheduler_->step()) clock_.advance(5 * kMillisecond);
      check();
    }
    // No more requests: everything must end by itself.
    for (int step = 0; scheduler_->waiting() + scheduler_->running() > 0; ++step) {
      require(step < 200'000, "turns do not end");
      scheduler_->step();
      check();
    }
    for (Client& client : clients_) settle(client);
    outcome_.evictions = scheduler_->memory().evictions();
    return outcome_;
  }

 private:
  [[nodiscard]] int pick(int below) {
    return below <= 0 ? 0 : static_cast<int>(random_() % static_cast<unsigned>(below));
  }

  static FakeEngineOptions vary(FakeEngineOptions options, unsigned seed) {
    std::mt19937 random(seed * 7919 + 1);
    options.seed = seed;
    options.sequences = 2 + static_cast<int>(random() % 7);
    options.cells = 600 + static_cast<Position>(random() % 3000);
    options.ubatch = 32 + static_cast<int>(random() % 225);
    return options;
  }

  void act(Client& client) {
    if (client.sink == nullptr) {
      if (clock_.now() >= client.until) send(client);
      return;
    }
    if (client.disconnects && clock_.now() >= client.until) client.sink->cancel = true;
    if (client.sink->ended()) settle(client);
  }

  // The next request of the client: mostly a follow-up, sometimes what real clients do besides.
  void change(Client& client) {
    auto& messages = client.conversation.messages;
    const int what = pick(100);
    const auto count = static_cast<int>(messages.size());
    if (what < 10 && count > 2) {  // edit or branch
      messages.resize(static_cast<std::size_t>(1 + pick(count - 1)));
    } else if (what < 20) {  // regenerate or repeat
      if (count > 1) return;
    } else if (what < 27) {  // a new chat with a system prompt that others have too
      messages = {words(pick(300), 1 + random_() % 3)};
    } else if (what < 30) {  // an edit inside a message
      Tokens& edited = messages[static_cast<std::size_t>(pick(count))];
      if (!edited.empty()) edited[edited.size() / 2] = FakeEngine::kWords + pick(900);
    }
    messages.push_back(words(1 + pick(pick(10) == 0 ? 500 : 60), random_()));
  }

  void send(Client& client) {
    change(client);
    client.prompt = client.conversation.prompt();
    if (client.prompt.size() >= options_.cells) {  // would be refused with 400
      client.conversation.messages = {words(20, random_())};
      return;
    }
    client.max_tokens = static_cast<std::size_t>(1 + pick(60));
    client.disconnects = pick(5) == 0;
    client.until = clock_.now() + pick(60) * kMillisecond;
    client.sink = std::make_shared<RecordingSink>();
    TurnRequest request;
    request.prompt = client.prompt;
    request.arrived = clock_.now();
    request.max_tokens = static_cast<std::int64_t>(client.max_tokens);
    auto sampler = engine_.make_sampler(request.sampling, request.prompt.tokens);
    scheduler_->add(std::move(request), std::move(*sampler), client.sink);
  }

  // A turn has ended: check what it was told, and go on from it as a client would.
  void settle(Client& client) {
    if (client.sink == nullptr) return;
    RecordingSink& sink = *client.sink;
    require(sink.ended(), "a turn never ended");
    require(sink.events_after_end == 0, "events after the last one");
    require(sink.starts <= 1, "a turn started twice");
    const Tokens expected = FakeEngine::expected_reply(client.prompt.tokens, client.max_tokens);
    const TurnTimings& timings = sink.timings();
    require(timings.reused_tokens + timings.computed_tokens <= client.prompt.size(),
            "reused + computed is more than the prompt");
    require(
        !sink.finished || timings.reused_tokens + timings.computed_tokens == client.prompt.size(),
        "reused + computed is not the prompt");
    require(timings.reused_tokens <= std::max(0, sink.started.reused_tokens),
            "more reused than planned");
    require(text_of(expected).starts_with(sink.reply), "a wrong token in a reply");
    if (sink.finished) {
      ++outcome_.finished;
      ++outcome_.sources[timings.source];
      outcome_.offered += timings.prompt_tokens;
      outcome_.computed += timings.computed_tokens;
      const bool whole = sink.reply == text_of(expected);
      if (!whole) {
        require(sink.finished->reason == FinishReason::length, "a reply ended early");
        ++outcome_.cut_for_cells;
      }
      // Clients send replies back as they were, or shortened, as a template that drops reasoning
      // does.
      Tokens said = expected;
      if (pick(2) == 0)
        said.erase(said.begin(), said.begin() + pick(static_cast<int>(said.size())));
      client.conversation.messages.push_back(as_reply(said));
    } else if (sink.failed->error.kind == ErrorKind::cancelled) {
      ++outcome_.cancelled;
    } else {
      require(options_.failure_rate > 0,
              "a turn failed although nothing did: " + sink.failed->error.describe());
      ++outcome_.failed;
    }
    client.sink = nullptr;
    client.until = clock_.now() + pick(40) * kMillisecond;
  }

  void check() {
    const Memory& memory = scheduler_->memory();
    require(engine_.cells_used() == memory.cells().used(), "the books disagree about the cells");
    require(scheduler_->running() <= scheduler_options_.parallel, "too many turns run");
    require(memory.anchors().bytes() <=
                scheduler_options_.anchor_bytes_max +
                    options_.snapshot_bytes * 2 * static_cast<std::size_t>(options_.sequences),
            "anchors beyond the budget");
    int running = 0;
    for (SeqId sequence = 0; sequence < options_.sequences; ++sequence) {
      const Resident& resident = memory.resident(sequence);
      running += resident.running ? 1 : 0;
      require(engine_.tokens_of(sequence) == resident.tokens,
              "the books disagree about the tokens");
      for (const Anchor& anchor : memory.anchors().of(sequence)) {
        require(anchor.position <= static_cast<Position>(resident.tokens.size()),
                "an anchor beyond the end of its sequence");
        require(anchor.snapshot->position() == anchor.position, "an anchor at another position");
      }
    }
    require(running == scheduler_->running(), "a sequence runs without a turn");
  }

  FakeClock clock_;
  std::mt19937 random_;
  FakeEngineOptions options_;
  FakeEngine engine_;
  SchedulerOptions scheduler_options_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<Client> clients_;
  Outcome outcome_;
};

unsigned first_seed() {
  const char* seed = std::getenv("SAMOVAR_SIM_SEED");
  return seed == nullptr ? 0U : static_cast<unsigned>(std::strtoul(seed, nullptr, 10));
}

// Runs `rounds` seeds; fails with the seed and the command that repeats it.
Outcome simulate(FakeEngineOptions options, unsigned rounds, int steps) {
  Outcome total;
  const unsigned only = first_seed();
  for (unsigned seed = only == 0 ? 1 : only; seed <= (only == 0 ? rounds : only); ++seed) {
    try {
      const Outcome outcome = Simulation(seed, options).run(steps);
      total.finished += outcome.finished;
      total.cut_for_cells += outcome.cut_for_cells;
      total.failed += outcome.failed;
      total.cancelled += outcome.cancelled;
      total.evictions += outcome.evictions;
      total.computed += outcome.computed;
      total.offered += outcome.offered;
      for (const auto& [source, count] : outcome.sources) total.sources[source] += count;
    } catch (const std::exception& finding) {
      ADD_FAILURE() << finding.what() << "\nrepeat with: SAMOVAR_SIM_SEED=" << seed << " sim_test";
      break;
    }
  }
  return total;
}

class SchedulerSimulation : public testing::TestWithParam<RewindKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, SchedulerSimulation,
                         testing::Values(RewindKind::anywhere, RewindKind::snapshot),
                         [](const auto& kind) {
                           return kind.param == RewindKind::anywhere ? "Plain" : "Hybrid";
                         });

TEST_P(SchedulerSimulation, ThousandsOfInterleavings) {
  const Outcome total = simulate({.rewind = GetParam()}, 600, 400);
  if (first_seed() != 0) return;
  // The simulation must reach what it claims to check.
  EXPECT_GT(total.finished, 8000);
  EXPECT_GT(total.cancelled, 800);
  EXPECT_GT(total.evictions, 500);
  EXPECT_GT(total.sources.at(ReuseSource::anchor), 200);
  EXPECT_GT(total.sources.at(ReuseSource::fork), 50);
  EXPECT_LT(total.computed, total.offered * 3 / 4);  // cells are scarce here on purpose
  EXPECT_EQ(total.failed, 0);
}

TEST_P(SchedulerSimulation, EngineErrorsNeverCorruptAReply) {
  const Outcome total = simulate({.rewind = GetParam(), .failure_rate = 0.03}, 600, 400);
  if (first_seed() != 0) return;
  EXPECT_GT(total.finished, 1000);
  EXPECT_GT(total.failed, 10);
}

TEST(SchedulerSimulationCanary, NoticesARewindThatDoesNotRestoreTheState) {
  EXPECT_THROW(
      {
        for (unsigned seed = 1; seed < 50; ++seed) {
          Simulation(seed, {.bug_rewind_keeps_state = true}).run(300);
        }
      },
      Violation);
}

TEST(SchedulerSimulationCanary, NoticesAForkThatDoesNotShareAllCells) {
  EXPECT_THROW(
      {
        for (unsigned seed = 1; seed < 50; ++seed) {
          Simulation(seed, {.bug_fork_shares_one_too_few = true}).run(300);
        }
      },
      Violation);
}

}  // namespace
}  // namespace samovar
