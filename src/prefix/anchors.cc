#include "prefix/anchors.h"

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

namespace samovar {
namespace {

// So many resumptions without use, and a divergence anchor is one like others.
constexpr int kUnusedMost = 16;

bool lasting(AnchorKind kind) {
  return kind == AnchorKind::system || kind == AnchorKind::divergence;
}

}  // namespace

Anchors::Anchors(int sequences, std::size_t budget_bytes)
    : sequences_(static_cast<std::size_t>(sequences)), budget_(budget_bytes) {}

const std::vector<Anchor>& Anchors::of(SeqId sequence) const {
  return sequences_[static_cast<std::size_t>(sequence)];
}

const Anchor* Anchors::best(SeqId sequence, Position limit) const {
  const auto& anchors = of(sequence);
  const auto after = std::ranges::upper_bound(anchors, limit, {}, &Anchor::position);
  return after == anchors.begin() ? nullptr : &*std::prev(after);
}

const Anchor* Anchors::at(SeqId sequence, Position position) const {
  const Anchor* anchor = best(sequence, position);
  return anchor != nullptr && anchor->position == position ? anchor : nullptr;
}

void Anchors::add(SeqId sequence, Anchor anchor) {
  auto& anchors = sequences_[static_cast<std::size_t>(sequence)];
  const auto place = std::ranges::lower_bound(anchors, anchor.position, {}, &Anchor::position);
  if (place != anchors.end() && place->position == anchor.position) {
    // What is raised to a kind that stays begins anew.
    if (lasting(anchor.kind) && place->kind != AnchorKind::system) {
      place->kind = anchor.kind;
      place->unused = 0;
    }
    return;
  }
  hold(anchor.snapshot);
  anchors.insert(place, std::move(anchor));
}

void Anchors::truncate(SeqId sequence, Position position) {
  auto& anchors = sequences_[static_cast<std::size_t>(sequence)];
  while (!anchors.empty() && anchors.back().position > position) {
    release(anchors.back().snapshot);
    anchors.pop_back();
  }
}

void Anchors::note_resume(SeqId sequence, Position position) {
  for (Anchor& anchor : sequences_[static_cast<std::size_t>(sequence)]) {
    if (anchor.kind != AnchorKind::divergence) continue;
    anchor.unused = anchor.position == position ? 0 : anchor.unused + 1;
    if (anchor.unused > kUnusedMost) anchor.kind = AnchorKind::grid;
  }
}

void Anchors::fork(SeqId source, SeqId target, Position position) {
  for (const Anchor& anchor : of(source)) {
    if (anchor.position <= position) add(target, anchor);
  }
}

void Anchors::forget(const Snapshot* snapshot) {
  for (auto& anchors : sequences_) {
    const auto found = std::ranges::find_if(
        anchors, [&](const Anchor& anchor) { return anchor.snapshot.get() == snapshot; });
    if (found == anchors.end()) continue;
    const SnapshotPtr held = found->snapshot;
    anchors.erase(found);
    release(held);
  }
}

int Anchors::thin(const std::function<double(SeqId)>& weight,
                  const std::function<bool(SeqId)>& running) {
  int dropped = 0;
  while (bytes_ > budget_) {
    const Snapshot* victim = cheapest(weight, running, false);
    if (victim == nullptr) victim = cheapest(weight, running, true);
    if (victim == nullptr) break;
    forget(victim);
    ++dropped;
  }
  return dropped;
}

const Snapshot* Anchors::cheapest(const std::function<double(SeqId)>& weight,
                                  const std::function<bool(SeqId)>& running,
                                  bool protected_too) const {
  // A snapshot shared by several sequences is worth what it is worth to the one that needs it most.
  std::unordered_map<const Snapshot*, double> worth;
  std::unordered_set<const Snapshot*> kept;
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    const auto sequence = static_cast<SeqId>(i);
    const bool busy = running(sequence);
    Position previous = 0;
    for (std::size_t k = 0; k < sequences_[i].size(); ++k) {
      const Anchor& anchor = sequences_[i][k];
      const bool newest = k + 1 == sequences_[i].size();
      // In a running sequence's interior thinning is allowed too, or one long prefill could not be
      // kept within the budget; its newest and its lasting anchors are not.
      const bool guarded = newest || lasting(anchor.kind);
      if (guarded && (busy || !protected_too)) kept.insert(anchor.snapshot.get());
      const double cost = static_cast<double>(anchor.position - previous) * weight(sequence);
      double& most = worth[anchor.snapshot.get()];
      most = std::max(most, cost);
      previous = anchor.position;
    }
  }
  const Snapshot* victim = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [snapshot, cost] : worth) {
    if (kept.contains(snapshot)) continue;
    const bool earlier =
        victim != nullptr && cost == least && snapshot->position() < victim->position();
    if (cost < least || earlier) {
      victim = snapshot;
      least = cost;
    }
  }
  return victim;
}

void Anchors::hold(const SnapshotPtr& snapshot) {
  if (++holders_[snapshot.get()] == 1) bytes_ += snapshot->bytes();
}

void Anchors::release(const SnapshotPtr& snapshot) {
  const auto found = holders_.find(snapshot.get());
  if (--found->second > 0) return;
  bytes_ -= snapshot->bytes();
  holders_.erase(found);
}

}  // namespace samovar
