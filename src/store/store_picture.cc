#include "store/store_picture.h"

#include <algorithm>
#include <unordered_set>

namespace samovar {
namespace {

// The first to go, of those in `shown`. The order is made for as many bytes as it takes.
std::vector<Identity> evict_next(const std::vector<CopiedPlace>& copies,
                                 const std::unordered_set<Identity, IdentityHash>& shown,
                                 std::int64_t now) {
  std::vector<Place> places;
  std::uint64_t all = 0;
  std::size_t files = 0;
  const auto count = [&](const std::optional<BlobRecord>& record) -> const BlobRecord* {
    if (!record) return nullptr;
    all += on_disk(record->file_bytes);
    ++files;
    return &*record;
  };
  for (const CopiedPlace& copy : copies) {
    places.push_back(copy.place);
    places.back().segment = count(copy.segment);
    places.back().snapshot = count(copy.snapshot);
  }
  std::vector<Identity> next;
  if (files == 0) return next;
  for (std::uint64_t bytes = std::max<std::uint64_t>(all / files * kEvictNextMax, 1);; bytes *= 4) {
    next.clear();
    std::unordered_set<Identity, IdentityHash> seen;
    for (const BlobKey& key : eviction_order_of(places, std::min(bytes, all), now)) {
      if (next.size() == kEvictNextMax) break;
      if (shown.contains(key.identity) && seen.insert(key.identity).second) {
        next.push_back(key.identity);
      }
    }
    if (next.size() == kEvictNextMax || bytes >= all) return next;
  }
}

StoredPlace stored_place(const CopiedPlace& copy) {
  const BlobRecord& segment = *copy.segment;
  StoredPlace place;
  place.identity = segment.identity;
  place.parent = segment.parent;
  place.begin = segment.begin;
  place.end = segment.end;
  place.bytes = on_disk(segment.file_bytes);
  place.anchor = segment.anchor;
  place.session = segment.session;
  place.last_used = segment.last_used;
  place.hits = segment.uses;
  place.pinned = copy.place.segment_kept && !copy.segment_pending;
  place.writing = copy.segment_pending;
  if (!copy.snapshot) return place;
  place.snapshot_bytes = on_disk(copy.snapshot->file_bytes);
  place.anchor = copy.snapshot->anchor;
  place.session = copy.snapshot->session;
  place.last_used = std::max(place.last_used, copy.snapshot->last_used);
  place.hits = std::max(place.hits, copy.snapshot->uses);
  place.pinned = place.pinned || (copy.place.snapshot_kept && !copy.snapshot_pending);
  place.writing = place.writing || copy.snapshot_pending;
  return place;
}

}  // namespace

StorePicture make_picture(const std::vector<CopiedPlace>& copies, const Fingerprint& model,
                          bool needs_snapshot, std::int64_t now) {
  StorePicture picture{.model = model, .needs_snapshot = needs_snapshot};
  std::vector<const CopiedPlace*> own;
  for (const CopiedPlace& copy : copies) {
    if (copy.segment && copy.segment->model == model) own.push_back(&copy);
  }
  std::ranges::sort(own, [](const CopiedPlace* a, const CopiedPlace* b) {
    return std::pair(a->segment->begin, a->segment->identity) <
           std::pair(b->segment->begin, b->segment->identity);
  });
  std::unordered_set<Identity, IdentityHash> shown;
  for (const CopiedPlace* copy : own) {
    const Place::Index parent = copy->place.parent;
    const bool joined =
        parent == Place::kRoot ||
        (parent != Place::kLost && shown.contains(copies[parent].segment->identity));
    if (!joined) continue;
    shown.insert(copy->segment->identity);
    picture.places.push_back(stored_place(*copy));
  }
  picture.evict_next = evict_next(copies, shown, now);
  return picture;
}

}  // namespace samovar
