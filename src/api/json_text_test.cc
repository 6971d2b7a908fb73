// Goal: what is escaped by hand is byte for byte what nlohmann writes. Method: fixed awkward
// strings, then random bytes with a bias to the ranges where UTF-8 breaks, against nlohmann's dump.
#include "api/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace samovar {
namespace {

std::string by_nlohmann(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TEST(JsonText, EscapesLikeNlohmann) {
  const std::vector<std::string> cases = {
      "",
      "plain",
      "quote \" backslash \\ slash /",
      std::string("\0\x01\x1f\x7f\b\f\n\r\t", 9),
      "käse 你好 😀",
      "\xC3",              // cut in two
      "\xE2\x82",          // cut in three
      "\xF0\x9F\x98",      // cut in four
      "\xC0\xAF",          // overlong
      "\xE0\x80\x80",      // overlong
      "\xED\xA0\x80",      // surrogate
      "\xF4\x90\x80\x80",  // beyond U+10FFFF
      "\xFF\xFE",
      "\x80",
      "a\xE2\x82z",
      "\xE2\xE2\x82\xAC",
  };
  for (const std::string& text : cases) EXPECT_EQ(json_string(text), by_nlohmann(text));
}

TEST(JsonText, EscapesRandomBytesLikeNlohmann) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> any(0, 255);
  const std::string awkward =
      "\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc2\xdf\xe0\xed\xef\xf0\xf4\xf5\"\\a";
  std::uniform_int_distribution<std::size_t> pick(0, awkward.size() - 1);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const int length = any(random) % 12;
    for (int i = 0; i < length; ++i) {
      text += any(random) % 3 == 0 ? static_cast<char>(any(random)) : awkward[pick(random)];
    }
    ASSERT_EQ(json_string(text), by_nlohmann(text)) << "round " << round;
  }
}

TEST(JsonText, BrokenUtf8InAValueIsReplacedNotThrown) {
  EXPECT_EQ(json_text({{"a", "\xFF"}}), "{\"a\":\"\xEF\xBF\xBD\"}");
}

}  // namespace
}  // namespace samovar
