#include "sched/turn_meter.h"

namespace samovar {
namespace {

std::optional<Micros> if_reached(bool reached, Micros took) {
  return reached ? std::optional(took) : std::nullopt;
}

ReusedFrom reused_from(ReuseSource source) {
  switch (source) {
    case ReuseSource::anchor:
      return ReusedFrom::anchor;
    case ReuseSource::fork:
      return ReusedFrom::fork;
    case ReuseSource::store:
      return ReusedFrom::disk;
    case ReuseSource::none:  // nothing is reused
    case ReuseSource::live:
      return ReusedFrom::live;
  }
  return ReusedFrom::live;
}

}  // namespace

// What a turn found and never computed from was of no use (S10): it does not count as reused.
EndedTurn ended_turn(const TurnTimings& timings, TurnEnd end) {
  const bool computed = timings.computed_tokens > 0;
  // Time without such a source is that of a rewind or fork that failed.
  const bool brought = timings.source == ReuseSource::anchor ||
                       timings.source == ReuseSource::fork || timings.restores > 0 ||
                       timings.restore > 0;
  return {.end = end,
          .render = timings.render,
          .queue = timings.queue,
          .plan = if_reached(timings.starts > 0, timings.plan),
          .restore = if_reached(brought, timings.restore),
          .prefill = if_reached(computed, timings.prefill),
          .first_token = if_reached(timings.reply_tokens > 0, timings.first_token),
          .offered = timings.prompt_tokens,
          .reused = computed ? timings.reused_tokens : 0,
          .from = reused_from(timings.source),
          .computed = timings.computed_tokens,
          .rewarmed = computed ? timings.rewarmed_tokens : 0};
}

TurnEnd end_of(const Error& error) {
  if (error.kind == ErrorKind::cancelled) return TurnEnd::cancelled;
  return error.kind == ErrorKind::unavailable ? TurnEnd::shutdown : TurnEnd::failed;
}

Refusal refusal_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::too_large:
      return Refusal::too_large;
    case ErrorKind::overloaded:
      return Refusal::queue_full;
    case ErrorKind::invalid_argument:
      return Refusal::invalid;
    default:
      return Refusal::unavailable;
  }
}

}  // namespace samovar
