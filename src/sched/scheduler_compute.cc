// The scheduler's engine calls: one piece of prefill, or one token for every running reply; and
// what follows from their results.
#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "prefix/splits.h"
#include "sched/scheduler.h"

namespace samovar {
namespace {

Error engine_failed() {
  return {.kind = ErrorKind::internal,
          .message = "the engine failed twice on this turn; its sequence was dropped",
          .remedy = "Send the request again; if it fails again, the server's log says more"};
}

}  // namespace

std::vector<TurnState*> Scheduler::in_phase(Phase phase) const {
  std::vector<TurnState*> turns;
  for (const Turn& turn : running_) {
    if (turn->phase == phase) turns.push_back(turn.get());
  }
  return turns;
}

Position Scheduler::held(const TurnState& turn) const {
  return static_cast<Position>(memory_.resident(turn.sequence).tokens.size());
}

TurnState& Scheduler::choose_prefill(const std::vector<TurnState*>& turns) {
  assert(!turns.empty());
  if (share_.oldest_is_next()) return *turns.front();
  const auto left = [this](const TurnState* turn) {
    return static_cast<Position>(turn->target.size()) - held(*turn);
  };
  return **std::ranges::min_element(turns, {}, left);
}

void Scheduler::prefill_step(TurnState& turn) {
  const Position begin = held(turn);
  const auto size = static_cast<Position>(turn.target.size());
  const Position end = call_end(turn.cuts, begin, size, engine_.limits().ubatch);
  assert(begin < end);
  if (!make_room(end - begin, &turn, nullptr)) return give_way(turn);

  const Micros began = clock_.now();
  const auto piece =
      TokenSpan(turn.target)
          .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  const bool canonical = std::ranges::binary_search(turn.cuts, end);
  const EngineStatus status = memory_.prefill(turn.sequence, piece, end == size, canonical);
  if (status == EngineStatus::no_cells) return out_of_cells(turn);
  if (status == EngineStatus::failed) return recover(turn);
  if (end < size) maybe_anchor(turn);
  record_prefill(turn, begin, end, clock_.now() - began);
  if (end == size) accept(turn, engine_.sample(*turn.sampler, 0));
}

void Scheduler::record_prefill(TurnState& turn, Position begin, Position end, Micros took) {
  const Position prompt = turn.timings.prompt_tokens;
  turn.timings.prefill += took;
  turn.prefilled += std::max(0, std::min(end, prompt) - begin);
  const double per_token = static_cast<double>(took) / (end - begin);
  prefill_us_per_token_.add(per_token);
  if (write_behind_ != nullptr) {
    write_behind_->set_prefill_rate(prefill_us_per_token_.value());
    write_behind_->computed(turn.sequence, took);
  }
  if (end <= prompt) turn.sink->on_event(TurnProgress{.done = end, .total = prompt});
}

void Scheduler::maybe_anchor(TurnState& turn) {
  const Position end = held(turn);
  const Anchor* previous = memory_.anchors().best(turn.sequence, end);
  const auto kind = turn.anchor_policy.at(end, previous == nullptr ? 0 : previous->position);
  if (kind) memory_.take_anchor(turn.sequence, *kind);
}

void Scheduler::decode_step(std::vector<TurnState*> turns) {
  if (!make_room(static_cast<Position>(turns.size()), nullptr, &turns) || turns.empty()) return;
  std::vector<DecodeStep> steps;
  steps.reserve(turns.size());
  for (const TurnState* turn : turns) {
    steps.push_back(
        {.sequence = turn->sequence, .position = held(*turn), .token = turn->reply.back()});
  }
  const Micros began = clock_.now();
  const EngineStatus status = memory_.decode(steps);
  if (status == EngineStatus::no_cells) {
    // The books said there was room; the engine knows better. Give it some.
    if (!memory_.evict_one()) finish(*turns.back(), FinishReason::length);
    return;
  }
  if (status != EngineStatus::ok) {
    for (TurnState* turn : turns) recover(*turn);
    return;
  }
  // All outputs are taken before any is acted on: acting may repair a sequence, which ends them.
  std::vector<Sampled> sampled;
  sampled.reserve(turns.size());
  for (std::size_t i = 0; i < turns.size(); ++i) {
    sampled.push_back(engine_.sample(*turns[i]->sampler, static_cast<int>(i)));
  }
  const Micros took = clock_.now() - began;
  meter_.decode_step(took);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    turns[i]->timings.decode += took;
    if (write_behind_ != nullptr) write_behind_->computed(turns[i]->sequence, took);
    accept(*turns[i], std::move(sampled[i]));
  }
}

// Acts on the turn's next token.
void Scheduler::accept(TurnState& turn, Sampled sampled) {
  if (sampled.token < 0) return recover(turn);
  if (turn.reply.empty()) turn.timings.first_token = clock_.now() - turn.request.arrived;
  const Token token = sampled.token;
  turn.reply.push_back(token);
  turn.sink->on_token(token);
  meter_.token_generated();
  turn.phase = Phase::decode;
  if (engine_.is_end(token)) return finish(turn, FinishReason::end);

  const auto& shown = turn.request.sampling.grammar.preserved_tokens;
  const std::string piece = engine_.piece(token, std::ranges::find(shown, token) != shown.end());
  if (turn.request.sampling.top_logprobs) {
    turn.unsent.emplace_back(turn.text_bytes, std::move(sampled));
  }
  turn.text_bytes += piece.size();
  send_text(turn, turn.stop.push(piece));
  if (turn.stop.matched()) return finish(turn, FinishReason::stop);
  const auto replied = static_cast<std::int64_t>(turn.reply.size());
  if (turn.request.max_tokens && replied >= *turn.request.max_tokens) {
    return finish(turn, FinishReason::length);
  }
}

void Scheduler::send_text(TurnState& turn, std::string text) {
  turn.sent_bytes += text.size();
  TurnText event{.text = std::move(text), .tokens = {}};
  while (!turn.unsent.empty() && turn.unsent.front().first < turn.sent_bytes) {
    event.tokens.push_back(std::move(turn.unsent.front().second));
    turn.unsent.pop_front();
  }
  if (!event.text.empty()) turn.sink->on_event(std::move(event));
}

// The engine failed on the turn's sequence: back to an anchor, then compute what is missing, once.
void Scheduler::recover(TurnState& turn) {
  turn.target = turn.request.prompt.tokens;
  turn.target.insert(turn.target.end(), turn.reply.begin(), turn.reply.end());
  // At least one token must be left to compute, or there is nothing to sample from.
  memory_.repair(turn.sequence, static_cast<Position>(turn.target.size()) - 1);
  turn.keep_reused(held(turn));
  if (turn.repaired) return fail(turn, engine_failed());
  turn.repaired = true;
  turn.phase = Phase::prefill;
}

// Frees cells for the next call: idle sequences go first; then the youngest restore, then the
// youngest prefill, other than the caller's, is sent back to the queue; then, if replies are
// decoding, the youngest of them ends with `length`. False if nothing but the caller's own prefill
// is left to give way.
bool Scheduler::make_room(Position cells, const TurnState* prefilling,
                          std::vector<TurnState*>* decoding) {
  while (memory_.cells().free() < cells) {
    if (memory_.evict_one()) continue;
    auto restoring = in_phase(Phase::restore);
    std::erase(restoring, prefilling);
    if (!restoring.empty()) {
      plan_again(*restoring.back(), RestoreFault::no_room);
      continue;
    }
    auto others = in_phase(Phase::prefill);
    std::erase(others, prefilling);
    if (!others.empty()) {
      give_way(*others.back());
      continue;
    }
    if (decoding == nullptr || decoding->empty()) return false;
    finish(*decoding->back(), FinishReason::length);
    decoding->pop_back();
    cells = static_cast<Position>(decoding->size());
  }
  return true;
}

// Sends a turn in prefill back to the head of the queue. What it computed stays, idle. A turn that
// is being repaired has a reply already: it ends here instead, as a reply does when cells run out.
void Scheduler::give_way(TurnState& turn) {
  if (!turn.reply.empty()) return finish(turn, FinishReason::length);
  requeue(turn);
}

// The books said there was room and the engine found none (a sliding-window cache has cells of its
// own). Give it some; if there is nothing to give, the turn cannot go on.
void Scheduler::out_of_cells(TurnState& turn) {
  if (memory_.evict_one()) return;
  if (running() > 1) return give_way(turn);
  fail(turn, {.kind = ErrorKind::internal,
              .message = "the engine has no room for this prompt although nothing else is resident",
              .remedy = "Restart with a larger context (-c)"});
}

}  // namespace samovar
