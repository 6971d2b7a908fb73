// Goal: what came and when is read right from every server's stream, and a reply that broke off is
// never taken for a whole one.
#include "bench/answer_reader.h"

#include <gtest/gtest.h>

namespace samovar::bench {
namespace {

std::string event(const std::string& json) { return "data: " + json + "\n\n"; }
std::string piece(const std::string& delta) {
  return event(R"({"id":"c1","choices":[{"index":0,"delta":)" + delta +
               R"(,"finish_reason":null}]})");
}
const std::string kEnd = event(R"({"id":"c1","choices":[{"delta":{},"finish_reason":"length"}]})");

AnswerReader reader() {
  AnswerReader made(1000);
  made.head(200, "");
  return made;
}

TEST(AnswerReader, PiecesAreTextReasoningAndCalls) {
  AnswerReader it = reader();
  it.feed(piece(R"({"role":"assistant","content":null})"), 2000);
  it.feed(piece(R"({"reasoning_content":"hm"})"), 11000);
  it.feed(piece(R"({"content":"a"})") + piece(R"({"content":"b"})"), 21000);
  it.feed(piece(R"({"tool_calls":[{"index":0,"function":{"arguments":"{"}}]})"), 31000);
  it.feed(kEnd, 32000);
  it.feed(event(R"({"choices":[],"usage":{"prompt_tokens":40,"completion_tokens":4,)"
                R"("prompt_tokens_details":{"cached_tokens":30}},)"
                R"("timings":{"source":"store","render_ms":1.5,"restore_bytes":7}})") +
              event("[DONE]"),
          33000);
  const Answer answer = it.finish(34000, std::nullopt);
  ASSERT_TRUE(answer.ok()) << answer.error->describe();
  EXPECT_EQ(answer.pieces, (std::vector<Micros>{11000, 21000, 21000, 31000}));
  EXPECT_EQ(answer.first_ms(), 10);
  EXPECT_EQ(answer.total_ms(), 33);
  EXPECT_EQ(answer.content, "ab");
  EXPECT_EQ(answer.reasoning, "hm");
  EXPECT_EQ(answer.finish, "length");
  EXPECT_EQ(answer.figures.reply_tokens, 4);
  EXPECT_EQ(answer.figures.prompt_tokens, 40);
  EXPECT_EQ(answer.figures.reused_tokens, 30);
  EXPECT_EQ(answer.timings.at("render_ms"), 1.5);
  EXPECT_EQ(answer.timings.at("restore_bytes"), 7);
  EXPECT_EQ(answer.source, "store");
  EXPECT_DOUBLE_EQ(*answer.decode_per_second(), 3 / 0.020);
}

TEST(AnswerReader, EventsCutAnywhereAreTheSame) {
  const std::string whole = piece(R"({"content":"a"})") + piece(R"({"content":"b"})") + kEnd;
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    AnswerReader it = reader();
    it.feed(whole.substr(0, cut), 2000);
    it.feed(whole.substr(cut), 3000);
    const Answer answer = it.finish(4000, std::nullopt);
    EXPECT_TRUE(answer.ok());
    EXPECT_EQ(answer.content, "ab");
    EXPECT_EQ(answer.pieces.size(), 2U);
  }
}

std::string usage(int tokens) {
  return event(R"({"choices":[],"usage":{"prompt_tokens":40,"completion_tokens":)" +
               std::to_string(tokens) + "}}");
}

// Without the server's count, or with pieces of several tokens, there is no rate.
TEST(AnswerReader, ARateNeedsCountedTokensInPiecesOfTheirOwn) {
  const auto rate = [](const std::string& end) {
    AnswerReader it = reader();
    for (int i = 0; i < 10; ++i) it.feed(piece(R"({"content":"a"})"), 10'000 * (i + 1));
    it.feed(kEnd + end, 100'000);
    return it.finish(100'000, std::nullopt).decode_per_second();
  };
  EXPECT_FALSE(rate(""));
  EXPECT_FALSE(rate(usage(20)));
  EXPECT_NEAR(rate(usage(11)).value_or(0), 10 / 0.090, 1e-9);
}

TEST(AnswerReader, AnEmptyListOfCallsIsNoPiece) {
  AnswerReader it = reader();
  it.feed(piece(R"({"role":"assistant","tool_calls":[]})"), 2000);
  it.feed(piece(R"({"content":"a"})") + kEnd, 3000);
  EXPECT_EQ(it.finish(4000, std::nullopt).pieces, std::vector<Micros>{3000});
}

TEST(AnswerReader, PromptLengthDoesNotRaiseTheDecodeRate) {
  for (const Micros prefill : {10'000, 10'000'000}) {
    AnswerReader it = reader();
    for (int i = 0; i < 11; ++i) it.feed(piece(R"({"content":"a"})"), prefill + i * 10'000);
    it.feed(kEnd + usage(11), prefill + 100'000);
    EXPECT_DOUBLE_EQ(*it.finish(prefill + 100'000, std::nullopt).decode_per_second(), 100);
  }
}

TEST(AnswerReader, BrokenRepliesAreErrors) {
  AnswerReader cut = reader();
  cut.feed(piece(R"({"content":"a"})"), 2000);
  const Answer half = cut.finish(3000, std::nullopt);
  ASSERT_FALSE(half.ok());
  EXPECT_NE(half.error->message.find("without a finish_reason"), std::string::npos);
  EXPECT_EQ(half.content, "a");

  AnswerReader page = reader();
  page.feed("<html>hello</html>\n", 2000);
  EXPECT_NE(page.finish(3000, std::nullopt).error->message.find("no stream"), std::string::npos);

  AnswerReader failing = reader();
  failing.feed(event(R"({"error":{"message":"out of memory"}})"), 2000);
  EXPECT_EQ(failing.finish(3000, std::nullopt).error->message, "out of memory");

  AnswerReader refused(0);
  refused.head(400, "");
  refused.feed(R"({"error":{"message":"no"}})", 2000);
  EXPECT_EQ(refused.refused(), R"({"error":{"message":"no"}})");
  const Answer answer = refused.finish(3000, Error{ErrorKind::invalid_argument, "no"});
  EXPECT_EQ(answer.status, 400);
  EXPECT_FALSE(answer.first_ms());
}

}  // namespace
}  // namespace samovar::bench
