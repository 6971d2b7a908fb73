#include "sched/scheduler.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "prefix/planner.h"
#include "prefix/segment_ends.h"
#include "prefix/splits.h"
#include "sched/turn_start.h"

namespace samovar {
namespace {

// A restore that fails is followed by the next-best plan (what failed is forgotten), and the last
// time by one that reuses nothing.
constexpr int kPlansMax = 3;

// A turn that waits for cells is overtaken by at most so many later ones that find room.
constexpr int kPassesMax = 16;

// Learning an anchor pays if it saves so many tokens.
constexpr Position kLearnMin = 256;

Error client_gone() {
  return {.kind = ErrorKind::cancelled, .message = "the client closed the connection"};
}

}  // namespace

Scheduler::Scheduler(Engine& engine, const Clock& clock, SchedulerOptions options,
                     Persistence persistence, Meter& meter)
    : engine_(engine),
      clock_(clock),
      options_(options),
      persistence_(persistence),
      meter_(meter),
      memory_(engine, clock, options.anchor_bytes_max),
      share_(options.decode_share) {
  if (persistence_.store != nullptr) {
    write_behind_ = std::make_unique<WriteBehind>(engine, *persistence_.port, *persistence_.store,
                                                  memory_, clock, options.write_behind);
  }
  rewarming_ = std::make_unique<Rewarming>(engine, clock, memory_, write_behind_.get(),
                                           options_.reply_reserve);
  assert(options_.parallel >= 1 && options_.parallel <= engine.limits().sequences);
  publish();
}

Scheduler::~Scheduler() = default;

void Scheduler::add(TurnRequest request, std::unique_ptr<Sampler> sampler,
                    std::shared_ptr<TurnSink> sink) {
  assert(request.kind == TurnKind::request);
  assert(request.prompt.size() >= 1 && request.prompt.size() < engine_.limits().cells);
  rewarming_->request_arrived(request);
  Layout layout = this->layout(request.prompt);
  waiting_.push_back(std::make_unique<TurnState>(
      next_id_++, std::move(request), std::move(sampler), std::move(sink), std::move(layout.cuts),
      std::move(layout.ends), std::move(layout.policy), clock_.now()));
}

void Scheduler::add_rewarm(TurnRequest request, std::shared_ptr<TurnSink> sink) {
  assert(request.prompt.size() >= 1 && request.prompt.size() < engine_.limits().cells);
  Layout layout = this->layout(request.prompt);
  rewarming_->add(std::move(request), std::move(layout.cuts), std::move(layout.ends),
                  std::move(layout.policy), std::move(sink));
}

Scheduler::Layout Scheduler::layout(const Prompt& prompt) const {
  const EngineLimits& limits = engine_.limits();
  const Position spacing = std::min<Position>(options_.cut_spacing, limits.ubatch);
  auto cuts = canonical_cuts(prompt, limits.ubatch, spacing);
  AnchorPolicy policy(prompt, cuts, options_.anchor_grid, limits.snapshot_bytes,
                      options_.anchor_bytes_max);
  // Without snapshots any segment's end is a place to resume from, so every cut becomes one.
  const bool plain = engine_.model().rewind == RewindKind::anywhere;
  auto ends = segment_ends(prompt, cuts, plain ? 1 : options_.write_behind.segment_tokens);
  return {.cuts = std::move(cuts), .ends = std::move(ends), .policy = std::move(policy)};
}

bool Scheduler::step() {
  const bool computed = advance();
  publish();
  return computed;
}

void Scheduler::publish() {
  const auto count = [this](Phase phase) {
    return static_cast<int>(
        std::ranges::count(running_, phase, [](const Turn& turn) { return turn->phase; }));
  };
  const Anchors& anchors = memory_.anchors();
  published_.set({.waiting = waiting(),
                  .running = running(),
                  .restoring = count(Phase::restore),
                  .prefilling = count(Phase::prefill),
                  .decoding = count(Phase::decode),
                  .rewarming = rewarms(),
                  .cells_used = memory_.cells().used(),
                  .cells_total = memory_.cells().total(),
                  .sequences_used = memory_.sequences_used(),
                  .sequences_total = memory_.sequences(),
                  .anchors = static_cast<int>(anchors.snapshots()),
                  .anchor_bytes = anchors.bytes(),
                  .anchor_bytes_max = anchors.budget(),
                  .sequences_evicted = memory_.evictions_by_cause(),
                  .anchors_dropped = static_cast<std::uint64_t>(memory_.anchors_dropped())});
}

bool Scheduler::advance() {
  if (!waiting_.empty() || !running_.empty()) rewarming_->pause();
  reap();
  admit();
  publish();  // before a call that may take seconds
  const auto restoring = restores_to_serve();
  const auto prefilling = in_phase(Phase::prefill);
  auto decoding = in_phase(Phase::decode);
  const bool wrote = write_behind_ != nullptr && write_behind_->step(!decoding.empty());
  const bool filling = !prefilling.empty() || !restoring.empty();
  if (!filling && decoding.empty()) {
    const bool idle = !wrote && waiting_.empty() && running_.empty();
    return wrote || (idle && rewarming_->step());
  }
  const Micros began = clock_.now();
  if (share_.decode_is_next(filling, !decoding.empty())) {
    decode_step(std::move(decoding));
    share_.charge_decode(clock_.now() - began);
  } else {
    if (!restoring.empty()) {
      restore_step(*restoring.front());
    } else {
      prefill_step(choose_prefill(prefilling));
    }
    share_.charge_prefill(clock_.now() - began);
  }
  std::erase_if(running_, [](const Turn& turn) { return turn->phase == Phase::done; });
  return true;
}

void Scheduler::save_all(Micros deadline) {
  assert(waiting_.empty() && running_.empty());
  if (write_behind_ != nullptr) write_behind_->save_all(deadline);
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
  int passed = 0;  // turns ahead in the queue that must wait for cells
  for (auto next = waiting_.begin(); next != waiting_.end() && running() < options_.parallel;) {
    const auto here = next++;
    TurnState& turn = **here;
    const bool may_pass = passed == 0 || waiting_.front()->passed_by < kPassesMax;
    if (!may_pass) break;
    // A turn that was found to need more cells is planned again only when another one has ended.
    if (turn.blocked_at == ended_ || !try_start(turn, passed > 0)) {
      turn.blocked_at = ended_;
      ++passed;
      continue;
    }
    if (passed > 0) ++waiting_.front()->passed_by;
    if (turn.phase == Phase::done) {
      waiting_.erase(here);
    } else {
      running_.splice(running_.end(), waiting_, here);
    }
  }
}

// True if the turn left the queue: it runs, or it failed. One that passes others must find room as
// things are: it evicts nothing, least of all what a turn before it is waiting to go on from.
bool Scheduler::try_start(TurnState& turn, bool passing) {
  Micros began = clock_.now();
  const auto stored = find_stored(turn);
  turn.facts.store_on = persistence_.store != nullptr;
  turn.facts.stored = stored ? stored->position : 0;
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
                          .prefill_us_per_token = prefill_us_per_token_.value(),
                          .stored = stored ? stored->position : 0,
                          .stored_us = stored ? predicted_restore(*stored) : 0.0,
                          .may_reuse = attempt + 1 < kPlansMax};
    const auto plan = make_plan(input);
    if (!plan) {
      // Something runs, so it will end and make room. Were nothing running, all could be evicted.
      assert(!running_.empty());
      return false;
    }
    if (passing && !plan->evict.empty()) return false;
    const Micros planned = clock_.now();
    const bool brings = plan->source == ReuseSource::anchor || plan->source == ReuseSource::fork;
    turn.timings.queue += began - turn.waiting_since;
    turn.timings.plan += planned - began;
    const Position rewarmed = memory_.rewarmed_in(*plan);
    const EngineStatus restored = memory_.apply(*plan);
    began = turn.waiting_since = clock_.now();
    // Where nothing is brought, all that took time is letting go of what makes room.
    (brings ? turn.timings.restore : turn.timings.plan) += began - planned;
    if (restored != EngineStatus::ok) continue;
    ++turn.timings.starts;
    turn.sequence = plan->target;
    if (!turn.announced) turn.timings.rewarmed_tokens = rewarmed;
    learn(turn, *plan);
    memory_.start_turn(turn.sequence, turn.request.prompt.primer_start, turn.ends);
    choose_session(turn, *plan, stored ? stored->segments.back().session : SessionId{});
    if (plan->source == ReuseSource::store) {
      begin_restore(turn, *plan, *stored);
      return true;
    }
    turn.phase = Phase::prefill;
    if (write_behind_ != nullptr) write_behind_->turn_started(turn.sequence);
    announce(turn, *plan);
    return true;
  }
  fail(turn, {.kind = ErrorKind::internal, .message = "the engine could not restore a sequence"});
  return true;
}

// What a prompt shares with anything known, in memory or on disk, has been computed before; if no
// anchor is there to resume from, there is one from this turn on.
void Scheduler::learn(TurnState& turn, const Plan& plan) {
  if (engine_.model().rewind == RewindKind::anywhere) return;
  memory_.note_resume(turn.sequence, plan.resume_at);
  Position seen = plan.matched;
  if (persistence_.store != nullptr && plan.compute() >= kLearnMin) {
    seen = std::max(seen, persistence_.store->cover(turn.request.prompt.tokens).until);
  }
  const Position cut = last_cut_at(turn.cuts, std::min(seen, plan.prompt_tokens - 1));
  if (cut - plan.resume_at >= kLearnMin) turn.anchor_policy.learn(cut);
}

void Scheduler::announce(TurnState& turn, const Plan& plan) {
  if (turn.announced) {  // started before, and sent back to the queue
    turn.keep_reused(plan.resume_at);
    return;
  }
  turn.announced = true;
  turn.facts.matched = plan.matched;
  note_evicted(turn, plan);
  TurnStarted start = start_of(plan, turn.facts, turn.timings);
  start.history_tokens = turn.request.prompt.primer_start;
  start.kept_as = memory_.resident(turn.sequence).session.hex();
  turn.sink->on_event(std::move(start));
}

Position Scheduler::reply_reserve(const TurnState& turn) const {
  const Position room = engine_.limits().cells - turn.request.prompt.size();
  const auto replied = static_cast<std::int64_t>(turn.reply.size());
  const std::int64_t asked = turn.request.max_tokens.value_or(room) - replied;
  return static_cast<Position>(std::max<std::int64_t>(
      0, std::min<std::int64_t>({asked, options_.reply_reserve, room - replied})));
}

Position Scheduler::cells_reserved() const {
  Position reserved = 0;
  for (const Turn& turn : running_) reserved += turn->reserved(held(*turn), reply_reserve(*turn));
  return reserved;
}

void Scheduler::leave(TurnState& turn) {
  if (turn.phase == Phase::waiting || turn.phase == Phase::done) return;
  memory_.end_turn(turn.sequence);
  if (turn.phase == Phase::restore) {
    give_up_restore(turn, RestoreFault::turn_ended);
    memory_.discard(turn.sequence);  // incomplete
  } else if (write_behind_ != nullptr) {
    write_behind_->turn_ended(turn.sequence);
  }
  ++ended_;
}

// Back to the head of the queue.
void Scheduler::requeue(TurnState& turn) {
  leave(turn);
  turn.phase = Phase::waiting;
  turn.sequence = -1;
  turn.waiting_since = clock_.now();
  const auto place =
      std::ranges::find_if(running_, [&](const Turn& other) { return other.get() == &turn; });
  waiting_.splice(waiting_.begin(), running_, place);
}

void Scheduler::finish(TurnState& turn, FinishReason reason) {
  leave(turn);
  turn.phase = Phase::done;
  if (reason != FinishReason::stop) send_text(turn, turn.stop.flush());
  turn.sink->on_event(
      TurnFinished{.reason = reason, .timings = turn.figures(), .stopped_at = turn.stop.found()});
}

void Scheduler::fail(TurnState& turn, Error error) {
  if (turn.phase == Phase::done) return;
  if (turn.phase == Phase::waiting) turn.timings.queue += clock_.now() - turn.waiting_since;
  leave(turn);
  turn.phase = Phase::done;
  send_text(turn, turn.stop.flush());  // what was said is said
  turn.sink->on_event(TurnFailed{.error = std::move(error), .timings = turn.figures()});
}

void Scheduler::fail_all(const Error& error) {
  rewarming_->cancel_all(error);
  for (auto* turns : {&waiting_, &running_}) {
    for (const Turn& turn : *turns) fail(*turn, error);
    turns->clear();
  }
  publish();
}

void Scheduler::reset(const Error& error) {
  fail_all(error);
  memory_.clear();
  publish();
}

}  // namespace samovar
