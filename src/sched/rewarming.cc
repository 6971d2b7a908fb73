#include "sched/rewarming.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/log.h"
#include "prefix/rewarm_plan.h"
#include "prefix/shared_prefix.h"
#include "prefix/splits.h"
#include "sched/turn_start.h"

namespace samovar {
namespace {

// Conversations whose re-warm may wait; of more, the oldest goes.
constexpr std::size_t kJobsMax = 16;

Error overtaken(const char* why) { return {.kind = ErrorKind::cancelled, .message = why}; }

bool same_session(const TurnRequest& a, const TurnRequest& b) {
  if (!a.session_key.empty() && a.session_key == b.session_key) return true;
  return same_conversation(a.prompt, b.prompt);
}

}  // namespace

Rewarming::Rewarming(Engine& engine, const Clock& clock, Memory& memory, WriteBehind* write_behind,
                     Position reply_reserve)
    : engine_(engine),
      clock_(clock),
      memory_(memory),
      write_behind_(write_behind),
      reply_reserve_(reply_reserve) {}

void Rewarming::add(TurnRequest request, std::vector<Position> cuts,
                    std::vector<Position> segment_ends, AnchorPolicy policy,
                    std::shared_ptr<TurnSink> sink) {
  const auto same = [&](const Job& job) { return same_session(job.request, request); };
  drop_if(same, "a newer reply of the conversation is warmed instead");
  if (jobs_.size() >= kJobsMax) fail_front(overtaken("too many conversations are being warmed"));
  const Position until = last_cut_at(cuts, request.prompt.size());
  jobs_.push_back({.request = std::move(request),
                   .cuts = std::move(cuts),
                   .ends = std::move(segment_ends),
                   .policy = std::move(policy),
                   .sink = std::move(sink),
                   .until = until,
                   .timings = {}});
  Job& job = jobs_.back();
  job.timings.render = job.request.render_time;
  job.timings.prompt_tokens = until;
}

void Rewarming::request_arrived(const TurnRequest& request) {
  drop_if([&](const Job& job) { return same_session(job.request, request); },
          "a request of the conversation came first");
}

template <typename Predicate>
void Rewarming::drop_if(const Predicate& overtaken_by, const char* why) {
  for (auto next = jobs_.begin(); next != jobs_.end();) {
    const auto job = next++;
    if (!overtaken_by(*job)) continue;
    stop(*job);
    job->sink->on_event(TurnFailed{.error = overtaken(why), .timings = job->timings});
    jobs_.erase(job);
  }
}

// What is computed stays, with an anchor at its end, which is a canonical cut.
void Rewarming::stop(Job& job) {
  if (!std::exchange(job.running, false)) return;
  const Micros began = clock_.now();
  if (!memory_.resident(job.sequence).tokens.empty()) {
    memory_.take_anchor(job.sequence, AnchorKind::grid);
  }
  time_ += clock_.now() - began;
  if (write_behind_ != nullptr) write_behind_->rewarm_stopped(job.sequence);
}

void Rewarming::pause() {
  if (jobs_.empty() || !jobs_.front().running) return;
  stop(jobs_.front());
  ++pauses_;
}

bool Rewarming::step() {
  drop_if([](const Job& job) { return job.sink->cancelled(); }, "it is not wanted any more");
  while (!jobs_.empty()) {
    Job& job = jobs_.front();
    if (!job.running && !begin(job)) continue;  // it has ended
    compute(job);
    return true;
  }
  return false;
}

std::vector<ResidentView> Rewarming::view() const {
  auto views = memory_.view();
  if (write_behind_ == nullptr) return views;
  for (ResidentView& view : views) {
    view.saved = !view.tokens.empty() && write_behind_->saved(view.id);
  }
  return views;
}

// False if the first job has ended instead.
bool Rewarming::begin(Job& job) {
  const Micros began = clock_.now();
  const auto views = view();
  const auto plan = make_rewarm_plan({.prompt = job.request.prompt,
                                      .until = job.until,
                                      .cuts = job.cuts,
                                      .rewind = engine_.model().rewind,
                                      .residents = views,
                                      .anchors = memory_.anchors(),
                                      .cells = memory_.cells(),
                                      .reply_reserve = reply_reserve_});
  if (!plan) {
    fail_front({.kind = ErrorKind::overloaded, .message = "no room to warm the conversation"});
    return false;
  }
  announce(job, *plan);
  if (plan->compute() == 0) {
    finish_front();
    return false;
  }
  if (memory_.apply_rewarm(*plan, job.ends) != EngineStatus::ok) {
    fail_front({.kind = ErrorKind::internal, .message = "the engine could not fork a sequence"});
    return false;
  }
  time_ += clock_.now() - began;
  job.sequence = plan->target;
  job.running = true;
  // A guest is written when it is complete; the line that the reply left never waits for that.
  if (write_behind_ != nullptr && memory_.resident(plan->target).guest) {
    write_behind_->rewarm_started(plan->from, plan->target);
  }
  return true;
}

void Rewarming::announce(Job& job, const Plan& plan) {
  if (std::exchange(job.announced, true)) return;
  if (plan.compute() > 0) ++turns_;
  log_debug("re-warm: {}", plan.describe());
  job.sink->on_event(start_of(plan, {}, job.timings));
}

// The next piece of the first job.
void Rewarming::compute(Job& job) {
  const auto begin = static_cast<Position>(memory_.resident(job.sequence).tokens.size());
  const Position end = call_end(job.cuts, begin, job.until, engine_.limits().ubatch);
  assert(begin < end);
  const Error no_room{.kind = ErrorKind::overloaded, .message = "no cells are left to warm it"};
  if (memory_.cells().free() < end - begin) return fail_front(no_room);
  const auto piece =
      TokenSpan(job.request.prompt.tokens)
          .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  const Micros began = clock_.now();
  const EngineStatus status = memory_.prefill_rewarm(job.sequence, piece);
  if (status == EngineStatus::no_cells) return fail_front(no_room);
  if (status == EngineStatus::failed) {
    memory_.repair(job.sequence, begin);
    return fail_front({.kind = ErrorKind::internal, .message = "the engine failed in a re-warm"});
  }
  anchor(job, end);
  const Micros took = clock_.now() - began;
  tokens_ += static_cast<std::uint64_t>(end - begin);
  time_ += took;
  job.timings.computed_tokens += end - begin;
  job.timings.prefill += took;
  job.sink->on_event(TurnProgress{.done = end, .total = job.until});
  if (end == job.until) finish_front();
}

void Rewarming::anchor(Job& job, Position end) {
  const Anchor* previous = memory_.anchors().best(job.sequence, end);
  auto kind = job.policy.at(end, previous == nullptr ? 0 : previous->position);
  if (end == job.until) kind = AnchorKind::history_end;
  if (kind) memory_.take_anchor(job.sequence, *kind);
}

void Rewarming::finish_front() {
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  stop(job);
  if (job.timings.computed_tokens > 0) ++finished_;
  log_debug("re-warm: finished, {} tokens in {:.0f} ms", job.timings.computed_tokens,
            to_ms(job.timings.prefill));
  job.sink->on_event(TurnFinished{.reason = FinishReason::end, .timings = job.timings});
}

void Rewarming::fail_front(Error error) {
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  stop(job);
  log_debug("re-warm: {}", error.message);
  job.sink->on_event(TurnFailed{.error = std::move(error), .timings = job.timings});
}

void Rewarming::cancel_all(const Error& error) {
  while (!jobs_.empty()) fail_front(error);
}

RewarmFigures Rewarming::figures() const {
  return {
      .turns = turns_, .finished = finished_, .pauses = pauses_, .tokens = tokens_, .time = time_};
}

}  // namespace samovar
