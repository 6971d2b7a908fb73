#include "sched/engine_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "sched/turn_meter.h"

namespace samovar {
namespace {

// How often an idle engine thread looks for cancelled turns that wait without computing.
constexpr auto kIdlePoll = std::chrono::milliseconds(20);

// Re-warms that may wait for the engine thread's next look.
constexpr std::ptrdiff_t kRewarmsMax = 16;

const Error& shutting_down() {
  static const Error error{.kind = ErrorKind::unavailable,
                           .message = "the server is shutting down"};
  return error;
}

// Counts a turn as load from its making until its last event, or until it goes without one, and
// tells the meter of its end, just before anybody else learns of it.
class CountedSink final : public TurnSink {
 public:
  CountedSink(std::shared_ptr<TurnSink> sink, std::atomic<int>& load, Meter& meter)
      : sink_(std::move(sink)), load_(load), meter_(meter) {
    load_.fetch_add(1);
  }
  ~CountedSink() override { uncount(); }
  CountedSink(const CountedSink&) = delete;
  CountedSink& operator=(const CountedSink&) = delete;

  void on_event(TurnEvent event) override {
    if (const auto* finished = std::get_if<TurnFinished>(&event)) {
      uncount();
      meter_.turn_ended(ended_turn(finished->timings, TurnEnd::complete));
    } else if (const auto* failed = std::get_if<TurnFailed>(&event)) {
      uncount();
      meter_.turn_ended(ended_turn(failed->timings, end_of(failed->error)));
    }
    sink_->on_event(std::move(event));
  }
  void on_token(Token token) override { sink_->on_token(token); }
  [[nodiscard]] bool cancelled() const override { return sink_->cancelled(); }

 private:
  void uncount() {
    if (std::exchange(counted_, false)) load_.fetch_sub(1);
  }

  std::shared_ptr<TurnSink> sink_;
  std::atomic<int>& load_;
  Meter& meter_;
  bool counted_ = true;
};

// Of a turn that ends before the scheduler has seen it.
TurnTimings unserved(const TurnRequest& request, Micros now) {
  TurnTimings timings;
  timings.render = request.render_time;
  timings.queue = now - request.submitted;
  timings.prompt_tokens = request.prompt.size();
  return timings;
}

}  // namespace

EngineThread::EngineThread(Engine& engine, const Clock& clock, SchedulerOptions options,
                           int queue_max, Persistence persistence, Meter& meter)
    : engine_(engine),
      clock_(clock),
      queue_max_(queue_max),
      parallel_(options.parallel),
      save_deadline_(options.save_deadline),
      store_(persistence.store),
      meter_(meter),
      scheduler_(engine, clock, options, persistence, meter) {
  if (store_ != nullptr) store_->set_wake([this] { wake(); });
  thread_ = std::thread([this] { run(); });
}

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
  request.submitted = clock_.now();
  const bool counts = request.kind == TurnKind::request;
  Status accepted = accept(std::move(request), std::move(sink));
  if (!accepted && counts) meter_.turn_refused(refusal_of(accepted.error()));
  return accepted;
}

Status EngineThread::accept(TurnRequest request, std::shared_ptr<TurnSink> sink) {
  if (closed_) return fail(ErrorKind::unavailable, "the server is shutting down");
  if (!engine_.healthy()) {
    return fail(ErrorKind::unavailable, "the engine has failed", "", "Restart the server");
  }
  if (auto fits = check(request); !fits) return fits;
  if (request.kind == TurnKind::rewarm) return submit_rewarm(std::move(request), std::move(sink));
  // Counted before the grammar is compiled, so that a burst cannot pass the limit together.
  // Uncounted by the sink with the turn's last event, or when the sink goes without one.
  auto counted = std::make_shared<CountedSink>(std::move(sink), load_, meter_);
  if (load_ > queue_max_ + parallel_) {
    return fail(ErrorKind::overloaded,
                fmt::format("{} turns run or wait already", queue_max_ + parallel_), "",
                "Try again later, or start the server with a larger --queue");
  }
  auto sampler = engine_.make_sampler(request.sampling, request.prompt.tokens);
  if (!sampler) return std::unexpected(sampler.error());
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return fail(ErrorKind::unavailable, "the server is shutting down");
    arrivals_.push_back({std::move(request), std::move(*sampler), std::move(counted)});
  }
  changed_.notify_all();
  return {};
}

// The load changes at once, the scheduler's figures with its next step.
SchedulerFigures EngineThread::figures() const {
  SchedulerFigures figures = scheduler_.figures();
  const int load = this->load();
  figures.running = std::min(figures.running, load);
  // Those that ended since it was published are most likely the ones that decoded.
  figures.restoring = std::min(figures.restoring, figures.running);
  figures.prefilling = std::min(figures.prefilling, figures.running - figures.restoring);
  figures.decoding =
      std::min(figures.decoding, figures.running - figures.restoring - figures.prefilling);
  figures.waiting = load - figures.running;
  return figures;
}

Status EngineThread::submit_rewarm(TurnRequest request, std::shared_ptr<TurnSink> sink) {
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return fail(ErrorKind::unavailable, "the server is shutting down");
    const auto waiting = std::ranges::count_if(
        arrivals_, [](const Arrival& arrival) { return arrival.request.kind == TurnKind::rewarm; });
    if (waiting >= kRewarmsMax) {
      return fail(ErrorKind::overloaded, "too many re-warms wait already");
    }
    arrivals_.push_back({std::move(request), nullptr, std::move(sink)});
  }
  changed_.notify_all();
  return {};
}

std::vector<EngineThread::Arrival> EngineThread::take_arrivals(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) {
    changed_.wait_for(lock, kIdlePoll, [&] { return stopping_ || woken_ || !arrivals_.empty(); });
  }
  woken_ = false;
  return std::exchange(arrivals_, {});
}

void EngineThread::wake() {
  {
    const std::scoped_lock lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

std::shared_ptr<const ResidentPicture> EngineThread::look(Micros timeout) {
  std::unique_lock lock(mutex_);
  if (stopping_) return nullptr;
  const std::uint64_t mine = ++looks_asked_;
  look_ = true;
  woken_ = true;
  changed_.notify_all();
  shown_.wait_for(lock, std::chrono::microseconds(timeout),
                  [&] { return stopping_ || looks_shown_ >= mine; });
  return looks_shown_ >= mine ? picture_ : nullptr;
}

// Answers those that asked before it began. Somebody's look must not end turns, so nothing leaves
// here but a picture or none.
void EngineThread::show() {
  if (!look_.exchange(false)) return;
  std::uint64_t asked = 0;
  {
    const std::scoped_lock lock(mutex_);
    asked = looks_asked_;
  }
  std::shared_ptr<const ResidentPicture> picture;
  try {
    picture = std::make_shared<const ResidentPicture>(scheduler_.memory().picture());
  } catch (const std::exception& error) {
    log_warning("what memory holds cannot be shown: {}", error.what());
  }
  {
    const std::scoped_lock lock(mutex_);
    picture_.swap(picture);
    looks_shown_ = asked;
  }
  shown_.notify_all();
}

void EngineThread::run() {
  bool busy = false;
  while (true) {
    std::vector<Arrival> arrivals = take_arrivals(!busy);
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) {
        std::ranges::move(arrivals, std::back_inserter(arrivals_));
        break;
      }
    }
    busy = work(std::move(arrivals));
  }
  const Error& error = shutting_down();
  for (Arrival& arrival : take_arrivals(false)) {
    arrival.sink->on_event(
        TurnFailed{.error = error, .timings = unserved(arrival.request, clock_.now())});
  }
  scheduler_.fail_all(error);
  scheduler_.save_all(save_deadline_);
}

// One round. Whatever is thrown (memory ran out, a library did) ends the turns, not the server.
bool EngineThread::work(std::vector<Arrival> arrivals) {
  std::size_t added = 0;
  try {
    for (Arrival& arrival : arrivals) {
      if (arrival.request.kind == TurnKind::rewarm) {
        scheduler_.add_rewarm(std::move(arrival.request), arrival.sink);
      } else {
        scheduler_.add(std::move(arrival.request), std::move(arrival.sampler), arrival.sink);
      }
      ++added;
    }
    if (closed_) scheduler_.cancel_rewarms(shutting_down());
    show();
    return scheduler_.step();
  } catch (const std::exception& error) {
    log_error("engine thread: {}; all turns end, all sequences are dropped", error.what());
    const Error failure{.kind = ErrorKind::internal,
                        .message = "the server ran into an internal error and dropped its sessions",
                        .remedy = "Send the request again"};
    scheduler_.reset(failure);
    for (; added < arrivals.size(); ++added) {
      const TurnTimings timings = unserved(arrivals[added].request, clock_.now());
      arrivals[added].sink->on_event(TurnFailed{.error = failure, .timings = timings});
    }
    return true;
  }
}

void EngineThread::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    woken_ = true;
  }
  changed_.notify_all();
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
  shown_.notify_all();
  if (!thread_.joinable()) return;
  thread_.join();
  if (store_ != nullptr) store_->set_wake(nullptr);  // the store may be gone when this is
}

}  // namespace samovar
