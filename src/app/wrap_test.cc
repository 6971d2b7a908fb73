// Goal: no line is too long, and none is lost.
#include "app/wrap.h"

#include <gtest/gtest.h>

namespace samovar::app {
namespace {

TEST(Wrapped, BreaksBetweenWordsAndIndentsWhatFollows) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "word ";
  const std::string lines = wrapped(text, 8);
  EXPECT_FALSE(lines.ends_with(' '));
  std::size_t begin = 0;
  std::string words;
  for (std::size_t line = 0; begin != std::string::npos; ++line) {
    const std::size_t end = lines.find('\n', begin);
    std::string one = lines.substr(begin, end == std::string::npos ? end : end - begin);
    EXPECT_LE(one.size() + (line == 0 ? 8 : 0), kTextWidth);
    if (line > 0) {
      EXPECT_TRUE(one.starts_with("        word")) << one;
      one.erase(0, 8);
    }
    words += one + " ";
    begin = end == std::string::npos ? end : end + 1;
  }
  EXPECT_EQ(words, text);
}

TEST(Wrapped, ShortTextIsOneLineAndALongWordHasOneOfItsOwn) {
  EXPECT_EQ(wrapped("", 8), "");
  EXPECT_EQ(wrapped("  two   words ", 8), "two words");
  const std::string word(200, 'x');
  EXPECT_EQ(wrapped(word, 8), word);
  EXPECT_EQ(wrapped("a " + word + " b", 2), "a\n  " + word + "\n  b");
}

}  // namespace
}  // namespace samovar::app
