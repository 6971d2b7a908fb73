// Goal: tries grow apart, are bounded, and heed what the server asks for.
#include "hub/backoff.h"

#include <gtest/gtest.h>

#include <vector>

namespace samovar::hub {
namespace {

TEST(Backoff, GrowsIsBoundedAndHeedsTheServer) {
  Backoff backoff(9);
  std::vector<Micros> waits;
  while (const auto wait = backoff.next("")) waits.push_back(*wait / kSecond);
  EXPECT_EQ(waits, (std::vector<Micros>{1, 2, 4, 8, 16, 30, 30, 30}));
  backoff.reset();
  EXPECT_EQ(backoff.next("7"), 7 * kSecond);
  EXPECT_EQ(backoff.next("100000"), 300 * kSecond);
  EXPECT_EQ(backoff.next("-5"), 4 * kSecond);
  EXPECT_EQ(backoff.next("Wed, 21 Oct 2015 07:28:00 GMT"), 8 * kSecond);
}

}  // namespace
}  // namespace samovar::hub
