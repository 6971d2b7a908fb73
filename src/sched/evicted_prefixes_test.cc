// Goal: what left memory is told from what never was there, within bounds.
#include "sched/evicted_prefixes.h"

#include "tests/support/store_records.h"

namespace samovar {
namespace {

using testing::random_tokens;

constexpr auto kGrid = static_cast<Position>(EvictedPrefixes::kGrid);

TEST(EvictedPrefixes, NothingWasEvictedAtFirst) {
  const EvictedPrefixes evicted;
  EXPECT_EQ(evicted.reach(random_tokens(1, 1000)), 0);
  EXPECT_EQ(evicted.reach({}), 0);
}

TEST(EvictedPrefixes, ReachesAsFarAsBothAreTheSame) {
  EvictedPrefixes evicted;
  const Tokens left = random_tokens(1, 1000);
  evicted.add(left);
  EXPECT_EQ(evicted.reach(left), 1000 / kGrid * kGrid);
  EXPECT_EQ(evicted.reach(TokenSpan(left).first(kGrid)), kGrid);
  EXPECT_EQ(evicted.reach(TokenSpan(left).first(kGrid - 1)), 0);
  Tokens longer = left;
  longer.resize(5000, 7);
  EXPECT_EQ(evicted.reach(longer), 1000 / kGrid * kGrid);
  Tokens other = left;
  other[500] ^= 1;
  EXPECT_EQ(evicted.reach(other), 500 / kGrid * kGrid);
  other[0] ^= 1;
  EXPECT_EQ(evicted.reach(other), 0) << "a prefix, not any part of it";
  EXPECT_EQ(evicted.reach(random_tokens(2, 1000)), 0);
}

TEST(EvictedPrefixes, TheOldestAreForgottenFirst) {
  EvictedPrefixes evicted(20);
  const Tokens first = random_tokens(1, 16 * EvictedPrefixes::kGrid);
  const Tokens second = random_tokens(2, 16 * EvictedPrefixes::kGrid);
  evicted.add(first);
  evicted.add(second);
  EXPECT_EQ(evicted.size(), 20U);
  EXPECT_EQ(evicted.reach(second), 16 * kGrid);
  EXPECT_EQ(evicted.reach(TokenSpan(first).first(12 * EvictedPrefixes::kGrid)), 0);
  EXPECT_EQ(evicted.reach(first), 16 * kGrid) << "its end is known still";
  evicted.add(random_tokens(3, 100 * EvictedPrefixes::kGrid));
  EXPECT_EQ(evicted.size(), 20U);
  EXPECT_EQ(evicted.reach(second), 0);
}

TEST(EvictedPrefixes, WhatLeavesAgainIsKnownOnce) {
  EvictedPrefixes evicted;
  const Tokens left = random_tokens(1, 1000);
  evicted.add(left);
  const std::size_t size = evicted.size();
  evicted.add(left);
  EXPECT_EQ(evicted.size(), size);
}

}  // namespace
}  // namespace samovar
