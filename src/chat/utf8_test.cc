// Goal: a stream of bytes becomes valid UTF-8 whatever the pieces it arrives in.
// Method: a table of inputs fed whole and byte by byte, and random bytes checked for validity.
#include "chat/utf8.h"

#include <gtest/gtest.h>

#include <random>

namespace samovar {
namespace {

std::string repair(const std::string& bytes, std::size_t step) {
  Utf8Repair repairer;
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    text += repairer.push(std::string_view(bytes).substr(at, step));
  }
  return text + repairer.finish();
}

TEST(Utf8Repair, ReplacesOnlyWhatIsInvalidAndIgnoresThePieces) {
  struct Case {
    const char* bytes;
    const char* text;
  };
  const Case cases[] = {
      {"", ""},
      {"plain", "plain"},
      {"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"},
      {"a\xFF"
       "b",
       "a\xEF\xBF\xBD"
       "b"},
      {"\xE2\x82", "\xEF\xBF\xBD"},                              // cut in a character
      {"\xE2\x82z", "\xEF\xBF\xBDz"},                            // broken off by another
      {"\xE2\xC3\xA9", "\xEF\xBF\xBD\xC3\xA9"},                  // broken off by a character
      {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},                  // overlong
      {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},  // surrogate
      {"\xF5\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},                  // above U+10FFFF
  };
  for (const Case& c : cases) {
    for (std::size_t step : {1, 2, 3, 100}) EXPECT_EQ(repair(c.bytes, step), c.text);
  }
}

TEST(Utf8Repair, HoldsBackAnUnfinishedCharacter) {
  Utf8Repair repairer;
  EXPECT_EQ(repairer.push("a\xF0\x9F"), "a");
  EXPECT_EQ(repairer.push("\x98"), "");
  EXPECT_EQ(repairer.push("\x80!"), "\xF0\x9F\x98\x80!");
  EXPECT_EQ(repairer.finish(), "");
}

TEST(Utf8Repair, RepairedBytesNeedNoRepair) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string bytes;
    for (int i = 0; i < 40; ++i) bytes += static_cast<char>(random() % 2 ? random() : 'a');
    const std::string text = repair(bytes, 1 + random() % 5);
    EXPECT_EQ(text, repair(bytes, 100));
    EXPECT_EQ(text, repair(text, 3));
  }
}

}  // namespace
}  // namespace samovar
