#include "store/eviction_forest.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace samovar {
namespace {

using Index = Place::Index;

Position end_of(const Place& place) {
  if (place.segment != nullptr) return place.segment->end;
  return place.snapshot != nullptr ? place.snapshot->end : 0;
}

// The children of every place: children[first[i]] up to children[first[i + 1]]; of the root: last.
struct Children {
  std::vector<Index> first;
  std::vector<Index> children;
};

Children children_of(const Forest& forest) {
  const std::size_t root = forest.size();
  const auto slot = [&](Index i) { return is_place(forest[i].parent) ? forest[i].parent : root; };
  Children result{std::vector<Index>(root + 2), {}};
  for (Index i = 0; i < root; ++i) {
    if (forest.reachable(i)) ++result.first[slot(i) + 1];
  }
  std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
  result.children.resize(result.first.back());
  std::vector<Index> next = result.first;
  for (Index i = 0; i < root; ++i) {
    if (forest.reachable(i)) result.children[next[slot(i)]++] = i;
  }
  return result;
}

}  // namespace

Forest::Forest(const std::vector<Place>& places)
    : places_(places), by_end_(places.size()), reachable_(places.size()), kept_(places.size()) {
  std::iota(by_end_.begin(), by_end_.end(), Index{0});
  std::sort(by_end_.begin(), by_end_.end(),
            [&](Index a, Index b) { return end_of(places[a]) < end_of(places[b]); });
  for (const Index i : by_end_) {
    const Place& place = places[i];
    reachable_[i] =
        place.segment != nullptr &&
        (place.parent == Place::kRoot || (is_place(place.parent) && reachable_[place.parent]));
  }
  for (auto i = by_end_.rbegin(); i != by_end_.rend(); ++i) {
    const Place& place = places[*i];
    if (place.segment_kept || place.snapshot_kept) kept_[*i] = true;
    if (kept_[*i] && is_place(place.parent)) kept_[place.parent] = true;
  }
}

// Depth first, remembering for each session the last snapshot on the way down.
std::vector<Index> Forest::earlier_of_session() const {
  std::vector<Index> earlier(size(), Place::kRoot);
  const auto [first, children] = children_of(*this);
  std::map<std::pair<SessionId, AnchorKind>, Index> last;
  struct Visit {
    Index place;
    bool leaving;
  };
  std::vector<Visit> visits;
  const auto descend = [&, &first = first, &children = children](std::size_t from) {
    for (Index i = first[from]; i < first[from + 1]; ++i) visits.push_back({children[i], false});
  };
  descend(size());
  while (!visits.empty()) {
    const auto [place, leaving] = visits.back();
    visits.pop_back();
    const BlobRecord* snapshot = places_[place].snapshot;
    const bool counts = snapshot != nullptr && snapshot->session.known();
    if (leaving) {
      if (earlier[place] == Place::kRoot) {
        last.erase({snapshot->session, snapshot->anchor});
      } else {
        last[{snapshot->session, snapshot->anchor}] = earlier[place];
      }
      continue;
    }
    if (counts) {
      visits.push_back({place, true});
      const auto [at, fresh] = last.try_emplace({snapshot->session, snapshot->anchor}, place);
      if (!fresh) earlier[place] = std::exchange(at->second, place);
    }
    descend(place);
  }
  return earlier;
}

std::vector<BlobKey> unreachable_in(const std::vector<Place>& places) {
  const Forest forest(places);
  std::vector<BlobKey> keys;
  for (auto i = forest.by_end().rbegin(); i != forest.by_end().rend(); ++i) {
    const Place& place = places[*i];
    if (forest.reachable(*i)) continue;
    if (place.snapshot != nullptr && !place.snapshot_kept) {
      keys.push_back({BlobKind::snapshot, place.snapshot->identity});
    }
    if (place.segment != nullptr && !forest.kept(*i)) {
      keys.push_back({BlobKind::segment, place.segment->identity});
    }
  }
  return keys;
}

}  // namespace samovar
