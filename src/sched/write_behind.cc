#include "sched/write_behind.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace samovar {
namespace {

// Between pieces, while replies run: this many times as long as the piece took.
constexpr Micros kRest = 64;

// Of a token, until it has been measured.
constexpr double kGuessedUsPerToken = 1000.0;

// A system prompt shorter than this is no checkpoint of its own.
constexpr Position kSystemMin = 256;

// After a piece could not be handed over.
constexpr Micros kRetry = 1 * kSecond;

// How long to wait at shutdown for the writer to give buffers back, each time.
constexpr Micros kBufferWait = 20 * kMillisecond;

Position length(const Resident& resident) { return static_cast<Position>(resident.tokens.size()); }

}  // namespace

WriteBehind::WriteBehind(Engine& engine, SegmentPort& port, Store& store, Memory& memory,
                         const Clock& clock, WriteBehindOptions options)
    : engine_(engine),
      port_(port),
      store_(store),
      memory_(memory),
      clock_(clock),
      options_(options),
      hybrid_(engine.model().rewind == RewindKind::snapshot),
      lines_(static_cast<std::size_t>(memory.sequences())) {
  memory_.before_leaving([this](SeqId sequence) { save_now(sequence); });
}

// The line of the sequence as it is now; what was known of other tokens is forgotten.
WriteBehind::Line& WriteBehind::line(SeqId sequence) {
  Line& line = lines_[static_cast<std::size_t>(sequence)];
  const Resident& resident = memory_.resident(sequence);
  if (line.epoch != resident.epoch) {
    line.epoch = resident.epoch;
    line.settled = line.restoring = false;
    line.segments_until = store_.cover(resident.tokens).until;
  }
  return line;
}

void WriteBehind::restore_started(SeqId sequence) { line(sequence).restoring = true; }

void WriteBehind::turn_started(SeqId sequence) {
  Line& line = this->line(sequence);
  line.restoring = false;
  if (memory_.resident(sequence).turns <= 1) {
    line.pause = line.activity = 0;
    return;
  }
  const Micros pause = clock_.now() - line.idle_since;
  line.pause = std::min(options_.window, std::max(pause, line.pause / 2));
}

void WriteBehind::turn_ended(SeqId sequence) { line(sequence).idle_since = clock_.now(); }

void WriteBehind::computed(SeqId sequence, Micros took) { line(sequence).activity += took; }

void WriteBehind::rewarm_started(SeqId from, SeqId target) {
  const Line base = line(from);
  Line& line = this->line(target);
  line.restoring = true;
  line.pause = base.pause;
  line.idle_since = base.idle_since;
}

bool WriteBehind::saved(SeqId sequence) {
  return length(memory_.resident(sequence)) < options_.tokens_min || settled(sequence);
}

bool WriteBehind::settled(SeqId sequence) {
  const Line& line = this->line(sequence);
  return line.settled && line.size == length(memory_.resident(sequence)) &&
         line.losses == store_.losses();
}

Micros WriteBehind::quiet_after(const Line& line) const {
  return std::clamp(2 * line.pause, options_.quiet, options_.window);
}

std::optional<WriteBehind::Reach> WriteBehind::due(SeqId sequence) {
  const Resident& resident = memory_.resident(sequence);
  if (length(resident) < options_.tokens_min || settled(sequence)) return std::nullopt;
  const Line& line = this->line(sequence);
  if (line.restoring) return std::nullopt;
  const bool quiet = clock_.now() - line.idle_since >= quiet_after(line);
  if (!resident.running && quiet) return Reach::tips;
  if (line.activity >= options_.window) return Reach::newest;
  const Position unwritten = last_full_end(sequence) - line.segments_until;
  return unwritten >= options_.segment_tokens ? std::optional(Reach::segments) : std::nullopt;
}

// The last end of a segment that lies a segment's worth before the end of the sequence.
Position WriteBehind::last_full_end(SeqId sequence) const {
  const Resident& resident = memory_.resident(sequence);
  const Position limit = length(resident) - options_.segment_tokens;
  const auto end = std::ranges::upper_bound(resident.ends, limit);
  return end == resident.ends.begin() ? 0 : *std::prev(end);
}

bool WriteBehind::step(bool decoding) {
  store_.set_busy(decoding);
  store_.tend();
  if (clock_.now() < retry_at_ || (decoding && clock_.now() < rest_until_)) return false;
  if (!store_.accepts(false)) return false;
  // Of other tokens, or what it builds on may be lost.
  const bool stale = task_ && (task_->epoch != memory_.resident(task_->sequence).epoch ||
                               task_->losses != store_.losses());
  if (!task_ || stale) choose_task();
  if (!task_) return false;
  const Micros began = clock_.now();
  if (task_->next == task_->steps.size()) {
    finish(*std::exchange(task_, std::nullopt));
    return true;
  }
  const Outcome outcome = run(*task_, task_->steps[task_->next]);
  rest_until_ = clock_.now() + kRest * (clock_.now() - began);
  if (outcome == Outcome::blocked) return false;
  ++task_->next;
  if (outcome == Outcome::failed) {
    task_.reset();
    retry_at_ = clock_.now() + kRetry;
  }
  return true;
}

void WriteBehind::choose_task() {
  task_.reset();
  for (const SeqId sequence : by_value()) {
    const auto reach = due(sequence);
    if (!reach) continue;
    task_ = make_task(sequence, *reach, false);
    return;
  }
}

// The sequences, the one with the most tokens first.
std::vector<SeqId> WriteBehind::by_value() const {
  std::vector<SeqId> order;
  for (SeqId id = 0; id < memory_.sequences(); ++id) {
    if (length(memory_.resident(id)) > 0) order.push_back(id);
  }
  std::ranges::stable_sort(order, std::greater{},
                           [this](SeqId id) { return memory_.resident(id).tokens.size(); });
  return order;
}

// The positions that should be checkpoints, ascending: anchors, or ends of segments.
std::vector<Position> WriteBehind::targets(SeqId sequence, Reach reach) {
  const Resident& resident = memory_.resident(sequence);
  const bool whole = reach == Reach::tips || reach == Reach::everything;
  std::vector<Position> targets;
  if (!hybrid_) {
    targets = resident.ends;
    std::erase_if(targets, [&](Position end) { return end > length(resident); });
    if (whole && !resident.running) targets.push_back(length(resident));
    return targets;
  }
  // Until a follow-up shows which of the two it extends, both tips are kept.
  const bool extends = resident.continued > 0 || resident.departed == 0;
  const bool departs = resident.departed > 0 || resident.continued == 0;
  if (whole && extends && !resident.running) memory_.take_anchor(sequence, AnchorKind::reply_end);
  // The window is over: where the sequence is now, under a long message or in a long reply.
  if (reach == Reach::newest) memory_.take_anchor(sequence, AnchorKind::grid);
  const auto& anchors = memory_.anchors().of(sequence);
  for (const Anchor& anchor : anchors) {
    const bool end = anchor.kind == AnchorKind::reply_end && anchor.position == length(resident);
    const bool lasting = anchor.kind == AnchorKind::system || anchor.kind == AnchorKind::divergence;
    const bool kept = (lasting && anchor.position >= kSystemMin) || (end && extends);
    if (whole && kept) targets.push_back(anchor.position);
  }
  // The newest anchor that is no reply's end: the history's, or where a prefill was interrupted.
  for (auto anchor = anchors.rbegin(); anchor != anchors.rend(); ++anchor) {
    if (anchor->kind == AnchorKind::reply_end) continue;
    if (departs || targets.empty() || !whole) targets.push_back(anchor->position);
    break;
  }
  if (reach == Reach::everything) add_older(sequence, targets);
  std::ranges::sort(targets);
  const auto [first, last] = std::ranges::unique(targets);
  targets.erase(first, last);
  return targets;
}

// Older anchors, for edits and branches of a conversation that comes back later: sparse ones, and
// the last one before the end of the history, from which another last message goes on.
void WriteBehind::add_older(SeqId sequence, std::vector<Position>& targets) const {
  const Position history_end = memory_.resident(sequence).history_end;
  Position last = 0;
  Position before = 0;
  for (const Anchor& anchor : memory_.anchors().of(sequence)) {
    if (anchor.position < history_end) before = anchor.position;
    if (anchor.position - last < options_.older_spacing) continue;
    last = anchor.position;
    targets.push_back(anchor.position);
  }
  if (before > 0) targets.push_back(before);
}

WriteBehind::Task WriteBehind::make_task(SeqId sequence, Reach reach, bool urgent) {
  Task task;
  task.sequence = sequence;
  task.urgent = urgent;
  task.settles = reach == Reach::tips || reach == Reach::everything;
  task.checkpoints = reach != Reach::segments;
  const auto targets = reach == Reach::segments && hybrid_ ? std::vector<Position>{}
                                                           : this->targets(sequence, reach);
  const Resident& resident = memory_.resident(sequence);
  task.epoch = resident.epoch;
  task.size = length(resident);
  task.losses = store_.losses();
  task.activity = line(sequence).activity;
  const StoredCover cover = store_.cover(resident.tokens);
  task.node = cover.node;
  line(sequence).segments_until = cover.until;
  if (cover.until > 0) task.nodes[cover.until] = cover.node;
  for (const Position target : targets) {
    if (target <= cover.until) {
      if (!hybrid_) continue;
      const auto node = store_.node_at(resident.tokens, target);
      if (!node) continue;  // inside a segment that another session cut elsewhere
      task.nodes[target] = *node;
    } else {
      plan_segments(task, target);
    }
  }
  if (reach == Reach::segments) plan_segments(task, last_full_end(sequence));
  if (!hybrid_) return task;
  // The newest first: the others only serve edits.
  for (auto target = targets.rbegin(); target != targets.rend(); ++target) {
    task.steps.push_back({.snapshot = true, .begin = 0, .end = *target});
  }
  return task;
}

// Adds the segments from where the task's chain ends to `until`. Long stretches without an end, as
// replies are, go in pieces that buffers can take.
void WriteBehind::plan_segments(Task& task, Position until) const {
  Position begin = task.nodes.empty() ? 0 : task.nodes.rbegin()->first;
  for (const Step& step : task.steps) begin = std::max(begin, step.end);
  // Every anchor is a place that a snapshot may be written at later.
  std::vector<Position> ends = memory_.resident(task.sequence).ends;
  for (const Anchor& anchor : memory_.anchors().of(task.sequence)) ends.push_back(anchor.position);
  std::ranges::sort(ends);
  const auto add = [&](Position end) {
    task.steps.push_back({.snapshot = false, .begin = begin, .end = end});
    begin = end;
  };
  const auto add_pieces = [&](Position end) {
    while (end - begin > 2 * options_.segment_tokens) add(begin + options_.segment_tokens);
    if (begin < end) add(end);
  };
  for (const Position end : ends) {
    if (end > begin && end < until) add_pieces(end);
  }
  add_pieces(until);
}

WriteBehind::Outcome WriteBehind::run(Task& task, const Step& step) {
  return step.snapshot ? hand_over_snapshot(task, step) : hand_over_segment(task, step);
}

StoreOrigin WriteBehind::origin(const Task& task, const Step& step) const {
  const Resident& resident = memory_.resident(task.sequence);
  const double rate = us_per_token_ > 0 ? us_per_token_ : kGuessedUsPerToken;
  return {.session = resident.session,
          .cost = static_cast<Micros>(rate * (step.end - step.begin)),
          .canonical = step.end <= resident.canonical_end,
          .urgent = task.urgent};
}

WriteBehind::Outcome WriteBehind::hand_over_segment(Task& task, const Step& step) {
  std::optional<Buffer> buffer;
  bool full = false;
  const auto room = [&](std::size_t bytes) {
    buffer = store_.buffer(bytes);
    full = !buffer;
    return buffer ? buffer->writable() : MutableBytes{};
  };
  const Status taken = port_.export_segment(task.sequence, step.begin, step.end, room);
  if (full) return Outcome::blocked;
  if (!taken) {
    log_warning("store: {}", taken.error().message);
    return Outcome::failed;
  }
  const TokenSpan tokens(memory_.resident(task.sequence).tokens);
  const auto node =
      store_.write_segment(task.node, step.begin,
                           tokens.subspan(static_cast<std::size_t>(step.begin),
                                          static_cast<std::size_t>(step.end - step.begin)),
                           std::move(*buffer), origin(task, step));
  if (!node) return Outcome::failed;
  task.node = *node;
  task.nodes[step.end] = *node;
  Line& line = this->line(task.sequence);
  line.segments_until = std::max(line.segments_until, step.end);
  return Outcome::done;
}

WriteBehind::Outcome WriteBehind::hand_over_snapshot(Task& task, const Step& step) {
  const auto node = task.nodes.find(step.end);
  const Anchor* anchor = memory_.anchors().at(task.sequence, step.end);
  if (node == task.nodes.end() || anchor == nullptr) return Outcome::done;  // thinned meanwhile
  settle_activity(task);
  if (store_.has_snapshot(node->second)) return Outcome::done;
  const Resident& resident = memory_.resident(task.sequence);
  const bool taken = store_.write_snapshot(node->second, resident.tokens, anchor->snapshot,
                                           port_.snapshot_bytes(*anchor->snapshot), anchor->kind,
                                           origin(task, step));
  return taken ? Outcome::done : Outcome::failed;
}

// What was computed since the task was made is not saved by it.
void WriteBehind::settle_activity(Task& task) {
  Line& line = this->line(task.sequence);
  line.activity = std::max<Micros>(0, line.activity - std::exchange(task.activity, 0));
}

void WriteBehind::finish(Task task) {
  Line& line = this->line(task.sequence);
  if (!hybrid_ || task.checkpoints) settle_activity(task);
  if (!task.settles) return;
  line.settled = true;
  line.size = task.size;
  line.losses = task.losses;
}

void WriteBehind::save_now(SeqId sequence) {
  // Settled or not: what was written may have been evicted from the disk since.
  if (length(memory_.resident(sequence)) < options_.tokens_min) return;
  if (!store_.accepts(true)) return;
  if (task_ && task_->sequence == sequence) task_.reset();
  Task task = make_task(sequence, Reach::everything, true);
  for (const Step& step : task.steps) {
    const Outcome outcome = run(task, step);
    if (outcome == Outcome::done) continue;
    log_warning("store: {} tokens of a session leave memory unwritten: {}",
                task.size - line(sequence).segments_until,
                outcome == Outcome::blocked ? "the disk is behind" : "writing rests");
    return;
  }
  finish(task);
}

void WriteBehind::save_all(Micros deadline) {
  const Micros until = clock_.now() + deadline;
  store_.set_busy(false);
  for (const Reach reach : {Reach::tips, Reach::everything}) {
    for (const SeqId sequence : by_value()) {
      if (length(memory_.resident(sequence)) < options_.tokens_min) continue;
      if (reach == Reach::tips && settled(sequence)) continue;
      Task task = make_task(sequence, reach, true);
      int idle_waits = 0;
      for (std::size_t i = 0; i < task.steps.size() && clock_.now() < until;) {
        const Outcome outcome = run(task, task.steps[i]);
        if (outcome == Outcome::failed) break;
        if (outcome == Outcome::done) ++i;
        // An idle writer holds no buffers: none is large enough.
        if (outcome == Outcome::blocked && store_.drain(kBufferWait) && ++idle_waits > 1) break;
      }
    }
  }
}

}  // namespace samovar
