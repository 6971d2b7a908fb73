// Goal: with a store that is written and read at random moments, on a disk that fails, fills up and
// rots, through restarts, kills and power cuts: never a wrong token, never a turn without an end,
// no byte beyond the budget and nothing left behind.
//
// Method: the real scheduler and the real store over the fakes of engine, clock, disk and
// executors, driven by a seed; clients as in the scheduler's simulation. The fake model is a hash
// of all that a sequence holds, so every wrong restore shows in a reply. SAMOVAR_SIM_SEED=n
// sim_test repeats one seed. Canaries with bytes that change after they were verified must be
// noticed.
#include "base/log.h"
#include "sched/scheduler.h"
#include "tests/sim/clients.h"
#include "tests/support/store_rig.h"

namespace samovar {
namespace {

using namespace sim;
using samovar::testing::StoreRig;

// What happens besides turns; each in thousandths of a step.
struct Weather {
  int disk_faults = 0;
  int bit_flips = 0;
  int restarts = 0;
  int kills = 0;
  int power_cuts = 0;
};

struct StoreOutcome : Outcome {
  int restarts = 0;
  int crashes = 0;
  int hits_after_crash = 0;  // turns restored by a process that came after a crash
  std::uint64_t evicted = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t write_errors = 0;
  std::uint64_t restores = 0;
  std::uint64_t restore_failures = 0;
};

class StoreSimulation {
 public:
  StoreSimulation(unsigned seed, FakeEngineOptions engine_options, Weather weather)
      : random_(seed), weather_(weather), engine_options_(engine_options) {
    engine_options_.seed = seed;
    engine_options_.sequences = 2 + pick(4);
    engine_options_.cells = 600 + pick(2500);
    engine_options_.ubatch = 32 + pick(225);
    choose_scheduler();
    choose_store();
    boot();
    clients_ = std::make_unique<Clients>(random_, rig_.clock, engine_options_.cells, 1 + pick(8));
    clients_->rewarm_with([this](TurnRequest request, std::shared_ptr<RecordingSink> sink) {
      scheduler_->add_rewarm(std::move(request), std::move(sink));
    });
  }

  StoreOutcome run(int steps) {
    const auto submit = [this](TurnRequest request, std::shared_ptr<RecordingSink> sink) {
      auto sampler = engine_->make_sampler(request.sampling, request.prompt.tokens);
      scheduler_->add(std::move(request), std::move(*sampler), std::move(sink));
    };
    for (int step = 0; step < steps; ++step) {
      clients_->act(submit, may_fail());
      events();
      run_jobs();
      if (!watched_step()) rig_.clock.advance((1 + pick(8)) * kMillisecond);
      check();
    }
    for (int step = 0; scheduler_->waiting() + scheduler_->running() > 0 || scheduler_->rewarms();
         ++step) {
      require(step < 200'000, "turns do not end");
      run_jobs();
      if (!watched_step()) rig_.clock.advance(kMillisecond);
      check();
    }
    clients_->settle(may_fail(), true);
    count_process();
    static_cast<Outcome&>(outcome_) = clients_->outcome();
    outcome_.evictions = evictions_;
    return outcome_;
  }

 private:
  [[nodiscard]] int pick(int below) {
    return below <= 0 ? 0 : static_cast<int>(random_() % static_cast<unsigned>(below));
  }
  [[nodiscard]] bool happens(int thousandths) { return pick(1000) < thousandths; }
  [[nodiscard]] bool may_fail() const {
    return engine_options_.failure_rate > 0 || weather_.restarts > 0;
  }

  void choose_scheduler() {
    scheduler_options_.parallel = 1 + pick(engine_options_.sequences - 1);
    scheduler_options_.anchor_grid = 128 + pick(256);
    scheduler_options_.anchor_bytes_max =
        static_cast<std::size_t>(2 + pick(40)) * engine_options_.snapshot_bytes;
    scheduler_options_.reply_reserve = 1 + pick(64);
    WriteBehindOptions& write = scheduler_options_.write_behind;
    write.quiet = (1 + pick(60)) * kMillisecond;
    write.window = (50 + pick(500)) * kMillisecond;
    write.segment_tokens = 32 + pick(200);
    write.tokens_min = 16 + pick(100);
    write.older_spacing = 200 + pick(1000);
  }

  void choose_store() {
    rig_.options.needs_snapshot = engine_options_.rewind == RewindKind::snapshot;
    rig_.options.size_max = static_cast<std::uint64_t>(20 + pick(pick(3) == 0 ? 1000 : 80)) * 8192;
    rig_.options.snapshot_spacing = 100 + pick(1000);
    if (pick(4) == 0) rig_.options.writes_per_day = std::uint64_t{1} << (18 + pick(6));
    small_buffers_ = pick(4) == 0;
    if (small_buffers_) rig_.options.buffer_bytes = static_cast<std::size_t>(20'000 + pick(20'000));
  }

  void boot() {
    rig_.fs.clear_faults();
    rig_.fs.set_read_only(false);
    rig_.fs.set_disk_bytes(std::uint64_t{1} << 30);
    const Status opened = rig_.open();
    require(opened.has_value(), "the store does not open");
    require(rig_.untidy().empty(), "after a restart: " + rig_.untidy());
    sound_ = true;
    engine_ = std::make_unique<FakeEngine>(engine_options_, rig_.clock);
    ++engine_options_.seed;
    scheduler_ =
        std::make_unique<Scheduler>(*engine_, rig_.clock, scheduler_options_,
                                    Persistence{.store = rig_.store.get(), .port = engine_.get()});
  }

  void count_process() {
    evictions_ += scheduler_->memory().evictions();
    const StoreStats stats = rig_.store->stats();
    outcome_.evicted += stats.evicted;
    outcome_.quarantined += stats.quarantined;
    outcome_.write_errors += stats.write_errors;
    outcome_.restores += stats.restores;
    outcome_.restore_failures += stats.restore_failures;
    if (after_crash_) outcome_.hits_after_crash += static_cast<int>(stats.restores);
  }

  void events() {
    if (happens(weather_.disk_faults)) fault();
    if (happens(weather_.bit_flips)) flip_a_bit();
    if (happens(weather_.restarts)) restart();
    if (happens(weather_.kills)) die(false);
    if (happens(weather_.power_cuts)) die(true);
  }

  void fault() {
    sound_ = false;  // what could not be removed takes room that nobody counts
    static constexpr std::array ops = {FsOp::open,   FsOp::create,         FsOp::write,
                                       FsOp::sync,   FsOp::read,           FsOp::rename,
                                       FsOp::remove, FsOp::sync_directory, FsOp::make_directory,
                                       FsOp::list,   FsOp::touch,          FsOp::stat};
    static constexpr std::array faults = {FsFault::full, FsFault::io, FsFault::denied};
    switch (pick(8)) {
      case 0:
        return rig_.fs.set_read_only(pick(2) == 0);
      case 1:
        return rig_.fs.set_disk_bytes(pick(2) == 0 ? rig_.fs.used_bytes() : std::uint64_t{1} << 30);
      case 2:
        return rig_.fs.shorten_read(static_cast<std::uint64_t>(pick(5000)),
                                    static_cast<std::uint64_t>(pick(5)));
      case 3:
        return rig_.fs.remove_tree(rig_.options.folder + (pick(3) == 0 ? "/quarantine" : ""));
      default:
        rig_.fs.fail_next(ops[random_() % ops.size()], faults[random_() % faults.size()],
                          static_cast<std::uint64_t>(pick(10)),
                          static_cast<std::uint64_t>(1 + pick(pick(3) == 0 ? 40 : 2)));
    }
  }

  void flip_a_bit() {
    auto files = rig_.files(".seg");
    for (std::string& path : rig_.files(".snap")) files.push_back(std::move(path));
    if (files.empty()) return;
    const std::string& path = files[random_() % files.size()];
    rig_.fs.flip_bit(path, random_() % (rig_.fs.read_raw(path)->size() * 8));
  }

  void restart() {
    const Error error{.kind = ErrorKind::unavailable, .message = "the server is shutting down"};
    scheduler_->fail_all(error);
    clients_->settle(true, true);
    // With small buffers it would wait for the writer, which only runs when told to.
    scheduler_->save_all(small_buffers_ ? 0 : kSecond);
    count_process();
    scheduler_.reset();
    engine_.reset();
    rig_.close();
    after_crash_ = false;
    ++outcome_.restarts;
    boot();
  }

  void die(bool power_cut) {
    count_process();
    clients_->lose_connections();
    scheduler_.reset();
    engine_.reset();
    if (power_cut) rig_.fs.crash(random_());
    rig_.die();
    after_crash_ = true;
    ++outcome_.crashes;
    boot();
  }

  // Threads run when they run.
  void run_jobs() {
    if (pick(3) == 0) rig_.writer.run_one();
    for (int i = pick(3); i > 0; --i) {
      rig_.readers.run_one(
          static_cast<std::size_t>(pick(static_cast<int>(rig_.readers.pending()))));
    }
  }

  bool watched_step() {
    const RewarmWatch watch(*scheduler_);
    const bool worked = scheduler_->step();
    watch.check_step(engine_options_.failure_rate > 0);
    return worked;
  }

  void check() {
    check_books(*scheduler_, *engine_, engine_options_, scheduler_options_);
    if (!sound_) return;
    require(rig_.fs.used_bytes() <= rig_.options.size_max, "the store is over its budget");
  }

  std::mt19937 random_;
  Weather weather_;
  FakeEngineOptions engine_options_;
  SchedulerOptions scheduler_options_;
  StoreRig rig_;
  std::unique_ptr<FakeEngine> engine_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Clients> clients_;
  bool small_buffers_ = false;
  bool sound_ = true;
  bool after_crash_ = false;
  std::int64_t evictions_ = 0;
  StoreOutcome outcome_;
};

StoreOutcome simulate(const FakeEngineOptions& options, Weather weather, unsigned rounds,
                      int steps) {
  StoreOutcome total;
  if (only_seed() == 0) log_set_level(LogLevel::off);
  const Outcome turns = sim::simulate(rounds, [&](unsigned seed) -> Outcome {
    const StoreOutcome one = StoreSimulation(seed, options, weather).run(steps);
    total.restarts += one.restarts;
    total.crashes += one.crashes;
    total.hits_after_crash += one.hits_after_crash;
    total.evicted += one.evicted;
    total.quarantined += one.quarantined;
    total.write_errors += one.write_errors;
    total.restores += one.restores;
    total.restore_failures += one.restore_failures;
    return one;
  });
  log_set_level(LogLevel::info);
  static_cast<Outcome&>(total) = turns;
  return total;
}

class StoreSimulationTest : public ::testing::TestWithParam<RewindKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, StoreSimulationTest,
                         ::testing::Values(RewindKind::anywhere, RewindKind::snapshot),
                         [](const auto& kind) {
                           return kind.param == RewindKind::anywhere ? "Plain" : "Hybrid";
                         });

TEST_P(StoreSimulationTest, RestartsKillsAndPowerCuts) {
  const Weather weather{.restarts = 3, .kills = 2, .power_cuts = 3};
  const auto total = simulate({.rewind = GetParam()}, weather, 200, 400);
  if (only_seed() != 0) return;
  EXPECT_GT(total.finished, 4000);
  EXPECT_GT(total.restarts, 200);
  EXPECT_GT(total.crashes, 300);
  EXPECT_GT(total.hits_after_crash, 100);
  EXPECT_GT(total.restores, 500U);
  EXPECT_GT(total.evicted, 1000U);
  EXPECT_GT(total.sources.at(ReuseSource::store), 400);
}

TEST_P(StoreSimulationTest, ADiskThatFailsFillsUpAndRots) {
  const Weather weather{
      .disk_faults = 10, .bit_flips = 20, .restarts = 2, .kills = 1, .power_cuts = 2};
  const auto total = simulate({.rewind = GetParam()}, weather, 200, 400);
  if (only_seed() != 0) return;
  EXPECT_GT(total.finished, 4000);
  EXPECT_GT(total.write_errors, 100U);
  EXPECT_GT(total.quarantined, 200U);
  EXPECT_GT(total.restore_failures, 100U);
  EXPECT_GT(total.fell_back, 50);
  EXPECT_GT(total.restores, 300U);
}

TEST_P(StoreSimulationTest, AnEngineThatFailsToo) {
  const Weather weather{
      .disk_faults = 5, .bit_flips = 5, .restarts = 2, .kills = 1, .power_cuts = 2};
  const auto total = simulate(
      {.rewind = GetParam(), .failure_rate = 0.02, .import_failure_rate = 0.1}, weather, 200, 400);
  if (only_seed() != 0) return;
  EXPECT_GT(total.finished, 2000);
  EXPECT_GT(total.failed, 50);
  EXPECT_GT(total.fell_back, 50);
  EXPECT_GT(total.restores, 200U);
}

TEST_P(StoreSimulationTest, WhenNothingFailsNoTurnDoes) {
  const auto total = simulate({.rewind = GetParam()}, {}, 120, 400);
  if (only_seed() != 0) return;
  EXPECT_EQ(total.failed, 0);
  EXPECT_EQ(total.quarantined, 0U);
  EXPECT_EQ(total.write_errors, 0U);
  EXPECT_GT(total.sources.at(ReuseSource::store), 200) << "sessions that memory had no room for";
}

// --- canaries -----------------------------------------------------------------------------------

bool noticed(const FakeEngineOptions& options) {
  if (only_seed() == 0) log_set_level(LogLevel::off);
  bool found = false;
  for (unsigned seed = 1; seed < 60 && !found; ++seed) {
    try {
      StoreSimulation(seed, options, {.restarts = 3}).run(400);
    } catch (const Violation&) {
      found = true;
    }
  }
  log_set_level(LogLevel::info);
  return found;
}

TEST_P(StoreSimulationTest, CanaryNoticesATokenThatChangedAfterItWasVerified) {
  EXPECT_TRUE(noticed({.rewind = GetParam(), .bug_import_flips_a_token = true}));
}

TEST(StoreSimulationCanary, NoticesARestoredStateOfAnotherPrefix) {
  EXPECT_TRUE(noticed({.bug_restored_state_is_another = true}));
}

}  // namespace
}  // namespace samovar
