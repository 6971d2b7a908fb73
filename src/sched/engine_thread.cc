#include "sched/engine_thread.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace samovar {
namespace {

// How often an idle engine thread looks for cancelled turns that wait without computing.
constexpr auto kIdlePoll = std::chrono::milliseconds(20);

// Counts a turn as load until its last event, whoever sends it.
class CountedSink final : public TurnSink {
 public:
  CountedSink(std::shared_ptr<TurnSink> sink, std::atomic<int>& load)
      : sink_(std::move(sink)), load_(load) {}

  void on_event(TurnEvent event) override {
    const bool last =
        std::holds_alternative<TurnFinished>(event) || std::holds_alternative<TurnFailed>(event);
    if (last) load_.fetch_sub(1);
    sink_->on_event(std::move(event));
  }
  [[nodiscard]] bool cancelled() const override { return sink_->cancelled(); }

 private:
  std::shared_ptr<TurnSink> sink_;
  std::atomic<int>& load_;
};

}  // namespace

EngineThread::EngineThread(Engine& engine, const Clock& clock, SchedulerOptions options,
                           int queue_max)
    : engine_(engine),
      clock_(clock),
      queue_max_(queue_max),
      parallel_(options.parallel),
      scheduler_(engine, clock, options),
      thread_([this] { run(); }) {}

EngineThread::~EngineThread() { stop(); }

Status EngineThread::check(const TurnRequest& request) const {
  const Position cells = engine_.limits().cells;
  const Position size = request.prompt.size();
  if (size == 0) return fail(ErrorKind::invalid_argument, "the prompt is empty", "messages");
  if (size >= cells) {
    return fail(
        ErrorKind::too_large,
        fmt::format("the prompt has {} tokens, but the context holds {} and the reply needs "
                    "at least one",
                    size, cells),
        "messages", "Shorten the conversation or start the server with a larger -c");
  }
  return {};
}

Status EngineThread::submit(TurnRequest request, std::shared_ptr<TurnSink> sink) {
  if (auto fits = check(request); !fits) return fits;
  // Counted before the grammar is compiled, so that a burst cannot pass the limit together.
  if (load_.fetch_add(1) >= queue_max_ + parallel_) {
    load_.fetch_sub(1);
    return fail(ErrorKind::overloaded,
                fmt::format("{} turns run or wait already", queue_max_ + parallel_), "",
                "Try again later, or start the server with a larger --queue");
  }
  auto sampler = engine_.make_sampler(request.sampling, request.prompt.tokens);
  if (!sampler) {
    load_.fetch_sub(1);
    return std::unexpected(sampler.error());
  }
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) {
      load_.fetch_sub(1);
      return fail(ErrorKind::unavailable, "the server is shutting down");
    }
    arrivals_.push_back({std::move(request), std::move(*sampler),
                         std::make_shared<CountedSink>(std::move(sink), load_)});
  }
  changed_.notify_all();
  return {};
}

std::vector<EngineThread::Arrival> EngineThread::take_arrivals(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait_for(lock, kIdlePoll, [&] { return stopping_ || !arrivals_.empty(); });
  return std::exchange(arrivals_, {});
}

void EngineThread::run() {
  bool busy = false;
  while (true) {
    for (Arrival& arrival : take_arrivals(!busy)) {
      scheduler_.add(std::move(arrival.request), std::move(arrival.sampler),
                     std::move(arrival.sink));
    }
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) break;
    }
    busy = scheduler_.step();
  }
  const Error error{.kind = ErrorKind::unavailable, .message = "the server is shutting down"};
  for (Arrival& arrival : take_arrivals(false)) {
    arrival.sink->on_event(TurnFailed{.error = error, .timings = {}});
  }
  scheduler_.fail_all(error);
}

void EngineThread::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
}

bool EngineThread::drain(Micros deadline) {
  const Micros until = clock_.now() + deadline;
  while (load() > 0 && clock_.now() < until) std::this_thread::sleep_for(kIdlePoll);
  return load() == 0;
}

void EngineThread::stop() {
  close();
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace samovar
