// Goal: what leaves first is what is cheapest to be without (S6), and whole chains stay (S3).
// Method: the cases that went wrong elsewhere, one by one. Random forests: eviction_property_test.
#include "store/eviction.h"

#include <algorithm>

#include "store/store_index.h"
#include "tests/support/store_records.h"

namespace samovar {
namespace {

using namespace testing;

constexpr std::uint64_t kAll = std::uint64_t{1} << 60;
const Fingerprint kModel = model_named('m');

class EvictionTest : public ::testing::Test {
 protected:
  struct Options {
    std::vector<Position> snapshots;
    AnchorKind anchor = AnchorKind::message;
    int session = 0;
    std::int64_t age = 60;  // seconds since the last use
  };

  std::vector<BlobRecord> put(const Tokens& prompt, const std::vector<Position>& ends,
                              const Options& options) {
    std::vector<BlobRecord> line = line_of(kModel, prompt, ends);
    for (BlobRecord& segment : line) {
      segment.last_used = kNow - options.age;
      index.add(segment, false);
      const auto& at = options.snapshots;
      if (std::find(at.begin(), at.end(), segment.end) == at.end()) continue;
      index.add(snapshot_of(segment, options.anchor, session_of(options.session)), false);
    }
    return line;
  }
  std::vector<BlobKey> order(std::uint64_t bytes = kAll) {
    return index.eviction_order(bytes, kNow);
  }
  void evict(std::uint64_t bytes) {
    for (const BlobKey& key : order(bytes)) index.erase(key);
  }
  [[nodiscard]] Position longest(const Tokens& prompt, bool needs_snapshot = true) const {
    const auto chain = index.longest(kModel, prompt, 1 << 20, needs_snapshot);
    return chain ? chain->position : 0;
  }
  static BlobKey snapshot_at(const BlobRecord& segment) {
    return {BlobKind::snapshot, segment.identity};
  }

  StoreIndex index;
};

TEST_F(EvictionTest, NothingIsEvictedForNothing) {
  put(random_tokens(1, 500), {500}, {.snapshots = {500}});
  EXPECT_TRUE(order(0).empty());
}

TEST_F(EvictionTest, FreesAtLeastWhatIsAskedAndNoWholeCheckpointMore) {
  for (int i = 0; i < 10; ++i) put(random_tokens(i, 500), {500}, {.snapshots = {500}});
  const std::uint64_t one = index.bytes() / 10;
  EXPECT_EQ(order(1).size(), 2U);
  EXPECT_EQ(order(one).size(), 2U);
  EXPECT_EQ(order(one + 1).size(), 4U);
  EXPECT_EQ(order().size(), 20U);
}

TEST_F(EvictionTest, SideRequestsNeverPushOutALongSession) {
  const Tokens session = random_tokens(100, 20'000);
  std::vector<Position> turns;
  for (Position at = 2000; at <= 20'000; at += 900) turns.push_back(at);
  turns.back() = 20'000;
  put(session, turns, {.snapshots = turns, .anchor = AnchorKind::history_end, .session = 1});
  const std::uint64_t long_bytes = index.bytes();
  for (int i = 0; i < 20; ++i) {
    put(random_tokens(i, 500), {500}, {.snapshots = {500}, .session = 2 + i, .age = 1});
  }
  evict(index.bytes() - long_bytes);
  EXPECT_EQ(longest(session), 20'000);
}

TEST_F(EvictionTest, SideRequestsNeverPushOutALongSessionOfATransformer) {
  const Tokens session = random_tokens(100, 20'000);
  std::vector<Position> turns;
  for (Position at = 2000; at <= 20'000; at += 900) turns.push_back(at);
  turns.back() = 20'000;
  put(session, turns, {.age = 1800});
  const std::uint64_t long_bytes = index.bytes();
  for (int i = 0; i < 20; ++i) put(random_tokens(i, 500), {500}, {.age = 1});
  evict(index.bytes() - long_bytes);
  EXPECT_EQ(longest(session, false), 20'000);
}

TEST_F(EvictionTest, SupersededTipsOfASessionGoFirst) {
  const Tokens session = random_tokens(1, 4000);
  const auto line =
      put(session, {1000, 2000, 3000, 4000},
          {.snapshots = {2000, 3000, 4000}, .anchor = AnchorKind::reply_end, .session = 1});
  put(random_tokens(2, 500), {500}, {.snapshots = {500}, .session = 2, .age = 7200});
  const auto keys = order();
  EXPECT_EQ(keys[0], snapshot_at(line[2]));  // 1,000 tokens to compute again, the other 2,000
  EXPECT_EQ(keys[1], snapshot_at(line[1]));
  EXPECT_EQ(keys.back(), key_of(line[0]));
}

TEST_F(EvictionTest, ATipIsNoLongerSupersededWhenItsSuccessorHasGone) {
  const Tokens session = random_tokens(1, 3000);
  const auto line =
      put(session, {1000}, {.snapshots = {1000}, .anchor = AnchorKind::reply_end, .session = 1});
  BlobRecord next = segment_of(kModel, line[0].identity, session, 1000, 1001);
  next.last_used = kNow - 86'400 * 30;
  index.add(next, false);
  index.add(snapshot_of(next, AnchorKind::reply_end, session_of(1)), false);
  const auto other = put(random_tokens(2, 900), {900}, {.snapshots = {900}, .age = 3600});
  const auto keys = order();
  EXPECT_EQ(keys[0], snapshot_at(next));
  EXPECT_EQ(keys[2], snapshot_at(other[0])) << "the tip weighs as the last of its session again";
}

TEST_F(EvictionTest, SharedSegmentsGoWithTheLastThatNeedsThem) {
  const Tokens a = random_tokens(1, 3000);
  Tokens b = a;
  b[2500] ^= 1;
  const auto first = put(a, {2000, 3000}, {.snapshots = {3000}, .age = 7200});
  const auto second = put(b, {2000, 3000}, {.snapshots = {3000}});
  const std::vector<BlobKey> expected = {snapshot_at(first[1]), key_of(first[1]),
                                         snapshot_at(second[1]), key_of(second[1]),
                                         key_of(first[0])};
  EXPECT_EQ(order(), expected);
}

TEST_F(EvictionTest, RecentlyUsedAndOftenUsedStayLonger) {
  const auto old = put(random_tokens(1, 1000), {1000}, {.snapshots = {1000}, .age = 7200});
  const auto used = put(random_tokens(2, 1000), {1000}, {.snapshots = {1000}, .age = 7200});
  const auto fresh = put(random_tokens(3, 1000), {1000}, {.snapshots = {1000}, .age = 60});
  for (int i = 0; i < 3; ++i) index.used({snapshot_at(used[0])}, kNow - 7200);
  const auto keys = order();
  EXPECT_EQ(keys[0], snapshot_at(old[0]));
  EXPECT_EQ(keys[2], snapshot_at(fresh[0])) << "two half-lives are one use less than three";
  EXPECT_EQ(keys[4], snapshot_at(used[0]));
}

TEST_F(EvictionTest, AgesFarApartAreStillTold) {
  std::vector<BlobRecord> last;
  for (int i = 0; i < 5; ++i) {
    const auto line =
        put(random_tokens(i, 1000), {1000}, {.snapshots = {1000}, .age = 86'400 * 365 * (5 - i)});
    last.push_back(line[0]);
  }
  const auto keys = order();
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(keys[2 * i], snapshot_at(last[i]));
}

TEST_F(EvictionTest, UseInTheFutureCountsAsNow) {
  const auto fair = put(random_tokens(1, 1000), {1000}, {.snapshots = {1000}, .age = 0});
  const auto wrong = put(random_tokens(2, 900), {900}, {.snapshots = {900}, .age = -1'000'000'000});
  EXPECT_EQ(order()[0], snapshot_at(wrong[0]));
}

TEST_F(EvictionTest, HeldPinnedAndPendingStayWithWhatTheyNeed) {
  const Tokens a = random_tokens(1, 3000);
  const Tokens b = random_tokens(2, 3000);
  const Tokens c = random_tokens(3, 3000);
  const auto held = put(a, {1000, 2000, 3000}, {.snapshots = {1000, 2000, 3000}});
  const auto pinned = put(b, {1000, 2000, 3000}, {.snapshots = {1000, 2000, 3000}});
  const auto line = put(c, {1000, 2000}, {.snapshots = {1000}});
  index.hold({snapshot_at(held[1])});
  index.pin(pinned[1].identity);
  index.add(segment_of(kModel, line[1].identity, c, 2000, 3000), true);
  std::vector<BlobKey> keys = order();
  std::vector<BlobKey> expected = {snapshot_at(held[0]), snapshot_at(held[2]),
                                   key_of(held[2]),      snapshot_at(pinned[2]),
                                   key_of(pinned[2]),    snapshot_at(line[0])};
  std::sort(keys.begin(), keys.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(keys, expected);
}

TEST_F(EvictionTest, WhatNothingCanMatchGoesBeforeAnythingElse) {
  const auto old = put(random_tokens(1, 1000), {1000}, {.snapshots = {1000}, .age = 1'000'000});
  const auto torn = put(random_tokens(2, 900), {300, 600, 900}, {.snapshots = {900}, .age = 0});
  index.erase(key_of(torn[1]));
  const auto dead = put(random_tokens(3, 900), {300, 600}, {.age = 0});
  const std::vector<BlobKey> expected = {snapshot_at(torn[2]), key_of(torn[2])};
  const auto keys = order();
  ASSERT_EQ(keys.size(), 7U);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), keys.begin()));
  EXPECT_EQ(keys[2], key_of(dead[1]));
  EXPECT_EQ(std::count(keys.begin(), keys.begin() + 5, key_of(torn[0])), 1);
  EXPECT_EQ(keys[5], snapshot_at(old[0]));
}

TEST_F(EvictionTest, SegmentsWaitTenMinutesForTheirSnapshot) {
  put(random_tokens(1, 1000), {1000}, {.snapshots = {1000}});
  const Tokens prompt = random_tokens(2, 900);
  auto line = line_of(kModel, prompt, {300, 600, 900});
  line[1].created = kNow - 599;
  for (const BlobRecord& segment : line) index.add(segment, false);
  const auto keys = order();
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0], key_of(line[2]));
  EXPECT_EQ(index.eviction_order(kAll, kNow + 1).size(), 5U);
}

TEST_F(EvictionTest, TransformersLoseTheirLinesFromTheEnd) {
  const auto line = put(random_tokens(1, 900), {300, 600, 900}, {});
  EXPECT_EQ(order(), (std::vector<BlobKey>{key_of(line[2]), key_of(line[1]), key_of(line[0])}));
}

TEST_F(EvictionTest, ModelsResumeEachInItsOwnWay) {
  const auto hybrid = put(random_tokens(1, 900), {300, 600}, {.snapshots = {300}});
  const Tokens prompt = random_tokens(2, 900);
  const auto plain = line_of(model_named('t'), prompt, {300, 600});
  for (const BlobRecord& segment : plain) index.add(segment, false);
  const auto keys = order();
  ASSERT_EQ(keys.size(), 5U);
  EXPECT_EQ(keys[0], key_of(hybrid[1])) << "dead: behind the last snapshot";
}

TEST_F(EvictionTest, SegmentsOfASnapshotThatIsGivenUpGoWithIt) {
  // The snapshot in the middle goes first; when the last one goes, all segments go.
  const Tokens prompt = random_tokens(1, 900);
  const auto line = put(prompt, {300, 600, 900}, {.snapshots = {300, 900}});
  const std::uint64_t all = index.bytes();
  std::uint64_t freed = 0;
  for (const BlobKey& key : order()) freed += on_disk(index.find(key)->file_bytes);
  EXPECT_EQ(freed, all);
  EXPECT_EQ(order()[0], snapshot_at(line[0]));
}

}  // namespace
}  // namespace samovar
