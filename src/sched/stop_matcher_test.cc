// Goal: whatever pieces a reply arrives in, exactly the text before the first stop string is
// delivered.
#include "sched/stop_matcher.h"

#include <random>

namespace samovar {
namespace {

TEST(StopMatcher, CutsBeforeTheStopStringAcrossPieces) {
  StopMatcher matcher({"</end>"});
  EXPECT_EQ(matcher.push("hello </e"), "hello ");
  EXPECT_FALSE(matcher.matched());
  EXPECT_EQ(matcher.push("nd> more"), "");
  EXPECT_TRUE(matcher.matched());
  EXPECT_EQ(matcher.push("after"), "");
  EXPECT_EQ(matcher.flush(), "");
}

TEST(StopMatcher, DeliversWhatLookedLikeAStopButWasNot) {
  StopMatcher matcher({"STOP"});
  EXPECT_EQ(matcher.push("STO"), "");
  EXPECT_EQ(matcher.push("NE"), "STONE");
  EXPECT_EQ(matcher.push("ST"), "");
  EXPECT_EQ(matcher.flush(), "ST");
}

TEST(StopMatcher, EmptyStopsNeverMatch) {
  StopMatcher matcher({""});
  EXPECT_EQ(matcher.push("abc"), "abc");
  EXPECT_FALSE(matcher.matched());
}

TEST(StopMatcher, EqualsASearchInTheWholeTextForAnyPieces) {
  std::mt19937 random(11);
  const std::vector<std::string> stops{"aab", "ba", "abab"};
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += static_cast<char>('a' + random() % 3);
    std::string expected = text;
    for (std::size_t size = 1; size <= text.size() && expected == text; ++size) {
      const auto seen = std::string_view(text).substr(0, size);
      for (const auto& stop : stops) {
        if (seen.ends_with(stop)) expected = std::min(expected, text.substr(0, size - stop.size()));
      }
    }
    StopMatcher matcher(stops);
    std::string delivered;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 4;
      delivered += matcher.push(std::string_view(text).substr(at, size));
      at += size;
    }
    delivered += matcher.flush();
    ASSERT_EQ(delivered, expected) << text;
    ASSERT_EQ(matcher.matched(), expected != text) << text;
  }
}

}  // namespace
}  // namespace samovar
