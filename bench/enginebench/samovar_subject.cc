// The server's path below HTTP and templates: a turn through the scheduler, greedy, with its
// anchors.
#include <optional>
#include <variant>

#include "sched/scheduler.h"
#include "subjects.h"

namespace samovar::bench {
namespace {

class Sink final : public TurnSink {
 public:
  void on_event(TurnEvent event) override {
    if (const auto* finished = std::get_if<TurnFinished>(&event)) {
      timings = finished->timings;
    } else if (const auto* failed = std::get_if<TurnFailed>(&event)) {
      fmt::print(stderr, "{}\n", failed->error.describe());
      std::exit(1);
    }
  }
  [[nodiscard]] bool cancelled() const override { return false; }

  std::optional<TurnTimings> timings;
};

class SamovarSubject final : public Subject {
 public:
  SamovarSubject(std::unique_ptr<LlamaEngine> engine, const SchedulerOptions& options)
      : engine_(std::move(engine)), scheduler_(*engine_, system_clock(), options) {}

  Run answer(const Tokens& prompt, int reply) override {
    TurnRequest request;
    request.prompt.tokens = prompt;
    request.prompt.primer_start = request.prompt.size();
    request.sampling.temperature = 0.0;
    request.max_tokens = reply;
    request.arrived = system_clock().now();
    auto sampler = take_or_exit(engine_->make_sampler(request.sampling, prompt));
    const auto sink = std::make_shared<Sink>();
    scheduler_.add(std::move(request), std::move(sampler), sink);
    while (!sink->timings) {
      scheduler_.step();
    }
    return {.prefill = sink->timings->first_token,
            .decode = sink->timings->decode,
            .replied = sink->timings->reply_tokens};
  }

 private:
  std::unique_ptr<LlamaEngine> engine_;
  Scheduler scheduler_;
};

}  // namespace

std::unique_ptr<Subject> make_samovar_subject(const BenchOptions& options) {
  // No room for a second prompt: each one evicts the one before and is computed cold.
  const Position cells = options.prompt + options.reply + 256;
  auto engine = take_or_exit(LlamaEngine::open(engine_options(options, cells)));
  SchedulerOptions scheduler;
  scheduler.parallel = 1;
  scheduler.reply_reserve = options.reply;
  return std::make_unique<SamovarSubject>(std::move(engine), scheduler);
}

}  // namespace samovar::bench
