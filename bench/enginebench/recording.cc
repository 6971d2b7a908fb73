// What metrics and turn recording cost: a reply decoded with them and without, alternately, and the
// cost of a token's share of them in a loop of nothing else. Neither scrapes nor a page that
// listens are in it.
#include <filesystem>
#include <optional>
#include <variant>

#include "base/executor.h"
#include "base/log.h"
#include "ledger/ledger.h"
#include "modes.h"
#include "obs/metrics.h"
#include "sched/published_figures.h"
#include "sched/scheduler.h"
#include "sched/turn_meter.h"
#include "turn/turn_records.h"

namespace samovar::bench {
namespace {

constexpr int kBlock = 16;      // decode steps of one side at a time
constexpr int kLoops = 200;     // turns in the loop of nothing else
constexpr int kTokens = 4'000;  // of each

// Counts, or does not: the two sides of the comparison share scheduler and engine.
class SwitchedMeter final : public Meter {
 public:
  void count_in(Meter* meter) { meter_ = meter; }
  void token_generated() override {
    if (meter_ != nullptr) meter_->token_generated();
  }
  void decode_step(Micros took) override {
    if (meter_ != nullptr) meter_->decode_step(took);
  }

 private:
  Meter* meter_ = nullptr;
};

// The server's own recording: the ledger in a file, written by its thread.
class Recording {
 public:
  Recording() {
    std::filesystem::create_directories(folder_);
    LedgerOptions options;
    options.path = folder_ / "ledger.db";
    ledger_ = Ledger::open(std::move(options), system_clock());
    records_ = std::make_unique<TurnRecords>(TurnRecords::Environment{
        .ledger = *ledger_,
        .clock = system_clock(),
        .background = background_,
        .model = "bench",
        .model_name = "bench",
        .template_id = "bench",
        .read_reply = [](const SavedSyntax&, TokenSpan) { return std::optional<ChatMessage>(); },
        .meter = &metrics});
  }
  ~Recording() {
    background_.stop();
    records_.reset();
    ledger_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  std::shared_ptr<TurnRecorder> begin(const Tokens& prompt) {
    RenderedChat rendered;
    rendered.prompt.tokens = prompt;
    rendered.prompt.primer_start = rendered.prompt.size();
    TurnOrigin origin;
    origin.id = fmt::format("bench-{}", ++turns_);
    origin.dialect = "bench";
    return records_->begin(std::move(origin), rendered);
  }

  Metrics metrics{{}};

 private:
  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() /
                                        fmt::format("samovar-enginebench-{}", system_clock().now());
  std::unique_ptr<Ledger> ledger_;
  ThreadPool background_{1, "turn-records"};
  std::unique_ptr<TurnRecords> records_;
  int turns_ = 0;
};

class Sink final : public TurnSink {
 public:
  explicit Sink(std::shared_ptr<TurnRecorder> recorder) : recorder_(std::move(recorder)) {}

  void on_event(TurnEvent event) override {
    recorder_->on_event(event);
    if (std::holds_alternative<TurnFinished>(event)) finished = true;
    if (const auto* failed = std::get_if<TurnFailed>(&event)) {
      fmt::print(stderr, "{}\n", failed->error.describe());
      std::exit(1);
    }
  }
  void on_token(Token token) override {
    if (records) recorder_->on_token(token);
  }
  [[nodiscard]] bool cancelled() const override { return false; }

  bool records = true;  // the reply's tokens
  bool finished = false;

 private:
  std::shared_ptr<TurnRecorder> recorder_;
};

// Of one reply: microseconds of the median decode step, everything between two engine calls
// included.
struct Steps {
  double with = 0.0;
  double without = 0.0;
};

class Comparison {
 public:
  Comparison(const BenchOptions& options, Recording& recording)
      : options_(options),
        recording_(recording),
        prompt_(random_tokens(100, options.prompt)),
        engine_(take_or_exit(
            LlamaEngine::open(engine_options(options, options.prompt + options.reply + 256)))),
        scheduler_(*engine_, system_clock(), {.parallel = 1}, {}, meter_) {}

  // The sides take turns by a few steps of the same reply, in the order A B B A, so that neither a
  // longer sequence nor a slow moment of the machine is on one side only.
  Steps decode() {
    const auto recorder = recording_.begin(prompt_);
    const auto sink = std::make_shared<Sink>(recorder);
    send(sink);
    while (scheduler_.figures().decoding == 0) scheduler_.step();
    std::vector<double> with;
    std::vector<double> without;
    for (int step = 0; !sink->finished; ++step) {
      const int block = step / kBlock % 4;
      sink->records = block == 0 || block == 3;
      meter_.count_in(sink->records ? &recording_.metrics : nullptr);
      const Micros began = system_clock().now();
      scheduler_.step();
      const Micros took = system_clock().now() - began;
      (sink->records ? with : without).push_back(static_cast<double>(took));
    }
    recorder->reader_left();
    return {.with = summarize(with).median, .without = summarize(without).median};
  }

 private:
  void send(const std::shared_ptr<Sink>& sink) {
    TurnRequest request;
    request.prompt.tokens = prompt_;
    request.prompt.primer_start = request.prompt.size();
    request.sampling.temperature = 0.0;
    request.sampling.ignore_eos = true;
    request.max_tokens = options_.reply;
    auto sampler = take_or_exit(engine_->make_sampler(request.sampling, prompt_));
    scheduler_.add(std::move(request), std::move(sampler), sink);
  }

  const BenchOptions& options_;
  Recording& recording_;
  const Tokens prompt_;
  SwitchedMeter meter_;
  const std::unique_ptr<LlamaEngine> engine_;
  Scheduler scheduler_;
};

// Nanoseconds that counting and recording take of a token's decode step.
double recording_alone(Recording& recording) {
  PublishedFigures published;
  const Micros began = system_clock().now();
  for (int turn = 0; turn < kLoops; ++turn) {
    const auto recorder = recording.begin({1, 2, 3});
    for (int token = 0; token < kTokens; ++token) {
      recording.metrics.decode_step(10 * kMillisecond);
      recording.metrics.token_generated();
      recorder->on_token(token);
      published.set({.decoding = 1, .cells_used = token});  // before the engine call
      published.set({.decoding = 1, .cells_used = token});  // and after it
    }
    recording.metrics.turn_ended(ended_turn({}, TurnEnd::complete));
    recorder->on_event(TurnFinished{});
    recorder->reader_left();
  }
  const Micros took = system_clock().now() - began;
  return static_cast<double>(took) * 1e3 / kLoops / kTokens;
}

}  // namespace

void run_recording(const BenchOptions& options) {
  log_set_level(LogLevel::warning);  // a line a turn is no part of it
  Recording recording;
  Comparison comparison(options, recording);
  std::vector<double> with;
  std::vector<double> without;
  for (int round = -1; round < options.rounds; ++round) {
    const Steps steps = comparison.decode();
    if (round < 0) continue;  // it warmed caches and threads
    with.push_back(steps.with);
    without.push_back(steps.without);
  }
  std::vector<double> alone;
  alone.reserve(static_cast<std::size_t>(options.rounds));
  for (int round = 0; round < options.rounds; ++round) alone.push_back(recording_alone(recording));
  print_summary("a token, without recording", "us", without);
  print_summary("a token, with recording", "us", with);
  print_ratio("with / without", with, without);
  print_summary("counting and recording alone", "ns", alone);
  fmt::print("  {:<34} {:.4f} % of a token's decode step\n", "that is",
             summarize(alone).median / summarize(without).median / 10.0);
}

}  // namespace samovar::bench
