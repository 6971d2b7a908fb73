#include "sched/scheduler.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/limits.h"
#include "prefix/planner.h"
#include "prefix/splits.h"

namespace samovar {
namespace {

// A restore that fails is tried with the next-best plan this many times before the turn fails.
constexpr int kPlansMax = 3;

Error client_gone() {
  return {.kind = ErrorKind::cancelled, .message = "the client closed the connection"};
}

}  // namespace

Scheduler::Scheduler(Engine& engine, const Clock& clock, SchedulerOptions options)
    : engine_(engine),
      clock_(clock),
      options_(options),
      memory_(engine, clock, options.anchor_bytes_max),
      share_(options.decode_share) {
  assert(options_.parallel >= 1 && options_.parallel <= engine.limits().sequences);
}

Scheduler::~Scheduler() = default;

void Scheduler::add(TurnRequest request, std::unique_ptr<Sampler> sampler,
                    std::shared_ptr<TurnSink> sink) {
  assert(request.prompt.size() >= 1 && request.prompt.size() < engine_.limits().cells);
  const EngineLimits& limits = engine_.limits();
  const Position spacing = std::min<Position>(limits::cut_spacing_min, limits.ubatch);
  auto cuts = canonical_cuts(request.prompt, limits.ubatch, spacing);
  AnchorPolicy policy(request.prompt, cuts, options_.anchor_grid, limits.snapshot_bytes,
                      options_.anchor_bytes_max);
  waiting_.push_back(std::make_unique<TurnState>(next_id_++, std::move(request), std::move(sampler),
                                                 std::move(sink), std::move(cuts),
                                                 std::move(policy), clock_.now()));
}

bool Scheduler::step() {
  reap();
  admit();
  const auto prefilling = in_phase(Phase::prefill);
  auto decoding = in_phase(Phase::decode);
  if (prefilling.empty() && decoding.empty()) return false;
  const Micros began = clock_.now();
  if (share_.decode_is_next(!prefilling.empty(), !decoding.empty())) {
    decode_step(std::move(decoding));
    share_.charge_decode(clock_.now() - began);
  } else {
    prefill_step(choose_prefill(prefilling));
    share_.charge_prefill(clock_.now() - began);
  }
  std::erase_if(running_, [](const Turn& turn) { return turn->phase == Phase::done; });
  return true;
}

void Scheduler::reap() {
  for (auto* turns : {&waiting_, &running_}) {
    for (const Turn& turn : *turns) {
      if (!turn->sink->cancelled()) continue;
      // The end of an interrupted prefill is worth an anchor: the same request is likely to return.
      if (turn->phase == Phase::prefill && std::ranges::binary_search(turn->cuts, held(*turn))) {
        memory_.take_anchor(turn->sequence, AnchorKind::grid);
      }
      fail(*turn, client_gone());
    }
    std::erase_if(*turns, [](const Turn& turn) { return turn->phase == Phase::done; });
  }
}

void Scheduler::admit() {
  while (!waiting_.empty() && running() < options_.parallel) {
    TurnState& turn = *waiting_.front();
    if (!try_start(turn)) break;
    if (turn.phase == Phase::done) {
      waiting_.pop_front();
    } else {
      running_.splice(running_.end(), waiting_, waiting_.begin());
    }
  }
}

// True if the turn left the queue: it runs, or it failed.
bool Scheduler::try_start(TurnState& turn) {
  const Micros began = clock_.now();
  for (int attempt = 0; attempt < kPlansMax; ++attempt) {
    const auto views = memory_.view();
    const PlanInput input{.prompt = turn.request.prompt,
                          .cuts = turn.cuts,
                          .rewind = engine_.model().rewind,
                          .residents = views,
                          .anchors = memory_.anchors(),
                          .cells = memory_.cells(),
                          .cells_reserved = cells_reserved(),
                          .reply_reserve = reply_reserve(turn),
                          .prefill_us_per_token = prefill_us_per_token_};
    const auto plan = make_plan(input);
    if (!plan) {
      // Something runs, so it will end and make room. Were nothing running, all could be evicted.
      assert(!running_.empty());
      return false;
    }
    const Micros planned = clock_.now();
    const EngineStatus restored = memory_.apply(*plan);
    turn.timings.restore += clock_.now() - planned;
    if (restored != EngineStatus::ok) continue;
    turn.timings.queue += began - turn.waiting_since;
    turn.timings.plan += planned - began;
    turn.sequence = plan->target;
    turn.phase = Phase::prefill;
    memory_.start_turn(turn.sequence, turn.request.prompt.primer_start);
    announce(turn, *plan);
    return true;
  }
  fail(turn, {.kind = ErrorKind::internal, .message = "the engine could not restore a sequence"});
  return true;
}

void Scheduler::announce(TurnState& turn, const Plan& plan) {
  if (turn.announced) return;  // started before, and sent back to the queue
  turn.announced = true;
  turn.timings.matched_tokens = plan.matched;
  turn.timings.source = plan.source;
  turn.sink->on_event(TurnStarted{.prompt_tokens = plan.prompt_tokens,
                                  .reused_tokens = plan.resume_at,
                                  .plan = plan.describe()});
}

Position Scheduler::reply_reserve(const TurnState& turn) const {
  const Position room = engine_.limits().cells - turn.request.prompt.size();
  const auto asked = turn.request.max_tokens.value_or(options_.reply_reserve);
  return static_cast<Position>(std::min<std::int64_t>({asked, options_.reply_reserve, room}));
}

Position Scheduler::cells_reserved() const {
  Position reserved = 0;
  for (const Turn& turn : running_) reserved += turn->reserved(held(*turn), reply_reserve(*turn));
  return reserved;
}

void Scheduler::leave(TurnState& turn) {
  if (turn.phase == Phase::prefill || turn.phase == Phase::decode) {
    memory_.end_turn(turn.sequence);
  }
}

void Scheduler::finish(TurnState& turn, FinishReason reason) {
  leave(turn);
  turn.phase = Phase::done;
  if (reason != FinishReason::stop) send_text(turn, turn.stop.flush());
  turn.sink->on_event(TurnFinished{.reason = reason, .timings = turn.figures()});
}

void Scheduler::fail(TurnState& turn, Error error) {
  if (turn.phase == Phase::waiting) turn.timings.queue += clock_.now() - turn.waiting_since;
  leave(turn);
  turn.phase = Phase::done;
  turn.sink->on_event(TurnFailed{.error = std::move(error), .timings = turn.figures()});
}

void Scheduler::fail_all(const Error& error) {
  for (auto* turns : {&waiting_, &running_}) {
    for (const Turn& turn : *turns) fail(*turn, error);
    turns->clear();
  }
}

}  // namespace samovar
