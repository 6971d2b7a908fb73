// Goal: no interleaving of arrivals, disconnects, full cells and engine errors gives a wrong token,
// loses a turn, evicts a running sequence or lets the books drift from the engine.
//
// Method: the real scheduler over a fake engine and clock, driven by a seed. Clients hold
// conversations (clients.h): they extend, edit, branch, regenerate, repeat interrupted requests and
// send side requests. After every step the invariants are checked; every finished reply is compared
// with the fake model's own answer. One seed is one run: SAMOVAR_SIM_SEED=n sim_test repeats it.
// Two canaries with a broken engine must be noticed, or the simulation sees nothing.
#include "sched/scheduler.h"

#include "tests/sim/clients.h"

namespace samovar {
namespace {

using namespace sim;

class Simulation {
 public:
  Simulation(unsigned seed, FakeEngineOptions engine_options, bool rewarms = true)
      : random_(seed),
        rewarms_(rewarms),
        options_(vary(engine_options, seed)),
        engine_(options_, clock_) {
    scheduler_options_.parallel = 1 + pick(options_.sequences - 1);
    scheduler_options_.anchor_grid = 256;
    scheduler_options_.anchor_bytes_max =
        static_cast<std::size_t>(2 + pick(40)) * options_.snapshot_bytes;
    scheduler_options_.reply_reserve = 1 + pick(64);
    scheduler_ = std::make_unique<Scheduler>(engine_, clock_, scheduler_options_);
    clients_ = std::make_unique<Clients>(random_, clock_, options_.cells, 1 + pick(8));
  }

  Outcome run(int steps) {
    const bool may_fail = options_.failure_rate > 0;
    const auto submit = [this](TurnRequest request, std::shared_ptr<RecordingSink> sink) {
      auto sampler = engine_.make_sampler(request.sampling, request.prompt.tokens);
      scheduler_->add(std::move(request), std::move(*sampler), std::move(sink));
    };
    if (rewarms_) {
      clients_->rewarm_with([this](TurnRequest request, std::shared_ptr<RecordingSink> sink) {
        scheduler_->add_rewarm(std::move(request), std::move(sink));
      });
    }
    for (int step = 0; step < steps; ++step) {
      clients_->act(submit, may_fail);
      if (!watched_step()) clock_.advance(5 * kMillisecond);
      check();
    }
    // No more requests: everything must end by itself.
    for (int step = 0; scheduler_->waiting() + scheduler_->running() > 0 || scheduler_->rewarms();
         ++step) {
      require(step < 200'000, "turns do not end");
      watched_step();
      check();
    }
    clients_->settle(may_fail, true);
    Outcome outcome = clients_->outcome();
    outcome.evictions = scheduler_->memory().evictions();
    return outcome;
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

  bool watched_step() {
    const RewarmWatch watch(*scheduler_);
    const bool worked = scheduler_->step();
    watch.check_step(options_.failure_rate > 0);
    return worked;
  }

  void check() const { check_books(*scheduler_, engine_, options_, scheduler_options_); }

  FakeClock clock_;
  std::mt19937 random_;
  const bool rewarms_;
  FakeEngineOptions options_;
  FakeEngine engine_;
  SchedulerOptions scheduler_options_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Clients> clients_;
};

Outcome simulate(FakeEngineOptions options, unsigned rounds, int steps) {
  return sim::simulate(rounds, [&](unsigned seed) { return Simulation(seed, options).run(steps); });
}

class SchedulerSimulation : public testing::TestWithParam<RewindKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, SchedulerSimulation,
                         testing::Values(RewindKind::anywhere, RewindKind::snapshot),
                         [](const auto& kind) {
                           return kind.param == RewindKind::anywhere ? "Plain" : "Hybrid";
                         });

TEST_P(SchedulerSimulation, ThousandsOfInterleavings) {
  const Outcome total = simulate({.rewind = GetParam()}, 600, 400);
  if (only_seed() != 0) return;
  // The simulation must reach what it claims to check.
  EXPECT_GT(total.finished, 8000);
  EXPECT_GT(total.cancelled, 800);
  EXPECT_GT(total.evictions, 500);
  EXPECT_GT(total.rewarms_whole, 500);
  EXPECT_GT(total.rewarms_ended, 500);
  EXPECT_GT(total.rewarmed, 5000);
  EXPECT_GT(total.sources.at(ReuseSource::anchor), 200);
  EXPECT_GT(total.sources.at(ReuseSource::fork), 50);
  EXPECT_LT(total.computed, total.offered * 3 / 4);  // cells are scarce here on purpose
  EXPECT_EQ(total.failed, 0);
}

TEST_P(SchedulerSimulation, EngineErrorsNeverCorruptAReply) {
  const Outcome total = simulate({.rewind = GetParam(), .failure_rate = 0.03}, 600, 400);
  if (only_seed() != 0) return;
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
