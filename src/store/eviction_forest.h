// Forest: what eviction derives from the index's picture before it decides anything: which chains
// are whole, what must stay, which snapshots belong to one growing session. A value for the time of
// one decision; the places outlive it.
#pragma once

#include <vector>

#include "store/eviction.h"

namespace samovar {

class Forest {
 public:
  explicit Forest(const std::vector<Place>& places);

  [[nodiscard]] const Place& operator[](Place::Index place) const { return places_[place]; }
  [[nodiscard]] std::size_t size() const { return places_.size(); }

  // All places, each after the one its segment begins at.
  [[nodiscard]] const std::vector<Place::Index>& by_end() const { return by_end_; }
  // Its segments reach back to token 0 (S3), pending ones included.
  [[nodiscard]] bool reachable(Place::Index place) const { return reachable_[place]; }
  // Its segment stays: something that stays needs it.
  [[nodiscard]] bool kept(Place::Index place) const { return kept_[place]; }
  void keep(Place::Index place) { kept_[place] = true; }

  // For each place with a snapshot: the last place before it on its chain with a snapshot of the
  // same session and of the same kind; kRoot if there is none. Of the same kind, because the end of
  // a reply does not outgrow the end of its history: the next turn shows which of them goes on.
  [[nodiscard]] std::vector<Place::Index> earlier_of_session() const;

 private:
  const std::vector<Place>& places_;
  std::vector<Place::Index> by_end_;
  std::vector<bool> reachable_;
  std::vector<bool> kept_;
};

[[nodiscard]] constexpr bool is_place(Place::Index index) { return index < Place::kLost; }

}  // namespace samovar
