// Goal: the order of eviction is what S6 says, and every beginning of it leaves whole chains (S3)
// and all that is held, pinned or pending. Method: random forests against an oracle that weighs
// every checkpoint anew, from the definitions alone, before each step.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "store/store_index.h"
#include "tests/support/store_records.h"

namespace samovar {
namespace {

using namespace testing;

constexpr std::uint64_t kAll = std::uint64_t{1} << 60;

struct Part {
  BlobRecord record;
  bool stays = false;  // itself held, pinned or pending
};
using Parts = std::map<BlobKey, Part>;

struct World {
  StoreIndex index;
  Parts parts;
};

const BlobRecord* segment_at(const Parts& parts, const Identity& identity) {
  const auto found = parts.find({BlobKind::segment, identity});
  return found == parts.end() ? nullptr : &found->second.record;
}

// The segments from `identity` back to token 0; empty if one is missing.
std::vector<const BlobRecord*> chain(const Parts& parts, Identity identity) {
  std::vector<const BlobRecord*> segments;
  while (!identity.is_root()) {
    const BlobRecord* segment = segment_at(parts, identity);
    if (segment == nullptr) return {};
    segments.push_back(segment);
    identity = segment->parent;
  }
  return segments;
}

bool on_chain(const Parts& parts, const Identity& identity, const Identity& end) {
  const auto segments = chain(parts, end);
  return std::any_of(segments.begin(), segments.end(),
                     [&](const BlobRecord* segment) { return segment->identity == identity; });
}

class Oracle {
 public:
  explicit Oracle(const World& world) : parts_(world.parts) {
    for (const auto& [key, part] : parts_) {
      if (key.kind == BlobKind::snapshot) hybrid_.insert(part.record.model);
    }
    protect();
  }

  [[nodiscard]] bool stays(const BlobKey& key) const { return kept_.contains(key); }

  // What goes next: a checkpoint and the segments that nothing needs without it.
  std::vector<BlobKey> next() {
    double least = INFINITY;
    std::vector<BlobKey> chosen;
    for (const auto& [key, part] : parts_) {
      const BlobRecord& record = part.record;
      const bool hybrid = hybrid_.contains(record.model);
      if (hybrid != (key.kind == BlobKind::snapshot) || stays(key)) continue;
      if (chain(parts_, key.identity).empty()) continue;
      if (!hybrid && has_child(key.identity)) continue;
      const std::vector<BlobKey> unit = unit_of(key);
      const double value = value_of(record, unit);
      if (value < least) {
        least = value;
        chosen = unit;
      }
    }
    for (const BlobKey& key : chosen) parts_.erase(key);
    return chosen;
  }
  void remove(const BlobKey& key) { parts_.erase(key); }
  [[nodiscard]] bool has_child(const Identity& identity) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const auto& entry) {
      return entry.first.kind == BlobKind::segment && entry.second.record.parent == identity;
    });
  }
  // Nothing can or will resume from it.
  [[nodiscard]] bool useless(const BlobKey& key) const {
    if (chain(parts_, key.identity).empty()) return true;
    return key.kind == BlobKind::segment && hybrid_.contains(parts_.at(key).record.model) &&
           !needed(parts_, key.identity);
  }

 private:
  void protect() {
    for (const auto& [key, part] : parts_) {
      const bool waits = key.kind == BlobKind::segment && useless(key) &&
                         !chain(parts_, key.identity).empty() && kNow - part.record.created < 600;
      if (!part.stays && !waits) continue;
      kept_.insert(key);
      for (Identity at = key.identity; const BlobRecord* segment = segment_at(parts_, at);) {
        kept_.insert({BlobKind::segment, at});
        at = segment->parent;
      }
    }
  }
  // By a snapshot at or after it, by a thing that stays.
  [[nodiscard]] bool needed(const Parts& parts, const Identity& identity) const {
    return std::any_of(parts.begin(), parts.end(), [&](const auto& entry) {
      const bool needs = entry.first.kind == BlobKind::snapshot || kept_.contains(entry.first);
      return needs && on_chain(parts, identity, entry.first.identity);
    });
  }
  std::vector<BlobKey> unit_of(const BlobKey& key) {
    std::vector<BlobKey> unit = {key};
    if (key.kind == BlobKind::segment) return unit;
    Parts rest = parts_;
    rest.erase(key);
    for (const BlobRecord* segment : chain(parts_, key.identity)) {
      if (needed(rest, segment->identity)) break;
      unit.push_back(key_of(*segment));
    }
    return unit;
  }
  double value_of(const BlobRecord& record, const std::vector<BlobKey>& unit) {
    double cost = 0;
    std::uint64_t bytes = 0;
    for (const BlobKey& key : unit) bytes += on_disk(parts_.at(key).record.file_bytes);
    for (const BlobRecord* segment : chain(parts_, record.identity)) {
      const bool resumes = record.kind == BlobKind::segment ||
                           parts_.contains({BlobKind::snapshot, segment->identity});
      if (segment->identity != record.identity && resumes) break;
      cost += static_cast<double>(segment->cost);
    }
    double value = std::log2(cost) - static_cast<double>(kNow - record.last_used) / 3600 -
                   std::log2(static_cast<double>(bytes));
    value += std::log2(1 + std::min<std::uint32_t>(record.uses, 3));
    value += std::log2(std::min(1 + static_cast<double>(record.end) / 4096, 8.0));
    const bool tip =
        record.anchor == AnchorKind::history_end || record.anchor == AnchorKind::reply_end;
    return tip && outgrown(record) ? value + std::log2(0.01) : value;
  }
  bool outgrown(const BlobRecord& record) {
    return std::any_of(parts_.begin(), parts_.end(), [&](const auto& entry) {
      const BlobRecord& other = entry.second.record;
      return other.kind == BlobKind::snapshot && other.session.known() &&
             other.session == record.session && other.identity != record.identity &&
             other.anchor == record.anchor && on_chain(parts_, record.identity, other.identity);
    });
  }

  Parts parts_;
  std::set<Fingerprint> hybrid_;
  std::set<BlobKey> kept_;
};

BlobRecord random_part(BlobRecord record, std::mt19937& random) {
  record.file_bytes = 1 + random() % 10'000'000;
  record.cost = 1 + random() % 10'000'000;
  record.last_used = kNow - static_cast<std::int64_t>(random() % 20'000);
  record.uses = random() % 5;
  if (random() % 8 == 0) record.created = kNow - static_cast<std::int64_t>(random() % 600);
  if (record.kind == BlobKind::snapshot) {
    record.session = session_of(static_cast<int>(random() % 4));
    record.anchor = static_cast<AnchorKind>(1 + random() % 6);
  }
  return record;
}

// Lines that share beginnings, in two models of which one may have no snapshots.
World random_world(std::mt19937& random) {
  World world;
  const auto add = [&](const BlobRecord& record, bool pending) {
    if (world.index.add(record, pending)) world.parts[key_of(record)] = {record, pending};
  };
  std::vector<BlobRecord> ends;
  const std::size_t size = 3 + random() % 25;
  const bool one_is_plain = random() % 2 == 0;
  const bool all_stay_whole = random() % 2 == 0;
  while (ends.size() < size) {
    Identity parent;
    Fingerprint model = model_named(random() % 2 == 0 ? 'a' : 'b');
    Position begin = 0;
    if (!ends.empty() && random() % 4 != 0) {
      // Often the newest, so that lines grow long.
      const BlobRecord& end = ends[random() % 2 == 0 ? ends.size() - 1 : random() % ends.size()];
      parent = end.identity;
      model = end.model;
      begin = end.end;
    }
    const auto length = static_cast<Position>(1 + random() % 3000);
    const Tokens tokens = random_tokens(random(), static_cast<std::size_t>(begin + length));
    ends.push_back(segment_of(model, parent, tokens, begin, begin + length));
    add(random_part(ends.back(), random), random() % 25 == 0);
    if (one_is_plain && model == model_named('a')) continue;
    if (random() % 3 != 0) {
      add(random_part(snapshot_of(ends.back()), random), random() % 25 == 0);
    }
  }
  for (const BlobRecord& end : ends) {
    const BlobKey key{random() % 2 == 0 ? BlobKind::segment : BlobKind::snapshot, end.identity};
    if (!all_stay_whole && random() % 15 == 0 && world.index.erase(key)) world.parts.erase(key);
  }
  for (auto& [key, part] : world.parts) {
    if (random() % 25 != 0) continue;
    world.index.hold({key});
    part.stays = true;
  }
  if (random() % 3 == 0) {
    const Identity pin = ends[random() % ends.size()].identity;
    world.index.pin(pin);
    for (Identity at = pin; !at.is_root();) {
      const BlobRecord* segment = segment_at(world.parts, at);
      if (segment == nullptr && at != pin) break;
      for (const BlobKind kind : {BlobKind::segment, BlobKind::snapshot}) {
        if (world.parts.contains({kind, at})) world.parts[{kind, at}].stays = true;
      }
      at = segment == nullptr ? Identity{} : segment->parent;
    }
  }
  return world;
}

TEST(EvictionProperty, EveryBeginningOfTheOrderIsWhatAnOracleWouldDo) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const World world = random_world(random);
    Oracle oracle(world);
    const std::vector<BlobKey> order = world.index.eviction_order(kAll, kNow);
    std::size_t done = 0;
    while (done < order.size() && oracle.useless(order[done])) {
      ASSERT_FALSE(oracle.stays(order[done]));
      ASSERT_TRUE(order[done].kind == BlobKind::snapshot ||
                  !oracle.has_child(order[done].identity));
      oracle.remove(order[done++]);
    }
    for (auto unit = oracle.next(); !unit.empty(); unit = oracle.next()) {
      for (const BlobKey& key : unit) {
        ASSERT_LT(done, order.size());
        ASSERT_EQ(order[done], key) << "step " << done;
        ASSERT_FALSE(oracle.stays(key));
        ASSERT_TRUE(key.kind == BlobKind::snapshot || !oracle.has_child(key.identity));
        ++done;
      }
    }
    ASSERT_EQ(done, order.size());
  }
}

TEST(EvictionProperty, AnyNumberOfBytesIsFreedByABeginningOfTheOrder) {
  for (std::uint32_t seed = 1000; seed < 1100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const World world = random_world(random);
    const std::vector<BlobKey> all = world.index.eviction_order(kAll, kNow);
    const std::uint64_t bytes = random() % (world.index.bytes() + 1);
    const std::vector<BlobKey> some = world.index.eviction_order(bytes, kNow);
    ASSERT_LE(some.size(), all.size());
    ASSERT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
    std::uint64_t freed = 0;
    for (const BlobKey& key : some) freed += on_disk(world.index.find(key)->file_bytes);
    ASSERT_TRUE(freed >= bytes || some.size() == all.size());
  }
}

TEST(EvictionProperty, WhatIsLeftOfAnOrderCarriedOutInPiecesIsNeverBroken) {
  for (std::uint32_t seed = 2000; seed < 2100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    World world = random_world(random);
    while (true) {
      const auto keys = world.index.eviction_order(1 + random() % 30'000'000, kNow);
      if (keys.empty()) break;
      const std::size_t broken = world.index.unreachable().size();
      for (const BlobKey& key : keys) {
        ASSERT_TRUE(world.index.erase(key));
        ASSERT_LE(world.index.unreachable().size(), broken);
      }
    }
    for (const BlobRecord& left : world.index.records()) {
      const auto part = world.parts.find(key_of(left));
      ASSERT_NE(part, world.parts.end());
    }
  }
}

}  // namespace
}  // namespace samovar
