// Goal: what is offered is whole (S3), what is covered is not written twice, and the books balance.
// Method: small forests by hand, then random ones against an oracle that tries every chain.
#include "store/store_index.h"

#include <algorithm>
#include <random>

#include "tests/support/store_records.h"

namespace samovar {
namespace {

using namespace testing;

const Fingerprint kModel = model_named('m');

class StoreIndexTest : public ::testing::Test {
 protected:
  // A line of segments, with a snapshot at the end of each that is listed.
  std::vector<BlobRecord> put(TokenSpan along, const std::vector<Position>& ends,
                              const std::vector<Position>& snapshots = {}) {
    std::vector<BlobRecord> line = line_of(kModel, along, ends);
    for (const BlobRecord& segment : line) {
      index.add(segment, false);
      if (std::find(snapshots.begin(), snapshots.end(), segment.end) != snapshots.end()) {
        index.add(snapshot_of(segment), false);
      }
    }
    return line;
  }
  [[nodiscard]] Position longest(TokenSpan tokens, Position limit = 1 << 20,
                                 bool needs_snapshot = true) const {
    const auto chain = index.longest(kModel, tokens, limit, needs_snapshot);
    return chain ? chain->position : 0;
  }

  Tokens prompt = random_tokens(1, 1000);
  StoreIndex index;
};

TEST_F(StoreIndexTest, EmptyIndexOffersNothing) {
  EXPECT_EQ(longest(prompt), 0);
  EXPECT_EQ(longest({}), 0);
  EXPECT_EQ(index.cover(kModel, prompt).until, 0);
  EXPECT_TRUE(index.snapshots(kModel, prompt).empty());
  EXPECT_FALSE(index.node_at(kModel, prompt, 0));
  EXPECT_TRUE(index.unreachable().empty());
  EXPECT_TRUE(index.eviction_order(1000, kNow).empty());
}

TEST_F(StoreIndexTest, LongestEndsAtTheLastSnapshotWithEverySegmentBeforeIt) {
  const auto line = put(prompt, {100, 250, 400, 600}, {100, 400});
  const auto chain = index.longest(kModel, prompt, 1000, true);
  ASSERT_TRUE(chain);
  EXPECT_EQ(chain->position, 400);
  ASSERT_EQ(chain->segments.size(), 3U);
  EXPECT_EQ(chain->segments[0], line[0]);
  EXPECT_EQ(chain->segments[2], line[2]);
  EXPECT_EQ(chain->snapshot->identity, line[2].identity);
  EXPECT_EQ(chain->bytes, 400 * kBytesPerToken + kSnapshotBytes);
  ASSERT_EQ(chain->keys().size(), 4U);
  EXPECT_EQ(chain->keys()[3], (BlobKey{BlobKind::snapshot, line[2].identity}));
}

TEST_F(StoreIndexTest, ModelsWithoutStateResumeAtAnySegmentsEnd) {
  put(prompt, {100, 250, 400});
  EXPECT_EQ(longest(prompt), 0);
  EXPECT_EQ(longest(prompt, 1000, false), 400);
  EXPECT_EQ(longest(prompt, 399, false), 250);
}

TEST_F(StoreIndexTest, LimitAndPromptEndBoundWhatIsOffered) {
  put(prompt, {100, 250, 400}, {100, 250, 400});
  EXPECT_EQ(longest(prompt, 400), 400);
  EXPECT_EQ(longest(prompt, 399), 250);
  EXPECT_EQ(longest(prompt, 99), 0);
  EXPECT_EQ(longest(TokenSpan(prompt).first(399)), 250);
}

TEST_F(StoreIndexTest, AnotherTokenOrModelIsAMiss) {
  put(prompt, {100, 250}, {100, 250});
  Tokens other = prompt;
  other[249] ^= 1;
  EXPECT_EQ(longest(other), 100);
  other[0] ^= 1;
  EXPECT_EQ(longest(other), 0);
  EXPECT_FALSE(index.longest(model_named('n'), prompt, 1000, true));
}

TEST_F(StoreIndexTest, ChainWithAMissingSegmentIsAMiss) {
  const auto line = put(prompt, {100, 250, 400}, {100, 400});
  index.erase(key_of(line[1]));
  EXPECT_EQ(longest(prompt), 100);
  EXPECT_EQ(index.cover(kModel, prompt).until, 100);
  EXPECT_FALSE(index.node_at(kModel, prompt, 400));
  index.add(line[1], false);
  EXPECT_EQ(longest(prompt), 400);
}

TEST_F(StoreIndexTest, PendingPartsCoverButAreNeverOffered) {
  const auto line = line_of(kModel, prompt, {100, 250});
  index.add(line[0], true);
  index.add(line[1], false);
  index.add(snapshot_of(line[1]), true);
  EXPECT_EQ(longest(prompt), 0);
  EXPECT_EQ(longest(prompt, 1000, false), 0);
  EXPECT_EQ(index.cover(kModel, prompt).until, 250);
  EXPECT_EQ(index.cover(kModel, prompt).node, line[1].identity);
  EXPECT_EQ(index.snapshots(kModel, prompt), (std::vector<Position>{250}));
  EXPECT_EQ(index.node_at(kModel, prompt, 100), line[0].identity);
  EXPECT_FALSE(index.published(key_of(line[0])));

  index.publish(key_of(line[0]));
  EXPECT_EQ(longest(prompt), 0);
  EXPECT_EQ(longest(prompt, 1000, false), 250);
  index.publish({BlobKind::snapshot, line[1].identity});
  EXPECT_EQ(longest(prompt), 250);
}

TEST_F(StoreIndexTest, WhatWasEvictedIsKnownByHowFarItWouldHaveReached) {
  const auto line = put(prompt, {100, 250, 400, 600}, {100, 400, 600});
  const auto evicted = [&](TokenSpan tokens, Position limit = 1 << 20) {
    return index.evicted(kModel, tokens, limit, true);
  };
  EXPECT_EQ(evicted(prompt), 0) << "nothing was";
  index.erase({BlobKind::snapshot, line[3].identity});
  EXPECT_EQ(evicted(prompt), 0) << "what is erased otherwise was not evicted";
  EXPECT_TRUE(index.evict(key_of(line[3])));
  EXPECT_FALSE(index.evict(key_of(line[3])));
  EXPECT_EQ(evicted(prompt), 0) << "a segment without its snapshot brings nothing back";
  EXPECT_EQ(index.evicted(kModel, prompt, 1000, false), 600) << "but for models without state";
  EXPECT_TRUE(index.evict({BlobKind::snapshot, line[2].identity}));
  EXPECT_EQ(evicted(prompt), 400);
  EXPECT_EQ(evicted(prompt, 399), 0);
  EXPECT_EQ(longest(prompt), 100);
  index.evict(key_of(line[2]));
  index.evict(key_of(line[1]));
  EXPECT_EQ(evicted(prompt), 400) << "along what is left and what is gone";
  index.evict({BlobKind::snapshot, line[0].identity});
  index.evict(key_of(line[0]));
  EXPECT_EQ(evicted(prompt), 400) << "nothing is left of the chain";
  Tokens other = prompt;
  other[399] ^= 1;
  EXPECT_EQ(evicted(other), 100);
  EXPECT_EQ(index.evicted(model_named('n'), prompt, 1000, true), 0);

  put(prompt, {100, 250, 400}, {400});
  EXPECT_EQ(evicted(prompt), 0) << "it is there again";
  index.evict({BlobKind::snapshot, line[2].identity});
  EXPECT_EQ(evicted(prompt), 400);
  index.remember_evicted(evicted_blob(line[0]));
  index.clear();
  EXPECT_EQ(evicted(prompt), 0);
}

TEST(EvictedChains, TheOldestAreForgottenFirst) {
  EvictedChains chains(4);
  const Tokens first = random_tokens(1, 1000);
  const Tokens second = random_tokens(2, 1000);
  const auto reach = [&](const Tokens& tokens) {
    return chains.reach(kModel, tokens, {{}}, false);
  };
  for (const BlobRecord& segment : line_of(kModel, first, {100, 200, 300})) {
    chains.add(evicted_blob(segment));
    chains.add(evicted_blob(segment));  // it was there again in between
  }
  EXPECT_EQ(reach(first), 0) << "the chain begins with what is forgotten";
  EXPECT_EQ(chains.size(), 2U);
  auto line = line_of(kModel, second, {100, 200, 300});
  std::reverse(line.begin(), line.end());  // as they are evicted: the last first
  for (const BlobRecord& segment : line) chains.add(evicted_blob(segment));
  EXPECT_EQ(reach(second), 300);
  chains.erase(key_of(line[0]));
  EXPECT_EQ(reach(second), 200);
  for (const BlobRecord& segment : line) chains.erase(key_of(segment));
  EXPECT_EQ(reach(second), 0);
  chains.clear();
  EXPECT_TRUE(chains.empty());
}

// As a catalogue with a flipped byte gives them.
TEST(EvictedChains, ASnapshotThatContradictsItsSegmentHarmsNothing) {
  const Tokens tokens = random_tokens(1, 1000);
  const EvictedBlob segment = evicted_blob(line_of(kModel, tokens, {100})[0]);
  EvictedBlob snapshot = segment;
  snapshot.key.kind = BlobKind::snapshot;
  snapshot.parent.bytes[0] ^= 1;
  snapshot.length += 1;
  EvictedChains chains;
  chains.add(segment);
  chains.add(snapshot);
  EXPECT_EQ(chains.reach(kModel, tokens, {{}}, true), 100);
  chains.erase(segment.key);
  EXPECT_EQ(chains.reach(kModel, tokens, {{}}, true), 0) << "nothing leads to it";
  chains.erase(snapshot.key);
  EXPECT_TRUE(chains.empty());
}

TEST_F(StoreIndexTest, FailedWriteLeavesNoTrace) {
  const auto line = line_of(kModel, prompt, {100});
  index.add(line[0], true);
  EXPECT_TRUE(index.erase(key_of(line[0])));
  index.publish(key_of(line[0]));  // the news of its end may come late
  EXPECT_EQ(index.bytes(), 0U);
  EXPECT_EQ(index.entries(), 0U);
  EXPECT_EQ(index.cover(kModel, prompt).until, 0);
  EXPECT_TRUE(index.add(line[0], true));
}

TEST_F(StoreIndexTest, OverlappingSegmentationsAreAllExplored) {
  put(prompt, {100, 200, 300}, {200});
  put(prompt, {150, 320}, {320});
  put(prompt, {200, 310}, {310});
  EXPECT_EQ(longest(prompt), 320);
  EXPECT_EQ(longest(prompt, 319), 310);
  EXPECT_EQ(longest(prompt, 309), 200);
  EXPECT_EQ(index.snapshots(kModel, prompt), (std::vector<Position>{200, 310, 320}));
}

TEST_F(StoreIndexTest, OfTwoAtOnePositionTheOneUsedLastIsOffered) {
  const auto a = put(prompt, {100, 300}, {300});
  const auto b = put(prompt, {200, 300}, {300});
  index.used({{BlobKind::snapshot, a[1].identity}}, kNow);
  EXPECT_EQ(index.longest(kModel, prompt, 1000, true)->snapshot->identity, a[1].identity);
  index.used({{BlobKind::snapshot, b[1].identity}}, kNow + 1);
  EXPECT_EQ(index.longest(kModel, prompt, 1000, true)->snapshot->identity, b[1].identity);
  EXPECT_EQ(index.snapshots(kModel, prompt), (std::vector<Position>{300}));
}

TEST_F(StoreIndexTest, NodeAtPrefersTheOneWithASnapshot) {
  put(prompt, {100, 300});
  const auto b = put(prompt, {200, 300}, {300});
  EXPECT_EQ(index.node_at(kModel, prompt, 300), b[1].identity);
  EXPECT_FALSE(index.node_at(kModel, prompt, 299));
}

TEST_F(StoreIndexTest, EveryByteCountsInBlocksUntilItIsGone) {
  const auto line = line_of(kModel, prompt, {100});
  BlobRecord segment = line[0];
  segment.file_bytes = 4097;
  BlobRecord snapshot = snapshot_of(segment);
  snapshot.file_bytes = 1;
  index.add(segment, true);
  EXPECT_EQ(index.bytes(), 8192U);
  index.add(snapshot, false);
  EXPECT_EQ(index.bytes(), 12288U);
  EXPECT_EQ(index.entries(), 2U);
  EXPECT_FALSE(index.add(segment, false)) << "registered twice";
  EXPECT_EQ(index.bytes(), 12288U);
  EXPECT_FALSE(index.published(key_of(segment))) << "stays as it was";
  EXPECT_TRUE(index.erase(key_of(segment)));
  EXPECT_FALSE(index.erase(key_of(segment)));
  EXPECT_EQ(index.bytes(), 4096U);
  index.clear();
  EXPECT_EQ(index.bytes(), 0U);
  EXPECT_EQ(index.entries(), 0U);
}

TEST_F(StoreIndexTest, ImpossibleRecordsAreRefused) {
  const BlobRecord good = line_of(kModel, prompt, {100})[0];
  const auto refused = [&](auto change) {
    BlobRecord bad = good;
    change(bad);
    return !index.add(bad, false);
  };
  EXPECT_TRUE(refused([](BlobRecord& r) { r.end = r.begin; }));
  EXPECT_TRUE(refused([](BlobRecord& r) { r.begin = -5; }));
  EXPECT_TRUE(refused([](BlobRecord& r) { r.begin = 5; }));
  EXPECT_TRUE(refused([](BlobRecord& r) { r.parent = model_named('p'); }));
  EXPECT_TRUE(refused([](BlobRecord& r) { r.identity = {}; }));
  EXPECT_TRUE(refused([](BlobRecord& r) {
    r.parent = r.identity;
    r.begin = 5;
  }));
  EXPECT_TRUE(index.add(good, false));
  BlobRecord other_end = snapshot_of(good);
  other_end.end = 101;
  EXPECT_FALSE(index.add(other_end, false));
  EXPECT_EQ(index.entries(), 1U);
}

TEST_F(StoreIndexTest, RecordsThatGoInCirclesHarmNothing) {
  BlobRecord a = line_of(kModel, prompt, {100})[0];
  BlobRecord b = a;
  a.identity = b.parent = model_named('a');
  b.identity = a.parent = model_named('b');
  a.begin = 100, a.end = 200;
  b.begin = 200, b.end = 300;
  ASSERT_TRUE(index.add(a, false));
  ASSERT_TRUE(index.add(b, false));
  index.pin(a.identity);
  EXPECT_EQ(longest(prompt), 0);
  EXPECT_EQ(index.unreachable().size(), 1U);
  index.unpin(a.identity);
  EXPECT_EQ(index.unreachable().size(), 2U);
  EXPECT_EQ(index.eviction_order(1 << 30, kNow).size(), 2U);
  EXPECT_TRUE(index.erase(key_of(a)));
  EXPECT_TRUE(index.erase(key_of(b)));
}

TEST_F(StoreIndexTest, UseIsCountedAndTimeNeverGoesBack) {
  const auto line = put(prompt, {100}, {100});
  const BlobKey key = key_of(line[0]);
  index.used({key, {BlobKind::segment, model_named('x')}}, kNow);
  index.used({key}, kNow - 500);
  EXPECT_EQ(index.find(key)->last_used, kNow);
  EXPECT_EQ(index.find(key)->uses, 2U);
  EXPECT_EQ(index.find({BlobKind::snapshot, key.identity})->uses, 0U);
}

TEST_F(StoreIndexTest, HoldsAreCountedAndOutliveTheirEntry) {
  const auto line = put(prompt, {100});
  const BlobKey key = key_of(line[0]);
  const auto evictable = [&] { return !index.eviction_order(1, kNow).empty(); };
  EXPECT_TRUE(evictable());
  index.hold({key});
  index.hold({key});
  index.release({key});
  EXPECT_FALSE(evictable());
  index.erase(key);  // quarantined under a running restore, then written again
  index.add(line[0], false);
  EXPECT_FALSE(evictable());
  index.release({key});
  EXPECT_TRUE(evictable());
}

TEST_F(StoreIndexTest, PinningTwiceIsPinningOnce) {
  index.pin(kModel);
  index.pin(kModel);
  EXPECT_EQ(index.pins().size(), 1U);
  index.unpin(kModel);
  EXPECT_TRUE(index.pins().empty());
  index.unpin(kModel);
}

TEST_F(StoreIndexTest, ChildrenAreCountedPendingOrNot) {
  const auto line = line_of(kModel, prompt, {100, 200});
  index.add(line[1], true);  // in any order
  EXPECT_TRUE(index.has_children(line[0].identity));
  index.add(line[0], false);
  EXPECT_FALSE(index.has_children(line[1].identity));
  index.erase(key_of(line[1]));
  EXPECT_FALSE(index.has_children(line[0].identity));
}

TEST_F(StoreIndexTest, UnreachableAreThoseBehindAGapAndSnapshotsWithoutTheirSegment) {
  const auto line = put(prompt, {100, 200, 300, 400}, {200, 400});
  EXPECT_TRUE(index.unreachable().empty());
  index.erase(key_of(line[1]));
  const std::vector<BlobKey> expected = {{BlobKind::snapshot, line[3].identity},
                                         {BlobKind::segment, line[3].identity},
                                         {BlobKind::segment, line[2].identity},
                                         {BlobKind::snapshot, line[1].identity}};
  EXPECT_EQ(index.unreachable(), expected);
  index.hold({expected[0]});
  EXPECT_EQ(index.unreachable(), (std::vector<BlobKey>{expected[3]}));
  index.release({expected[0]});
  index.add(line[1], true);
  EXPECT_TRUE(index.unreachable().empty()) << "the gap is being closed";
}

// A random forest over few tokens, so that prefixes meet, with parts missing.
struct RandomForest {
  std::vector<Tokens> prompts;
  std::vector<BlobRecord> published;
  StoreIndex index;
};

void grow(RandomForest& forest, std::mt19937& random) {
  for (int i = 0; i < 12; ++i) {
    Tokens prompt = random_tokens(random(), 40, 2);
    if (i > 0 && random() % 2 == 0) {
      const Tokens& other = forest.prompts[random() % forest.prompts.size()];
      std::copy_n(other.begin(), random() % 40, prompt.begin());
    }
    forest.prompts.push_back(prompt);
    std::vector<Position> ends;
    for (Position at = 0; (at += 1 + static_cast<Position>(random() % 12)) <= 40;) {
      ends.push_back(at);
    }
    for (const BlobRecord& segment : line_of(kModel, prompt, ends)) {
      const BlobRecord snapshot = snapshot_of(segment);
      for (const BlobRecord& record : {segment, snapshot}) {
        if (random() % 5 == 0) continue;
        const bool pending = random() % 8 == 0;
        if (forest.index.add(record, pending) && !pending) forest.published.push_back(record);
      }
    }
  }
}

// The longest position, by looking at all published records for each step.
Position oracle(const RandomForest& forest, TokenSpan prompt, const Identity& node, Position at,
                Position limit, bool needs_snapshot) {
  Position best = 0;
  for (const BlobRecord& record : forest.published) {
    if (record.kind == BlobKind::snapshot) {
      if (needs_snapshot && record.identity == node) best = std::max(best, at);
      continue;
    }
    if (record.parent != node || record.begin != at || record.end > limit) continue;
    const auto range =
        prompt.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(record.end - at));
    if (identity_of(kModel, node, range) != record.identity) continue;
    if (!needs_snapshot) best = std::max(best, record.end);
    best =
        std::max(best, oracle(forest, prompt, record.identity, record.end, limit, needs_snapshot));
  }
  return best;
}

TEST(StoreIndexProperty, LongestIsThatOfAnOracleThatTriesEveryChain) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    RandomForest forest;
    grow(forest, random);
    for (const Tokens& prompt : forest.prompts) {
      const auto limit = static_cast<Position>(random() % 41);
      for (const bool needs_snapshot : {true, false}) {
        const auto chain = forest.index.longest(kModel, prompt, limit, needs_snapshot);
        ASSERT_EQ(chain ? chain->position : 0, oracle(forest, prompt, {}, 0, limit, needs_snapshot))
            << "seed " << seed;
        if (!chain) continue;
        Position at = 0;
        for (const BlobRecord& segment : chain->segments) {
          ASSERT_EQ(segment.begin, at);
          at = segment.end;
        }
        ASSERT_EQ(at, chain->position);
        for (const BlobKey& key : chain->keys()) ASSERT_TRUE(forest.index.published(key));
      }
    }
    std::vector<BlobRecord> records = forest.index.records();
    std::shuffle(records.begin(), records.end(), random);
    for (const BlobRecord& record : records) ASSERT_TRUE(forest.index.erase(key_of(record)));
    ASSERT_EQ(forest.index.bytes(), 0U);
    ASSERT_EQ(forest.index.entries(), 0U);
  }
}

TEST(StoreIndexBytes, PendingOnesAreKnownApart) {
  const Tokens prompt = random_tokens(1, 100);
  const auto line = line_of(model_named('m'), prompt, {40, 80});
  const std::uint64_t first = on_disk(line[0].file_bytes);
  const std::uint64_t second = on_disk(line[1].file_bytes);
  StoreIndex index;
  index.add(line[0], true);
  index.add(line[1], true);
  EXPECT_EQ(index.pending_bytes(), first + second);
  index.publish(key_of(line[0]));
  index.publish(key_of(line[0]));
  EXPECT_EQ(index.pending_bytes(), second);
  index.erase(key_of(line[0]));
  index.erase(key_of(line[1]));
  EXPECT_EQ(index.pending_bytes(), 0U);
  EXPECT_EQ(index.bytes(), 0U);
}

}  // namespace
}  // namespace samovar
