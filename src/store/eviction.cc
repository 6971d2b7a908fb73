#include "store/eviction.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <unordered_set>
#include <utility>

#include "store/eviction_forest.h"

namespace samovar {
namespace {

using Index = Place::Index;

constexpr double kHalfLife = 3600;              // seconds without use that halve the likelihood
constexpr std::uint32_t kUsesThatCount = 3;     // each use adds as much again
constexpr double kSuperseded = 0.01;            // of a tip that its session has outgrown
constexpr double kTokensThatCount = 4096;       // a conversation of this length is twice as likely
constexpr double kLengthMost = 8;               // to go on as a new one; at most this many times
constexpr std::int64_t kSnapshotMayCome = 600;  // seconds that a segment waits for its snapshot

bool is_tip(const BlobRecord& snapshot) {
  return snapshot.anchor == AnchorKind::history_end || snapshot.anchor == AnchorKind::reply_end;
}

bool young(const BlobRecord& record, std::int64_t now) {
  return record.created <= now && now - record.created < kSnapshotMayCome;
}

// One place as eviction sees it. The checkpoints that are left form a forest; a segment is needed
// as long as anything at or after its end is.
struct Point {
  std::uint32_t needed = 0;      // by its checkpoint, what keeps it, each child that is needed
  bool checkpoint = false;       // one is there, and has not been given up
  Index shorter = Place::kRoot;  // leads to the next-shorter checkpoint: see Evictor::shorter
  double reach = 0;              // cost from token 0 to here

  // Of a checkpoint: what giving it up would free. A last one also frees the segments from here
  // down to `top`, which something else needs.
  std::uint64_t bytes = 0;
  Index top = Place::kRoot;
  std::uint32_t version = 0;  // of its figures: older offers are void
  std::uint32_t newer = 0;    // later checkpoints of its session, counting the next ones only

  // The sum of (index + 1) of the checkpoints whose `top` this is: when one is left, its index.
  std::uint64_t waiting = 0;
};

class Evictor {
 public:
  Evictor(const std::vector<Place>& places, std::uint64_t bytes, std::int64_t now)
      : forest_(places), points_(places.size()), target_(bytes), now_(now) {}

  std::vector<BlobKey> order() {
    count_needs();
    remove_useless();
    if (freed_ < target_) {
      weigh_all();
      give_up_cheapest();
    }
    return std::move(keys_);
  }

 private:
  struct Offer {
    double value;  // log2 of what a byte is worth
    Index place;
    std::uint32_t version;
    bool operator>(const Offer& other) const {
      return value != other.value ? value > other.value : place > other.place;
    }
  };

  void count_needs();
  void remove_useless();
  void weigh_all();
  void give_up_cheapest();

  [[nodiscard]] const BlobRecord& record(Index place) const {
    return forest_[place].snapshot != nullptr ? *forest_[place].snapshot : *forest_[place].segment;
  }
  [[nodiscard]] Index shorter(Index place);
  [[nodiscard]] double value(Index place);
  void offer(Index place);
  void extend(Index place);
  void give_up(Index place);
  void needed_less(Index place);
  void leave_session(Index place);
  void remove(const BlobRecord& record) {
    keys_.push_back({record.kind, record.identity});
    freed_ += on_disk(record.file_bytes);
  }

  Forest forest_;
  std::vector<Point> points_;
  std::vector<Index> earlier_;  // see Forest::earlier_of_session
  std::vector<Index> dead_;     // segments that nothing needs, longest first
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers_;
  std::vector<BlobKey> keys_;
  std::uint64_t freed_ = 0;
  const std::uint64_t target_;
  const std::int64_t now_;
};

// From the longest to the shortest, so that every place knows its children's needs.
void Evictor::count_needs() {
  std::unordered_set<Fingerprint, IdentityHash> with_snapshots;
  for (Index i = 0; i < forest_.size(); ++i) {
    if (forest_[i].snapshot != nullptr) with_snapshots.insert(forest_[i].snapshot->model);
  }
  const auto& by_end = forest_.by_end();
  for (auto at = by_end.rbegin(); at != by_end.rend(); ++at) {
    const Place& place = forest_[*at];
    Point& point = points_[*at];
    if (!forest_.reachable(*at)) continue;
    point.checkpoint = place.snapshot != nullptr || !with_snapshots.contains(place.segment->model);
    point.needed += point.checkpoint ? 1 : 0;
    if (point.needed == 0 && young(*place.segment, now_)) forest_.keep(*at);
    point.needed += forest_.kept(*at) ? 1 : 0;
    if (point.needed == 0) {
      dead_.push_back(*at);
    } else if (is_place(place.parent)) {
      ++points_[place.parent].needed;
      if (forest_.kept(*at)) forest_.keep(place.parent);
    }
  }
}

void Evictor::remove_useless() {
  for (auto at = forest_.by_end().rbegin(); at != forest_.by_end().rend(); ++at) {
    const Place& place = forest_[*at];
    if (forest_.reachable(*at)) continue;
    if (freed_ >= target_) return;
    if (place.snapshot != nullptr && !place.snapshot_kept) remove(*place.snapshot);
    if (place.segment != nullptr && !forest_.kept(*at)) remove(*place.segment);
  }
  for (const Index dead : dead_) {
    if (freed_ >= target_) return;
    remove(*forest_[dead].segment);
  }
}

void Evictor::weigh_all() {
  earlier_ = forest_.earlier_of_session();
  for (const Index i : forest_.by_end()) {
    const Place& place = forest_[i];
    if (!forest_.reachable(i)) continue;
    Point& point = points_[i];
    point.shorter = place.parent;
    point.reach = static_cast<double>(std::max<Micros>(place.segment->cost, 0));
    if (is_place(place.parent)) point.reach += points_[place.parent].reach;
    if (is_place(earlier_[i])) ++points_[earlier_[i]].newer;
  }
  for (const Index i : forest_.by_end()) {
    const Place& place = forest_[i];
    Point& point = points_[i];
    if (!point.checkpoint) continue;
    const bool stays = place.snapshot != nullptr ? place.snapshot_kept : forest_.kept(i);
    if (stays) continue;
    point.bytes = place.snapshot != nullptr ? on_disk(place.snapshot->file_bytes) : 0;
    point.top = i;
    if (point.needed == 1) {
      extend(i);
    } else if (place.snapshot != nullptr) {
      offer(i);
    }
  }
}

// The next-shorter checkpoint that is left, kRoot if there is none. Paths are shortened as they are
// walked: what is given up never comes back.
Index Evictor::shorter(Index place) {
  Index found = points_[place].shorter;
  while (is_place(found) && !points_[found].checkpoint) found = points_[found].shorter;
  for (Index at = place; at != found && points_[at].shorter != found;) {
    at = std::exchange(points_[at].shorter, found);
  }
  return found;
}

double Evictor::value(Index place) {
  const BlobRecord& kept = record(place);
  const Point& point = points_[place];
  const Index before = shorter(place);
  const double cost = point.reach - (is_place(before) ? points_[before].reach : 0);
  const double age = static_cast<double>(now_ - std::min(kept.last_used, now_));
  const double length = 1 + static_cast<double>(kept.end) / kTokensThatCount;
  double log = std::log2(std::max(cost, 1.0)) - age / kHalfLife;
  log += std::log2(1.0 + std::min(kept.uses, kUsesThatCount));
  log += std::log2(std::min(length, kLengthMost));
  if (is_tip(kept) && point.newer > 0) log += std::log2(kSuperseded);
  return log - std::log2(std::max(static_cast<double>(point.bytes), 1.0));
}

void Evictor::offer(Index place) { offers_.push({value(place), place, ++points_[place].version}); }

// Nothing is after `place`: takes in the segments that only it needs.
void Evictor::extend(Index place) {
  Point& point = points_[place];
  if (is_place(point.top) && point.top != place) points_[point.top].waiting -= place + 1;
  while (is_place(point.top) && points_[point.top].needed == 1) {
    point.bytes += on_disk(forest_[point.top].segment->file_bytes);
    point.top = forest_[point.top].parent;
  }
  if (is_place(point.top)) points_[point.top].waiting += place + 1;
  offer(place);
}

// An offer's value may have risen since it was made, by what was given up before `place`; a value
// that fell was offered again.
void Evictor::give_up_cheapest() {
  while (freed_ < target_ && !offers_.empty()) {
    const Offer cheapest = offers_.top();
    offers_.pop();
    const Index place = cheapest.place;
    if (!points_[place].checkpoint || points_[place].version != cheapest.version) continue;
    if (value(place) > cheapest.value) {
      offer(place);
    } else {
      give_up(place);
    }
  }
}

void Evictor::give_up(Index place) {
  Point& point = points_[place];
  if (forest_[place].snapshot != nullptr) remove(*forest_[place].snapshot);
  point.checkpoint = false;
  leave_session(place);
  if (point.needed > 1) {
    needed_less(place);
    return;
  }
  for (Index i = place; i != point.top; i = forest_[i].parent) {
    remove(*forest_[i].segment);
    points_[i].needed = 0;
  }
  if (!is_place(point.top)) return;
  points_[point.top].waiting -= place + 1;
  needed_less(point.top);
}

// Only one thing needs `place` now: a checkpoint that can take its segment in, if it has nothing
// after it.
void Evictor::needed_less(Index place) {
  Point& point = points_[place];
  if (--point.needed != 1 || forest_.kept(place)) return;
  if (point.checkpoint) {
    extend(place);
  } else if (point.waiting != 0) {
    extend(static_cast<Index>(point.waiting - 1));
  }
}

// A tip is superseded as long as a later one of its session and kind is left anywhere after it.
void Evictor::leave_session(Index place) {
  Index at = place;
  while (points_[at].newer == 0 && !points_[at].checkpoint && is_place(earlier_[at])) {
    at = earlier_[at];
    --points_[at].newer;
  }
}

}  // namespace

std::vector<BlobKey> eviction_order_of(const std::vector<Place>& places, std::uint64_t bytes,
                                       std::int64_t now) {
  if (bytes == 0) return {};
  return Evictor(places, bytes, now).order();
}

}  // namespace samovar
