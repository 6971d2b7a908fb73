#include "sched/memory.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "prefix/rewarm_plan.h"

namespace samovar {
namespace {

// An idle session is half as likely to be asked for after this long.
constexpr double kHalfLife = 3600.0 * kSecond;

// A session that came back before is likelier to come back again, up to this factor.
constexpr int kReturnsMax = 4;

// A rewind in place that takes more tokens than this away loses more than a reply.
constexpr Position kTailWorthSaving = 512;

// How much less likely a line is to be used once turns have gone on in its twin.
constexpr double kSpareWeight = 1.0 / 16;

}  // namespace

Memory::Memory(Engine& engine, const Clock& clock, std::size_t anchor_bytes_max)
    : engine_(engine),
      clock_(clock),
      residents_(static_cast<std::size_t>(engine.limits().sequences)),
      cells_(engine.limits().sequences, engine.limits().cells),
      anchors_(engine.limits().sequences, anchor_bytes_max) {}

const Resident& Memory::resident(SeqId sequence) const {
  return residents_[static_cast<std::size_t>(sequence)];
}

int Memory::sequences_used() const {
  return static_cast<int>(std::ranges::count_if(
      residents_, [](const Resident& resident) { return !resident.tokens.empty(); }));
}

std::vector<ResidentView> Memory::view() const {
  std::vector<ResidentView> views;
  views.reserve(residents_.size());
  for (std::size_t i = 0; i < residents_.size(); ++i) {
    const Resident& resident = residents_[i];
    const auto sequence = static_cast<SeqId>(i);
    views.push_back({.id = sequence,
                     .tokens = resident.tokens,
                     .running = resident.running,
                     .history_end = resident.history_end,
                     .weight = weight(sequence),
                     .shared = resident.shared,
                     .twin = resident.twin,
                     .guest = resident.guest,
                     .spare = resident.spare});
  }
  return views;
}

double Memory::weight(SeqId sequence) const {
  const Resident& resident = this->resident(sequence);
  const auto age = static_cast<double>(clock_.now() - resident.last_used);
  double weight = std::exp2(-age / kHalfLife) * std::clamp(resident.turns, 1, kReturnsMax);
  const bool twins = resident.guest || (resident.twin >= 0 && this->resident(resident.twin).guest);
  if (twins) weight *= kTwinWeight;
  if (resident.spare) weight *= kSpareWeight;
  return weight;
}

// Tokens that would have to be computed again if the sequence went x likelihood of use.
double Memory::value(SeqId sequence) const {
  const Resident& resident = this->resident(sequence);
  const auto held = static_cast<Position>(resident.tokens.size());
  return static_cast<double>(std::max(0, held - resident.shared)) * weight(sequence);
}

void Memory::start_turn(SeqId sequence, Position history_end, std::vector<Position> segment_ends) {
  Resident& resident = at(sequence);
  assert(!resident.running);
  resident.running = true;
  resident.guest = resident.spare = false;
  resident.history_end = history_end;
  resident.ends = std::move(segment_ends);
  resident.last_used = clock_.now();
  ++resident.turns;
}

void Memory::end_turn(SeqId sequence) {
  Resident& resident = at(sequence);
  assert(resident.running);
  resident.running = false;
  resident.last_used = clock_.now();
}

EngineStatus Memory::apply(const Plan& plan) {
  choose_line(plan);
  evict_all(plan);
  EngineStatus status = EngineStatus::ok;
  switch (plan.source) {
    case ReuseSource::none:
    case ReuseSource::store:
      return status;
    case ReuseSource::live:
      // Where a guest is gone on from, the reply was departed from.
      ++(resident(plan.target).guest ? at(plan.target).departed : at(plan.target).continued);
      return status;
    case ReuseSource::anchor:
      if (cells_.length(plan.target) - plan.resume_at > kTailWorthSaving) save(plan.target);
      status = rewind(plan.target, plan.resume_at, plan.snapshot);
      ++at(plan.target).departed;
      break;
    case ReuseSource::fork:
      status = fork(plan.from, plan.target, plan.resume_at, plan.snapshot);
      break;
  }
  // Cut between canonical cuts, what is computed next is not what a cold run computes.
  Resident& resident = at(plan.target);
  if (!plan.canonical)
    resident.canonical_end = std::min(resident.canonical_end, plan.resume_at - 1);
  return status;
}

void Memory::save(SeqId sequence) {
  if (save_ && !resident(sequence).running && !resident(sequence).spare) save_(sequence);
}

// It makes room for another.
void Memory::let_go(SeqId sequence) {
  save(sequence);
  evicted_.add(resident(sequence).tokens);
  evict(sequence);
}

void Memory::evict_all(const Plan& plan) {
  for (const SeqId gone : plan.evict) let_go(gone);
}

EngineStatus Memory::rewind(SeqId sequence, Position position, const SnapshotPtr& snapshot) {
  assert(!resident(sequence).running);
  const EngineStatus status = engine_.rewind(sequence, position, snapshot.get());
  if (status == EngineStatus::ok) {
    cut_books(sequence, position);
  } else {
    evict(sequence);
  }
  assert(engine_.length(sequence) == cells_.length(sequence));
  return status;
}

EngineStatus Memory::fork(SeqId source, SeqId target, Position position,
                          const SnapshotPtr& snapshot) {
  assert(resident(target).tokens.empty());
  const EngineStatus status = engine_.fork(source, target, position, snapshot.get());
  if (status != EngineStatus::ok) {
    engine_.drop(target);
    if (snapshot != nullptr) anchors_.forget(snapshot.get());
    return status;
  }
  cells_.fork(source, target, position);
  anchors_.fork(source, target, position);
  Resident& to = at(target);
  const Resident& from = resident(source);
  // The branch that is asked for is at least as likely to be asked for again.
  to.turns = from.turns;
  to.canonical_end = std::min(from.canonical_end, position);
  to.tokens.assign(from.tokens.begin(), from.tokens.begin() + position);
  assert(engine_.length(target) == cells_.length(target));
  return status;
}

EngineStatus Memory::prefill(SeqId sequence, TokenSpan tokens, bool want_output, bool canonical) {
  Resident& resident = at(sequence);
  const auto begin = static_cast<Position>(resident.tokens.size());
  const EngineStatus status = engine_.prefill(sequence, begin, tokens, want_output);
  if (status == EngineStatus::ok) {
    resident.tokens.insert(resident.tokens.end(), tokens.begin(), tokens.end());
    cells_.append(sequence, static_cast<Position>(tokens.size()));
    resident.last_used = clock_.now();
    if (canonical && resident.canonical_end == begin) {
      resident.canonical_end = begin + static_cast<Position>(tokens.size());
    }
  }
  return status;
}

Status Memory::import(SegmentPort& port, SeqId sequence, TokenSpan tokens, Bytes segment,
                      bool canonical) {
  Resident& resident = at(sequence);
  const auto begin = static_cast<Position>(resident.tokens.size());
  const Position end = begin + static_cast<Position>(tokens.size());
  Status status = port.import_segment(sequence, begin, end, segment);
  if (!status) return status;
  resident.tokens.insert(resident.tokens.end(), tokens.begin(), tokens.end());
  cells_.append(sequence, end - begin);
  resident.last_used = clock_.now();
  if (canonical && resident.canonical_end == begin) resident.canonical_end = end;
  return status;
}

Status Memory::finish_import(SegmentPort& port, SeqId sequence, AnchorKind kind, Buffer snapshot) {
  const auto position = static_cast<Position>(resident(sequence).tokens.size());
  const SnapshotPtr state = port.adopt_snapshot(position, std::move(snapshot));
  if (state == nullptr) return fail(ErrorKind::overloaded, "no memory for a restored snapshot");
  if (engine_.rewind(sequence, position, state.get()) != EngineStatus::ok) {
    return fail(ErrorKind::internal, "a snapshot was refused by the engine");
  }
  anchors_.add(sequence, {.position = position, .kind = kind, .snapshot = state});
  thin();
  return {};
}

void Memory::discard(SeqId sequence) {
  engine_.drop(sequence);
  forget(sequence);
}

EngineStatus Memory::decode(std::span<const DecodeStep> steps) {
  const EngineStatus status = engine_.decode(steps);
  if (status != EngineStatus::ok) return status;
  for (const DecodeStep& step : steps) {
    Resident& resident = at(step.sequence);
    assert(step.position == static_cast<Position>(resident.tokens.size()));
    resident.tokens.push_back(step.token);
    cells_.append(step.sequence, 1);
    resident.last_used = clock_.now();
  }
  return status;
}

void Memory::take_anchor(SeqId sequence, AnchorKind kind) {
  if (engine_.model().rewind == RewindKind::anywhere) return;
  if (engine_.limits().snapshot_bytes > anchors_.budget()) return;
  const auto position = static_cast<Position>(resident(sequence).tokens.size());
  if (anchors_.at(sequence, position) != nullptr) return;
  auto snapshot = engine_.snapshot(sequence);
  if (!snapshot || *snapshot == nullptr) return;
  assert((*snapshot)->position() == position);
  anchors_.add(sequence, {.position = position, .kind = kind, .snapshot = std::move(*snapshot)});
  thin();
}

void Memory::thin() {
  anchors_dropped_ += anchors_.thin([this](SeqId id) { return weight(id); },
                                    [this](SeqId id) { return resident(id).running; });
}

void Memory::repair(SeqId sequence, Position limit) {
  const Position held = std::min(limit, static_cast<Position>(resident(sequence).tokens.size()));
  const Anchor* anchor = anchors_.best(sequence, held);
  const bool anywhere = engine_.model().rewind == RewindKind::anywhere;
  const Position position = anywhere ? held : anchor == nullptr ? 0 : anchor->position;
  const SnapshotPtr snapshot = anchor == nullptr ? nullptr : anchor->snapshot;
  const bool repaired =
      position > 0 && engine_.rewind(sequence, position, snapshot.get()) == EngineStatus::ok;
  if (!repaired) engine_.drop(sequence);
  cut_books(sequence, repaired ? position : 0);
  assert(engine_.length(sequence) == cells_.length(sequence));
}

void Memory::evict(SeqId sequence) {
  assert(!resident(sequence).running);
  engine_.drop(sequence);
  forget(sequence);
  ++evictions_;
}

void Memory::forget(SeqId sequence) {
  cut_books(sequence, 0);
  const std::uint64_t epoch = resident(sequence).epoch;
  at(sequence) = Resident{};
  at(sequence).epoch = epoch + 1;
}

void Memory::clear() {
  for (SeqId sequence = 0; sequence < sequences(); ++sequence) {
    discard(sequence);
  }
}

bool Memory::evict_one() {
  SeqId victim = -1;
  double least = 0.0;
  for (std::size_t i = 0; i < residents_.size(); ++i) {
    const Resident& resident = residents_[i];
    if (resident.running || resident.tokens.empty()) continue;
    const auto sequence = static_cast<SeqId>(i);
    const double value = this->value(sequence);
    if (victim >= 0 && value >= least) continue;
    victim = sequence;
    least = value;
  }
  if (victim < 0) return false;
  let_go(victim);
  return true;
}

void Memory::cut_books(SeqId sequence, Position position) {
  Resident& resident = at(sequence);
  resident.tokens.resize(static_cast<std::size_t>(position));
  resident.canonical_end = std::min(resident.canonical_end, position);
  ++resident.epoch;
  resident.rewarmed_end = std::min(resident.rewarmed_end, position);
  resident.shared = std::min(resident.shared, position);
  if (resident.twin >= 0) {
    Resident& twin = at(resident.twin);
    twin.shared = std::min(twin.shared, position);
  }
  if (position == 0) {
    if (resident.twin >= 0) at(resident.twin).spare = false;  // the only line that is left
    unlink(sequence);
  }
  cells_.truncate(sequence, position);
  anchors_.truncate(sequence, position);
}

}  // namespace samovar
