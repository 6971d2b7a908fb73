// Goal: all spellings of a JSON value have one canonical form, and different values never do.
// Method: cases by hand, and random values spelled and changed at random.
#include "chat/canonical_json.h"

#include "chat/replay_testing.h"

namespace samovar {
namespace {

TEST(CanonicalJson, SpellingsOfOneValueAreEqual) {
  const std::vector<std::vector<std::string>> equal = {
      {"1", "1.0", "1e0", "10e-1", "0.1e1", " 1 ", "1.000E+00"},
      {"0", "-0", "0.0", "0e5", "-0.000"},
      {"100", "1e2", "1E+2", "100.0"},
      {"0.1", "0.10", "1e-1", "0.1000000000000000055511151231257827"},
      {R"("é")", R"("\u00e9")", R"("\u00E9")"},
      {R"("😀/")", R"("\ud83d\ude00\/")"},
      {R"("\n\t\"\\")", R"("\u000a\u0009\u0022\u005c")"},
      {R"({"a":1,"b":[true,null]})", "{ \"b\" : [ true , null ] ,\n\"\\u0061\" : 1.0 }"},
      {"[]", "[ ]"},
      {"{}", " {\n} "},
  };
  for (const auto& spellings : equal) {
    const auto form = canonical_json(spellings.front());
    ASSERT_TRUE(form) << spellings.front();
    for (const std::string& spelling : spellings) EXPECT_EQ(canonical_json(spelling), form);
  }
}

TEST(CanonicalJson, DifferentValuesDiffer) {
  const std::vector<std::string> values = {
      "1",
      "-1",
      "10",
      "1.5",
      "\"1\"",
      "true",
      "false",
      "null",
      "\"true\"",
      "[1]",
      "[1,1]",
      "[[1],1]",
      "[]",
      "{}",
      "\"\"",
      "[\"\"]",
      "9007199254740992",
      "9007199254740993",
      "123456789012345678901234567890",
      "123456789012345678901234567891",
      "3.0000000000000000001",
      "3",
      "1e400",
      "1e401",
      "1e-400",
      "0",
      R"(["a","b"])",
      R"(["b","a"])",
      R"(["a\"1:b"])",
      R"({"a":"b"})",
      R"({"a":{"b":1}})",
      R"({"a":1,"b":2})",
      R"({"a":2,"b":1})",
      R"({"ab":1})",
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(canonical_json(values[i])) << values[i];
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_NE(canonical_json(values[i]), canonical_json(values[j])) << values[i] << values[j];
    }
  }
}

TEST(CanonicalJson, WhatReadersDisagreeAboutHasNoForm) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[1,]",
                           "{\"a\":1,}",
                           "{a:1}",
                           "01",
                           "1.",
                           ".5",
                           "+1",
                           "1e",
                           "1e9999999999",
                           "nul",
                           "tru e",
                           "1 2",
                           "{}x",
                           "\"\\x\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\\u12\"",
                           "\"\\u+123\"",
                           "\"open",
                           "\"line\nfeed\"",
                           "{\"a\":1,\"a\":1}",
                           "{\"a\":1,\"\\u0061\":2}",
                           "{\"a\"}",
                           "[1 2]",
                           "-",
                           "NaN"}) {
    EXPECT_FALSE(canonical_json(text)) << text;
  }
  EXPECT_FALSE(canonical_json(std::string(100'000, '[')));
  EXPECT_FALSE(canonical_json(std::string("1\0", 2)));
  EXPECT_NE(canonical_arguments("{\"a\":1,\"a\":1}"), canonical_arguments("{\"a\":1, \"a\":1}"));
  EXPECT_EQ(canonical_arguments(""), canonical_arguments("{ }"));
  EXPECT_NE(canonical_arguments(" "), canonical_arguments(""));
}

TEST(CanonicalJson, RandomValuesAreEqualToTheirSpellingsAndToNothingElse) {
  testing::Random random(5);
  for (int round = 0; round < 3000; ++round) {
    const testing::Json value = testing::random_json(random, 4);
    const std::string one = testing::spelled(value, random);
    const std::string other = testing::spelled(value, random);
    ASSERT_TRUE(canonical_json(one)) << one;
    EXPECT_EQ(canonical_json(one), canonical_json(other)) << one << "\n" << other;
    testing::Json changed = value;
    testing::change(changed, random);
    EXPECT_NE(canonical_json(one), canonical_json(testing::spelled(changed, random))) << one;
  }
}

}  // namespace
}  // namespace samovar
