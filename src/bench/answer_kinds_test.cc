// Goal: what a replay needs of an answer beyond its text: calls put together from pieces, what
// the server explains of a miss, and that a reply ended on purpose is no failure. And names of a
// server's figures do not break a table.
#include <gtest/gtest.h>

#include "bench/answer_reader.h"
#include "bench/bench_doubles.h"
#include "bench/report.h"

namespace samovar::bench {
namespace {

std::string event(const std::string& json) { return "data: " + json + "\n\n"; }
std::string calls(const std::string& list) {
  return event(R"({"choices":[{"index":0,"delta":{"tool_calls":)" + list + "}}]}");
}

AnswerReader reader() {
  AnswerReader made(0);
  made.head(200, "");
  return made;
}

TEST(AnswerKinds, CallsArePutTogetherFromTheirPieces) {
  AnswerReader it = reader();
  it.feed(calls(R"([{"index":0,"id":"c1","function":{"name":"f","arguments":"{\"a\""}}])"), 1000);
  it.feed(calls(R"([{"index":1,"id":"c2","function":{"name":"g","arguments":"{}"}},)"
                R"({"index":0,"function":{"arguments":":1}"}}])"),
          2000);
  it.feed(calls(R"([{"index":7,"id":"c9"}, 3, {"index":0,"function":"no"}])"), 3000);
  it.feed(event(R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})"), 4000);
  const Answer answer = it.finish(5000, std::nullopt);
  ASSERT_TRUE(answer.ok()) << answer.error->describe();
  ASSERT_EQ(answer.calls.size(), 2U);
  EXPECT_EQ(answer.calls[0].id, "c1");
  EXPECT_EQ(answer.calls[0].name, "f");
  EXPECT_EQ(answer.calls[0].arguments, R"({"a":1})");
  EXPECT_EQ(answer.calls[1].id, "c2");
  EXPECT_EQ(answer.calls[1].arguments, "{}");
}

TEST(AnswerKinds, AMissIsToldWithWhatItCost) {
  AnswerReader it = reader();
  it.feed(event(R"({"choices":[],"timings":{"miss":{"class":"rewound","tokens_lost":12}}})"), 1000);
  const Answer told = it.finish(2000, std::nullopt);
  EXPECT_EQ(told.miss_class, "rewound");
  EXPECT_EQ(told.lost, 12);
  AnswerReader other = reader();
  other.feed(event(R"({"choices":[],"timings":{"miss":{"class":3,"tokens_lost":"x"}}})"), 1000);
  const Answer odd = other.finish(2000, std::nullopt);
  EXPECT_EQ(odd.miss_class, "");
  EXPECT_FALSE(odd.lost.has_value());
}

TEST(AnswerKinds, AReplyCutOnPurposeIsNoFailure) {
  const std::string piece = event(R"({"choices":[{"index":0,"delta":{"content":"a"}}]})");
  AnswerReader it = reader();
  it.feed(piece + piece, 1000);
  EXPECT_EQ(it.pieces(), 2U);
  it.cut();
  const Answer answer = it.finish(2000, std::nullopt);
  EXPECT_TRUE(answer.ok());
  EXPECT_TRUE(answer.cut);
  EXPECT_EQ(answer.content, "aa");
  AnswerReader torn = reader();
  torn.feed(piece, 1000);
  EXPECT_FALSE(torn.finish(2000, std::nullopt).ok());
}

TEST(Csv, NamesOfAServersFiguresAreQuoted) {
  Report report = test::known_report();
  report.measurements.resize(1);
  report.measurements[0].server = {{"a,\"b\"\n", 1.0}};
  const std::string text = to_csv(report);
  EXPECT_NE(text.find(",\"server_a,\"\"b\"\""), std::string::npos) << text;
  EXPECT_EQ(text.find(",server_a"), std::string::npos);
}

}  // namespace
}  // namespace samovar::bench
