// Goal: what is written of a trace is read back as it was; what a crash tore is passed over; what
// is wrong is refused with its line and field.
#include "replay/trace_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/chat_json.h"
#include "replay/histories.h"
#include "replay/trace_lines.h"
#include "replay/trace_testing.h"

namespace samovar::replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHeader = R"({"samovar_trace":1,"model":"m"})"
                            "\n";
const std::string kFirst = R"({"id":"a","at_ms":5,"messages":[{"role":"user","content":"hello"}],)"
                           R"("reply":{"message":{"role":"assistant","content":"hi"}}})"
                           "\n";

std::string error_of(const std::string& text) {
  const auto trace = read_trace(text);
  return trace ? "no error" : trace.error().describe();
}

TEST(TraceReader, ReadsBackWhatWasWritten) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomTrace(seed).make(static_cast<int>(seed % 12) + 1);
    const std::string text = write_trace(trace);
    const auto again = read_trace(text);
    ASSERT_TRUE(again.has_value()) << again.error().describe();
    EXPECT_THAT(again->notes, IsEmpty());
    ASSERT_EQ(again->turns.size(), trace.turns.size());
    for (std::size_t i = 0; i < trace.turns.size(); ++i) {
      EXPECT_EQ(turn_line(again->turns[i]), turn_line(trace.turns[i]));
      EXPECT_EQ(again->turns[i].keep, trace.turns[i].keep);
      EXPECT_EQ(again->turns[i].returned, trace.turns[i].returned);
      EXPECT_EQ(again->turns[i].messages.size(), trace.turns[i].messages.size());
    }
    EXPECT_EQ(write_trace(*again), text);
  }
}

TEST(TraceReader, EveryPrefixOfAFileIsReadOrRefusedWithALine) {
  const std::string text = write_trace(RandomTrace(7).make(4));
  const std::size_t header = text.find('\n');
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto trace = read_trace(text.substr(0, size));
    if (size >= header) {
      EXPECT_TRUE(trace.has_value()) << size << ": " << trace.error().describe();
    } else {
      EXPECT_FALSE(trace.has_value()) << size;
    }
  }
}

TEST(TraceReader, ATornLastLineIsNoted) {
  const auto trace = read_trace(kHeader + kFirst + R"({"id":"b","aft)");
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->turns.size(), 1U);
  ASSERT_EQ(trace->notes.size(), 1U);
  EXPECT_THAT(trace->notes[0], HasSubstr("(3)"));
}

TEST(TraceReader, ATornLineBeforeAnotherHeaderIsNoted) {
  const std::string second = R"({"id":"b","at_ms":1,"messages":[{"role":"user","content":"x"}]})";
  const auto trace = read_trace(R"({"samovar_trace":1,"created":100})"
                                "\n" +
                                kFirst + R"({"id":"torn)" + "\n" +
                                R"({"samovar_trace":1,"created":160})" + "\n" + second);
  ASSERT_TRUE(trace.has_value()) << trace.error().describe();
  EXPECT_EQ(trace->notes.size(), 1U);
  ASSERT_EQ(trace->turns.size(), 2U);
  EXPECT_EQ(trace->turns[1].at_ms, 60'001);  // times count from their header
}

TEST(TraceReader, SeveralTornLinesInARowAreNoted) {
  const auto trace = read_trace(kHeader + kFirst + "{\"id\":\n{\"samo\n" + kHeader + "{\"id\n{\"x");
  ASSERT_TRUE(trace.has_value()) << trace.error().describe();
  EXPECT_EQ(trace->turns.size(), 1U);
  EXPECT_THAT(trace->notes, ElementsAre(HasSubstr("3 to 4"), HasSubstr("6 to 7")));
  EXPECT_THAT(error_of(kHeader + "{\n{\n" + kFirst), HasSubstr("line 2: this is no JSON"));
}

TEST(TraceReader, ATornLineElsewhereIsAnError) {
  EXPECT_THAT(error_of(kHeader + "{\"id\":\n" + kFirst), HasSubstr("line 2: this is no JSON"));
}

TEST(TraceReader, WrongFieldsAreNamedWithTheirLine) {
  const struct {
    const char* line;
    const char* says;
  } cases[] = {
      {R"({"at_ms":1,"messages":[{"role":"user","content":""}]})", "missing (id)"},
      {R"({"id":7})", "a string is expected here (id)"},
      {R"({"id":"b","messages":[{"role":"robot","content":""}]})", "(messages[0].role)"},
      {R"({"id":"b","messages":[7]})", "(messages[0])"},
      {R"({"id":"b","messages":{}})", "an array is expected here (messages)"},
      {R"({"id":"b","messages":[]})", "at least one message (messages)"},
      {R"({"id":"b","after":"z","messages":[{"role":"user"}]})", "no turn z stands before"},
      {R"({"id":"b","after":"a","keep":9,"messages":[]})", "has 1 messages (keep)"},
      {R"({"id":"b","after":"a","keep":0,"reply_returned":"whole"})", "(reply_returned)"},
      {R"({"id":"b","after":"a","reply_returned":"half"})", "one of no, whole"},
      {R"({"id":"b","keep":1,"messages":[{"role":"user"}]})", "(keep)"},
      {R"({"id":"b","at_ms":-1,"messages":[{"role":"user"}]})",
       "not negative is expected here (at_ms)"},
      {R"({"id":"b","wait_ms":1.5,"messages":[{"role":"user"}]})", "(wait_ms)"},
      {R"({"id":"a","messages":[{"role":"user"}]})", "another turn's (id)"},
      {R"({"id":"b","joins":[1],"messages":[{"role":"user"}]})", "(joins)"},
      {R"({"id":"b","joins":["q"],"messages":[{"role":"user"}]})", "(joins)"},
      {R"({"id":"b","messages":[{"role":"user"}],"reply":{}})", "(reply.message)"},
      {R"({"id":"b","messages":[{"role":"user"}],"settings":{"stop":[1]}})", "(settings.stop)"},
      {R"({"id":"b","messages":[{"role":"user"}],"tools":[{"type":"function"}]})",
       "(tools[0].function)"},
      {R"([1])", "no JSON object"},
  };
  for (const auto& each : cases) {
    // Another turn follows, so that the line is not the torn end.
    const std::string more = R"({"id":"c","messages":[{"role":"user"}]})";
    const std::string error = error_of(kHeader + kFirst + each.line + "\n" + more + "\n");
    EXPECT_THAT(error, HasSubstr("line 3:")) << each.line;
    EXPECT_THAT(error, HasSubstr(each.says)) << each.line;
  }
}

TEST(TraceReader, DeepJsonIsRefused) {
  const std::string deep(5000, '[');
  EXPECT_THAT(error_of(kHeader + R"({"id":)" + deep + "\n" + kFirst), HasSubstr("levels of JSON"));
}

// JSON within a string is not seen by the depth of its line.
TEST(TraceReader, DeepJsonInAStringStaysAString) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  for (const std::size_t levels : {std::size_t{100'000}, std::size_t{61}, std::size_t{60}}) {
    const std::string deep = nested(levels);
    const auto trace =
        read_trace(kHeader + R"({"id":"a","messages":[{"role":"user","content":""}],"settings":)" +
                   R"({"response_format":{"type":"json_schema","json_schema":{"schema":")" + deep +
                   R"("}}},"tools":[{"function":{"name":"f","parameters":")" + deep + R"("}}]})");
    ASSERT_TRUE(trace.has_value()) << trace.error().describe();
    const TraceTurn& turn = trace->turns[0];
    EXPECT_EQ((*turn.tools)[0].parameters, deep);
    const std::string body = completion_body(turn.messages, *turn.tools, *turn.settings, "", "");
    EXPECT_EQ(body.find('"' + deep + '"') != std::string::npos, levels > 60);
    const auto again = read_trace(write_trace(*trace));
    ASSERT_TRUE(again.has_value()) << again.error().describe();
    EXPECT_EQ((*again->turns[0].tools)[0].parameters, deep);
  }
}

TEST(TraceReader, OtherFilesAreNoTraces) {
  EXPECT_THAT(error_of(""), HasSubstr("no header"));
  EXPECT_THAT(error_of("nothing"), HasSubstr("no header"));
  EXPECT_THAT(error_of(kFirst), HasSubstr("header must come first"));
  EXPECT_THAT(error_of(R"({"samovar_trace":2})"), HasSubstr("version"));
}

TEST(Histories, PutTogetherWhatEachTurnSaysAnew) {
  const auto trace = read_trace(
      kHeader + kFirst + R"({"id":"b","after":"a","messages":[{"role":"user","content":"more"}]})" +
      "\n" + R"({"id":"c","after":"b","keep":1,"messages":[{"role":"user","content":"else"}]})");
  ASSERT_TRUE(trace.has_value()) << trace.error().describe();
  const Histories histories(*trace);
  const auto texts = [&](std::size_t turn) {
    std::string all;
    for (const ChatMessage& each : histories.recorded_messages(turn)) all += each.content + "|";
    return all;
  };
  EXPECT_EQ(texts(0), "hello|");
  EXPECT_EQ(texts(1), "hello|hi|more|");
  EXPECT_EQ(texts(2), "hello|else|");
  EXPECT_EQ(histories.count(1), 3U);
}

TEST(Histories, ResultsOfToolsFollowTheCallsThatWereReallyMade) {
  Trace trace;
  trace.turns.push_back({.id = "a", .messages = {{.role = Role::user, .content = "go"}}});
  TraceReply recorded;
  recorded.message.tool_calls = {{"c1", "f", "{}"}, {"c2", "g", "{}"}};
  trace.turns[0].reply = recorded;
  trace.turns.push_back(
      {.id = "b",
       .after = "a",
       .keep = 1,
       .returned = Returned::whole,
       .messages = {{.role = Role::tool, .content = "r1", .tool_call_id = "c1"},
                    {.role = Role::tool, .content = "r2", .tool_call_id = "c2"}}});
  ChatMessage actual{.role = Role::assistant, .content = "well"};
  actual.tool_calls = {{"x9", "h", "{}"}};
  const FedReply fed = fit_reply(actual, &*trace.turns[0].reply);
  EXPECT_TRUE(fed.changed);  // one call had to be lent
  const auto messages = Histories(trace).messages(1, [&](std::size_t) { return &fed; });
  ASSERT_EQ(messages.size(), 4U);
  ASSERT_EQ(messages[1].tool_calls.size(), 2U);
  EXPECT_EQ(messages[1].tool_calls[0].id, "x9");
  EXPECT_EQ(messages[2].tool_call_id, "x9");
  EXPECT_EQ(messages[3].tool_call_id, messages[1].tool_calls[1].id);
}

}  // namespace
}  // namespace samovar::replay
