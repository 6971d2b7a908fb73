// Goal: median and spread are what a textbook says, and small samples show all of their range.
#include "bench/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace samovar::bench {
namespace {

TEST(Statistics, QuantilesAreInterpolated) {
  const auto summary = summarise({4, 1, 3, 2, 5});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->count, 5U);
  EXPECT_DOUBLE_EQ(summary->median, 3);
  EXPECT_DOUBLE_EQ(summary->p25, 2);
  EXPECT_DOUBLE_EQ(summary->p75, 4);
  EXPECT_DOUBLE_EQ(summary->p90, 4.6);
  EXPECT_DOUBLE_EQ(summary->p99, 4.96);
  EXPECT_DOUBLE_EQ(summary->min, 1);
  EXPECT_DOUBLE_EQ(summary->max, 5);
  EXPECT_DOUBLE_EQ(summarise({1, 2})->median, 1.5);
}

TEST(Statistics, SpreadOfFewIsTheirRange) {
  EXPECT_FALSE(summarise({}));
  const auto one = summarise({7});
  EXPECT_DOUBLE_EQ(one->low(), 7);
  EXPECT_DOUBLE_EQ(one->high(), 7);
  const auto four = summarise({10, 1, 2, 3});
  EXPECT_DOUBLE_EQ(four->low(), 1);
  EXPECT_DOUBLE_EQ(four->high(), 10);
  const auto five = summarise({10, 1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(five->low(), 2);
  EXPECT_DOUBLE_EQ(five->high(), 4);
}

// Whatever the sample: ordered, within its range, and the same for every order of it.
TEST(Statistics, HoldsForAnySample) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> values(3, 2);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> sample(1 + random() % 40);
    for (double& value : sample) value = values(random);
    const auto summary = summarise(sample);
    EXPECT_LE(summary->min, summary->p25);
    EXPECT_LE(summary->p25, summary->median);
    EXPECT_LE(summary->median, summary->p75);
    EXPECT_LE(summary->p75, summary->p90);
    EXPECT_LE(summary->p90, summary->p99);
    EXPECT_LE(summary->p99, summary->max);
    std::ranges::shuffle(sample, random);
    EXPECT_DOUBLE_EQ(summarise(sample)->median, summary->median);
  }
}

}  // namespace
}  // namespace samovar::bench
