// The scheduler's way back from the store: find, read ahead, take in part by part, or plan again.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/log.h"
#include "sched/scheduler.h"

namespace samovar {
namespace {

// Until a restore was measured: what an ordinary SSD gives, and what opening files takes.
constexpr double kGuessedUsPerByte = 1e-3;
constexpr double kUsPerPart = 300.0;

// A turn whose restores failed this often computes instead.
constexpr int kRestoresMax = 8;

// A turn that computes less has nothing to explain.
constexpr Position kExplainMin = 128;

}  // namespace

std::optional<StoredChain> Scheduler::find_stored(const TurnState& turn) const {
  if (persistence_.store == nullptr || turn.facts.restores_failed >= kRestoresMax)
    return std::nullopt;
  const Tokens& tokens = turn.request.prompt.tokens;
  return persistence_.store->longest(tokens, static_cast<Position>(tokens.size()) - 1);
}

// What would have been there, had it not been evicted. Looked up only for a turn that has something
// to explain: it takes another walk along the prompt.
void Scheduler::note_evicted(TurnState& turn, const Plan& plan) const {
  if (plan.compute() < kExplainMin) return;
  const Tokens& tokens = turn.request.prompt.tokens;
  turn.facts.evicted_memory = memory_.evicted(tokens);
  if (persistence_.store == nullptr) return;
  turn.facts.evicted_disk =
      persistence_.store->evicted(tokens, static_cast<Position>(tokens.size()) - 1);
}

double Scheduler::predicted_restore(const StoredChain& chain) const {
  const double measured = restore_us_per_byte_.value();
  const double rate = measured > 0 ? measured : kGuessedUsPerByte;
  return static_cast<double>(chain.bytes) * rate +
         kUsPerPart * static_cast<double>(chain.segments.size() + 1);
}

void Scheduler::begin_restore(TurnState& turn, const Plan& plan, StoredChain chain) {
  log_debug("turn {}: {}", turn.id, plan.describe());
  turn.phase = Phase::restore;
  turn.restore_plan = plan;
  turn.restore_began = clock_.now();
  ++turn.timings.restores;
  meter_.restore_tried();
  if (write_behind_ != nullptr) write_behind_->restore_started(turn.sequence);
  turn.restore = persistence_.store->restore(std::move(chain), turn.request.prompt.tokens);
  turn.sink->on_event(TurnRestoring{.done = 0, .total = turn.request.prompt.size()});
}

// Restoring turns that have something to do: a part has come, or none will.
std::vector<TurnState*> Scheduler::restores_to_serve() const {
  auto turns = in_phase(Phase::restore);
  std::erase_if(turns, [](TurnState* turn) {
    return turn->restore->state() == StoreRestore::State::waiting;
  });
  return turns;
}

void Scheduler::restore_step(TurnState& turn) {
  switch (turn.restore->state()) {
    case StoreRestore::State::waiting:
      return;
    case StoreRestore::State::failed:
      return restore_failed(turn, turn.restore->fault(), turn.restore->error());
    case StoreRestore::State::done:
      return finish_restore(turn);
    case StoreRestore::State::ready:
      if (take_part(turn) && turn.restore->state() == StoreRestore::State::done) {
        finish_restore(turn);
      }
  }
}

bool Scheduler::take_part(TurnState& turn) {
  // Running replies may have used cells that this turn was promised: it waits for its turn again.
  const Position missing = turn.restore_plan.resume_at - held(turn);
  if (!make_room(missing, &turn, nullptr)) {
    plan_again(turn, RestoreFault::no_room);
    return false;
  }
  RestoredPart part = turn.restore->take();
  const Micros began = clock_.now();
  Status status;
  if (part.snapshot) {
    assert(part.end == held(turn));
    status = memory_.finish_import(*persistence_.port, turn.sequence, part.anchor,
                                   std::move(part.bytes));
  } else {
    assert(part.begin == held(turn));
    const TokenSpan tokens(turn.request.prompt.tokens);
    status = memory_.import(*persistence_.port, turn.sequence,
                            tokens.subspan(static_cast<std::size_t>(part.begin),
                                           static_cast<std::size_t>(part.end - part.begin)),
                            part.bytes.bytes(), part.canonical);
  }
  turn.timings.restore_set += clock_.now() - began;
  if (!status) {
    // Short of memory is not the file's fault.
    const bool no_memory = status.error().kind == ErrorKind::overloaded;
    if (!no_memory) turn.restore->refused();
    restore_failed(turn, no_memory ? RestoreFault::no_room : RestoreFault::refused,
                   status.error().message);
    return false;
  }
  turn.sink->on_event(TurnRestoring{.done = held(turn), .total = turn.request.prompt.size()});
  return true;
}

void Scheduler::finish_restore(TurnState& turn) {
  assert(held(turn) == turn.restore_plan.resume_at);
  turn.restore->succeeded();
  note_restore(turn);
  turn.restore.reset();
  turn.phase = Phase::prefill;
  if (write_behind_ != nullptr) write_behind_->turn_started(turn.sequence);
  announce(turn, turn.restore_plan);
}

// The bad part is out of the index by now: what is planned next does not meet it again.
void Scheduler::restore_failed(TurnState& turn, RestoreFault fault, const std::string& why) {
  log_warning("turn {}: {}; looking for a shorter checkpoint", turn.id, why);
  ++turn.facts.restores_failed;
  turn.facts.restore_problem = why;
  plan_again(turn, fault);
}

// Gives up a restore and sends its turn back to the head of the queue.
void Scheduler::plan_again(TurnState& turn, RestoreFault fault) {
  give_up_restore(turn, fault);
  requeue(turn);
}

// Nothing to do if it was given up before.
void Scheduler::give_up_restore(TurnState& turn, RestoreFault fault) {
  if (turn.restore == nullptr) return;
  const Micros took = clock_.now() - turn.restore_began;
  turn.timings.restore += took;
  meter_.restore_rejected(fault, turn.restore->figures().bytes, took);
  turn.restore.reset();
}

void Scheduler::note_restore(TurnState& turn) {
  const Micros took = clock_.now() - turn.restore_began;
  const RestoreFigures figures = turn.restore->figures();
  turn.timings.restore += took;
  turn.timings.restore_bytes += figures.bytes;
  turn.timings.restore_read += figures.read;
  turn.timings.restore_verify += figures.verify;
  meter_.restore_accepted(figures.bytes, took);
  if (figures.bytes == 0) return;
  restore_us_per_byte_.add(static_cast<double>(took) / static_cast<double>(figures.bytes));
}

// Which session the sequence and its checkpoints belong to. Named by the client, or inherited from
// what the turn goes on from, unless that is no more than a system prompt that others share.
void Scheduler::choose_session(TurnState& turn, const Plan& plan, const SessionId& stored) {
  const Prompt& prompt = turn.request.prompt;
  if (!turn.request.session_key.empty()) {
    return memory_.set_session(turn.sequence, session_of_key(turn.request.session_key));
  }
  const bool own = plan.source == ReuseSource::live || plan.source == ReuseSource::anchor;
  const bool goes_on = plan.resume_at > prompt.system_end;
  if (own && goes_on && memory_.resident(turn.sequence).session.known()) return;
  if (plan.source == ReuseSource::store && goes_on && stored.known()) {
    return memory_.set_session(turn.sequence, stored);
  }
  const std::string name =
      fmt::format("{} {} {}", clock_.wall_seconds(), clock_.now(), ++sessions_);
  memory_.set_session(turn.sequence, session_of_text(name));
}

}  // namespace samovar
