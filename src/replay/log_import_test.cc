// Goal: logs of others become traces: bodies alone or wrapped, with and without responses and
// times; what cannot be read is named and left out.
#include "replay/log_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/histories.h"
#include "replay/trace_reader.h"

namespace samovar::replay {
namespace {

using ::testing::HasSubstr;

Trace import(const std::string& log) {
  auto trace = import_log(log);
  EXPECT_TRUE(trace.has_value()) << trace.error().describe();
  if (!trace) return {};
  // Whatever is imported can be written and read.
  EXPECT_TRUE(read_trace(write_trace(*trace)).has_value());
  return std::move(*trace);
}

TEST(LogImport, BodiesAloneTellRepliesByTheNextRequest) {
  const Trace trace =
      import(R"({"model":"m","messages":[{"role":"user","content":"one"}],"temperature":0})"
             "\n"
             R"({"model":"m","messages":[{"role":"user","content":"one"},)"
             R"({"role":"assistant","content":"first"},{"role":"user","content":"two"}],)"
             R"("temperature":0})");
  ASSERT_EQ(trace.turns.size(), 2U);
  EXPECT_EQ(trace.header.model, "m");
  EXPECT_EQ(trace.turns[1].after, trace.turns[0].id);
  ASSERT_TRUE(trace.turns[0].reply.has_value());
  EXPECT_EQ(trace.turns[0].reply->message.content, "first");
  EXPECT_EQ(trace.turns[1].returned, Returned::whole);
  EXPECT_EQ(trace.turns[1].messages.size(), 1U);
  EXPECT_EQ(trace.turns[1].session, trace.turns[0].session);
  EXPECT_EQ(Histories(trace).recorded_messages(1).size(), 3U);
  EXPECT_THAT(trace.notes[0], HasSubstr("no pauses"));
}

TEST(LogImport, ResponsesAndTimesAreTaken) {
  const Trace trace = import(
      R"({"timestamp":"2026-01-31T00:00:10.500Z","duration_ms":2000,"request":{"messages":[)"
      R"({"role":"user","content":"one"}]},"response":{"choices":[{"message":{"role":"assistant",)"
      R"("content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f",)"
      R"("arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,)"
      R"("completion_tokens":4,"prompt_tokens_details":{"cached_tokens":3}}}})"
      "\n"
      R"({"timestamp":1769817615,"request":"{\"messages\":[)"
      R"({\"role\":\"user\",\"content\":\"one\"},)"
      R"({\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c\",\"function\":)"
      R"({\"name\":\"f\",\"arguments\":\"{ }\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c\",)"
      R"(\"content\":\"r\"}]}"})");
  ASSERT_EQ(trace.turns.size(), 2U);
  EXPECT_EQ(trace.turns[0].reply->tokens, 4);
  EXPECT_EQ(trace.turns[0].figures.reused, 3);
  EXPECT_EQ(trace.turns[1].at_ms, 4500);
  EXPECT_EQ(trace.turns[1].wait_ms, 2500);
  EXPECT_EQ(trace.turns[1].wait, WaitKind::tool);
  EXPECT_EQ(trace.turns[1].returned, Returned::whole);
  EXPECT_TRUE(trace.notes.empty());
}

TEST(LogImport, PartsAndLinesThatCannotBeTakenAreNoted) {
  const Trace trace = import(
      "no json\n"
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"look"},)"
      R"({"type":"image_url","image_url":{}}]}]})"
      "\n"
      R"({"messages":[{"role":"nobody"}]})"
      "\n"
      R"({"event":"start"})");
  ASSERT_EQ(trace.turns.size(), 1U);
  EXPECT_EQ(trace.turns[0].messages[0].content, "look");
  ASSERT_EQ(trace.notes.size(), 5U);
  EXPECT_THAT(trace.notes[0], HasSubstr("line 1"));
  EXPECT_THAT(trace.notes[1], HasSubstr("messages[0].role"));
  EXPECT_THAT(trace.notes[2], HasSubstr("line 4"));
  EXPECT_THAT(trace.notes[3], HasSubstr("1 parts"));
}

TEST(LogImport, ALogWithoutRequestsIsAnError) {
  EXPECT_FALSE(import_log("").has_value());
  EXPECT_THAT(import_log("{}").error().describe(), HasSubstr("no request in it"));
}

}  // namespace
}  // namespace samovar::replay
