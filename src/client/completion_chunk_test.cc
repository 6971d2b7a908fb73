// Goal: what the different servers send is understood, and what they do not send is not made up.
#include "client/completion_chunk.h"

#include <gtest/gtest.h>

#include "client/figures_text.h"
#include "client/reply_reader.h"

namespace samovar::client {
namespace {

CompletionChunk parsed(std::string_view text) {
  auto chunk = parse_chunk(text);
  if (!chunk) ADD_FAILURE() << chunk.error().describe();
  return chunk ? *chunk : CompletionChunk{};
}

TEST(CompletionChunk, ReadsDeltasOfContentAndReasoning) {
  EXPECT_EQ(parsed(R"({"choices":[{"delta":{"content":"a"}}]})").content, "a");
  EXPECT_EQ(parsed(R"({"choices":[{"delta":{"reasoning_content":"b"}}]})").reasoning, "b");
  EXPECT_EQ(parsed(R"({"choices":[{"delta":{"reasoning":"c","content":null}}]})").reasoning, "c");
  EXPECT_EQ(parsed(R"({"choices":[{"delta":{},"finish_reason":"length"}]})").finish, "length");
  EXPECT_EQ(parsed(R"({"id":"x","choices":[],"usage":null})").id, "x");
}

TEST(CompletionChunk, ToleratesWhatIsOfAnotherType) {
  EXPECT_EQ(parsed(R"({"choices":[{"delta":{"content":5}}],"usage":7,"timings":"no"})").content,
            "");
  EXPECT_EQ(parsed(R"({"choices":"none"})").content, "");
  EXPECT_FALSE(parsed(R"({"prompt_progress":{"total":-4,"processed":true}})").progress);
  EXPECT_FALSE(parse_chunk("[1]"));
  EXPECT_FALSE(parse_chunk("<html>"));
}

TEST(CompletionChunk, BytesThatAreNoUtf8CostOnlyThemselves) {
  EXPECT_EQ(parsed("{\"choices\":[{\"delta\":{\"content\":\"a\xC3\"}}]}").content, "a\xEF\xBF\xBD");
}

TEST(CompletionChunk, FindsTheMessageOfAnError) {
  EXPECT_EQ(parsed(R"({"error":{"message":"full","type":"server_error"}})").error, "full");
  EXPECT_EQ(parsed(R"({"error":"plain"})").error, "plain");
  EXPECT_EQ(parsed(R"({"object":"error","message":"vllm"})").error, "vllm");
  EXPECT_NE(parsed(R"({"error":{"code":5}})").error, "");
  EXPECT_EQ(error_text(R"({"detail":"Not Found"})"), "Not Found");
  EXPECT_EQ(error_text("<h1>Bad\nGateway</h1>"), "<h1>Bad Gateway</h1>");
  EXPECT_EQ(error_text(""), "");
}

TEST(Figures, OfSamovarKeepPrefillAndDecodeApart) {
  const auto figures = parsed(R"({"choices":[],"timings":{"prompt_tokens":2528,
      "reused_tokens":2452,"computed_tokens":76,"prefill_ms":36.9,"prefill_per_second":2060.2,
      "first_token_ms":40.1,"decode_tokens":48,"decode_ms":50.0,"decode_per_second":940.4}})")
                           .figures;
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures_line(*figures, {}),
            "reused 2,452 · computed 76 in 37 ms (2060 tok/s) · first token 40 ms · "
            "reply 48 tokens in 50 ms (940 tok/s)");
}

TEST(Figures, OfLlamaServerAreReadByItsNames) {
  const auto figures = parsed(R"({"timings":{"cache_n":90,"prompt_n":10,"prompt_ms":200.0,
      "prompt_per_second":50.0,"predicted_n":1,"predicted_ms":5.0,"predicted_per_second":200}})")
                           .figures;
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures->prompt_tokens, 100);
  EXPECT_EQ(figures_line(*figures, {.first_text_ms = 250.0, .total_ms = 300}),
            "reused 90 · computed 10 in 200 ms (50.0 tok/s) · first text 250 ms (measured here) · "
            "reply 1 token in 5 ms (200 tok/s)");
}

TEST(Figures, OfOtherServersAreWhatUsageSaysAndNothingElse) {
  const auto figures = parsed(R"({"usage":{"prompt_tokens":1200,"completion_tokens":40,
      "prompt_tokens_details":{"cached_tokens":1024}}})")
                           .figures;
  ASSERT_TRUE(figures);
  EXPECT_EQ(figures_line(*figures, {.first_text_ms = 1230.0, .total_ms = 3000}),
            "prompt 1,200 tokens, 1,024 of them cached · first text 1.2 s (measured here) · "
            "reply 40 tokens");
  EXPECT_EQ(figures_line({}, {.first_text_ms = 400.0, .total_ms = 2500}),
            "first text 400 ms (measured here) · in all 2.5 s · the server gave no figures");
}

TEST(Progress, ShowsTokensRateAndRest) {
  PromptProgress progress{.total = 40000, .reused = 10000, .done = 25000, .ms = 10000};
  const std::string line = progress_line(progress, 100);
  EXPECT_NE(line.find("prompt 25,000 / 40,000 · 10,000 reused · 1500 tok/s · 10 s left"),
            std::string::npos)
      << line;
  progress = {.total = 0, .reused = 5, .done = 9, .ms = 0};  // nonsense does no harm
  EXPECT_NE(progress_line(progress, 20), "");
}

TEST(ShortTexts, AreReadable) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(short_time(0.0404), "40 ms");
  EXPECT_EQ(short_time(0.99999), "1.0 s");
  EXPECT_EQ(short_time(12), "12 s");
  EXPECT_EQ(short_time(185.4), "3 min 5 s");
  EXPECT_EQ(age_text(-5), "just now");
  EXPECT_EQ(age_text(60), "1 min ago");
  EXPECT_EQ(age_text(7300), "2 hours ago");
  EXPECT_EQ(age_text(86400), "1 day ago");
}

TEST(ReplyReader, PutsAStreamTogether) {
  ReplyReader reader(true);
  std::string content;
  const std::string stream =
      "data: "
      "{\"id\":\"c1\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
      ": keepalive\n\n"
      "data: {\"choices\":[{\"delta\":{}}],\"prompt_progress\":{\"total\":9,\"cache\":1,"
      "\"processed\":4,\"time_ms\":2}}\n\n"
      "data: {\"choices\":[{\"delta\":{\"content\":\"é\"}}]}\n\n"
      "data: not json\n\n"
      "data: {\"choices\":[{\"delta\":{\"content\":\"!\"},\"finish_reason\":\"stop\"}]}\n\n"
      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n"
      "data: [DONE]\n\n";
  for (const char byte : stream) content += reader.feed({&byte, 1}).content;
  EXPECT_EQ(content, "é!");
  EXPECT_TRUE(reader.ended());
  EXPECT_EQ(reader.finish_reason(), "stop");
  EXPECT_EQ(reader.id(), "c1");
  EXPECT_EQ(reader.unreadable(), 1);
  EXPECT_EQ(reader.progress()->done, 4);
  EXPECT_EQ(reader.figures().reply_tokens, 2);
}

TEST(ReplyReader, TakesAWholeReplyFromAServerThatDoesNotStream) {
  ReplyReader reader(false);
  EXPECT_EQ(reader.feed(R"({"choices":[{"message":{"content":"al)").content, "");
  EXPECT_EQ(reader.feed(R"(l"},"finish_reason":"stop"}]})").content, "");
  EXPECT_EQ(reader.finish().content, "all");
  EXPECT_TRUE(reader.ended());
}

TEST(ReplyReader, AnErrorEventIsNoEnd) {
  ReplyReader reader(true);
  EXPECT_EQ(reader
                .feed("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
                      "data: {\"error\":{\"message\":\"out of memory\"}}\n\n")
                .content,
            "a");
  EXPECT_EQ(reader.error(), "out of memory");
  EXPECT_FALSE(reader.ended());
}

}  // namespace
}  // namespace samovar::client
