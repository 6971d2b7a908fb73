// Goal: nothing that a user wrote survives redaction, and what a replay needs of a trace does:
// equal texts stay equal, texts that begin alike still do, sizes in tokens stay about what they
// were, names fit one another, and the trace can be read.
#include "replay/redactor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "replay/histories.h"
#include "replay/pseudo_text.h"
#include "replay/trace_reader.h"
#include "replay/trace_testing.h"

namespace samovar::replay {
namespace {

using Json = nlohmann::ordered_json;

const Redactor kRedactor({.key = "k"});

// A user's conversation, with things in every place that text can be.
Trace secret_trace() {
  Trace trace;
  trace.header.model = "m";
  TraceTurn a;
  a.id = "chatcmpl-secretid";
  a.session = "alice@example.com/projects/payroll";
  a.dialect = "chat.completions";
  a.messages = {
      {.role = Role::system, .content = "You work for Acme Widgets Ltd, 12 Hidden Lane."},
      {.role = Role::user,
       .content = "My password is correct horse battery staple, my key is "
                  "sk-live-0123456789abcdef0123456789abcdef.\n        indented = True\n"}};
  a.tools = {{"read_payroll_of_acme", "Reads the payroll of Acme Widgets Ltd.",
              R"({"type":"object","properties":{"employee_number":{"type":"string",)"
              R"("description":"as on the badge of Acme Widgets","pattern":"^ACME-[0-9]+$",)"
              R"("enum":["Alice Liddell","Robert Roberts"]}},"required":["employee_number"],)"
              R"("x-owner":"alice@example.com"})"}};
  TraceSettings settings;
  settings.stop = {"END OF PAYROLL"};
  settings.template_arguments["who"] = R"("alice@example.com")";
  settings.response_format = {ResponseFormat::Kind::json_schema,
                              R"({"type":"object","properties":{"salary_of_alice":{}}})"};
  a.settings = settings;
  TraceReply reply;
  reply.message.content = "Alice Liddell earns 12345678 pounds.";
  reply.message.reasoning = "The user wants the salary of Alice Liddell.";
  reply.message.tool_calls = {{"call_secret_number_1", "read_payroll_of_acme",
                               R"({"employee_number":"Alice Liddell","account":1234567890,)"
                               R"("alice@example.com":true})"}};
  reply.finish = "tool_calls";
  a.reply = reply;
  TraceTurn b;
  b.id = "second-turn-of-alice";
  b.after = a.id;
  b.keep = 2;
  b.returned = Returned::whole;
  b.messages = {{.role = Role::tool,
                 .content = "{\"salary\": 12345678, \"name\": \"Alice Liddell\"}",
                 .tool_call_id = "call_secret_number_1",
                 .name = "read_payroll_of_acme"}};
  trace.turns = {a, b};
  return trace;
}

// All texts of a trace that a user or their client wrote.
std::vector<std::string> texts_of(const Trace& trace) {
  std::vector<std::string> texts;
  const auto add = [&](const ChatMessage& message) {
    texts.insert(texts.end(),
                 {message.content, message.reasoning, message.name, message.tool_call_id});
    for (const ToolCall& call : message.tool_calls) {
      texts.insert(texts.end(), {call.id, call.name});
      const Json json = Json::parse(call.arguments, nullptr, false);
      if (!json.is_object()) texts.push_back(call.arguments);
      if (!json.is_object()) continue;
      for (const auto& [key, value] : json.items()) {
        texts.push_back(key);
        texts.push_back(value.is_string() ? value.get<std::string>() : value.dump());
      }
    }
  };
  for (const TraceTurn& turn : trace.turns) {
    texts.push_back(turn.id);
    texts.push_back(turn.session);
    for (const ChatMessage& message : turn.messages) add(message);
    if (turn.reply) add(turn.reply->message);
    for (const Tool& tool : turn.tools.value_or(std::vector<Tool>())) {
      texts.push_back(tool.name);
      texts.push_back(tool.description);
    }
    if (turn.settings) {
      texts.insert(texts.end(), turn.settings->stop.begin(), turn.settings->stop.end());
    }
  }
  return texts;
}

TEST(Redactor, NoEightCharactersOfWhatAUserWroteSurvive) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Trace trace = seed == 0 ? secret_trace() : RandomTrace(seed).make(6);
    for (TraceTurn& turn : trace.turns) {
      if (turn.id.size() < 8) turn.session += " of Alice Liddell";
    }
    const std::string out = write_trace(kRedactor.trace(trace));
    for (const std::string& text : texts_of(trace)) {
      for (std::size_t at = 0; at + 8 <= text.size(); ++at) {
        ASSERT_EQ(out.find(text.substr(at, 8)), std::string::npos)
            << "'" << text.substr(at, 8) << "' of '" << text << "', seed " << seed;
      }
    }
    for (const char* word : {"Alice", "alice@", "Acme", "ACME", "payroll", "sk-live", "salary"}) {
      EXPECT_EQ(out.find(word), std::string::npos) << word;
    }
  }
}

TEST(Redactor, TheRedactedTraceIsATraceOfTheSameShape) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Trace trace = RandomTrace(seed).make(8);
    const auto again = read_trace(write_trace(kRedactor.trace(trace)));
    ASSERT_TRUE(again.has_value()) << again.error().describe();
    EXPECT_TRUE(again->header.redacted);
    ASSERT_EQ(again->turns.size(), trace.turns.size());
    const Histories before(trace);
    const Histories after(*again);
    for (std::size_t i = 0; i < trace.turns.size(); ++i) {
      const TraceTurn& was = trace.turns[i];
      const TraceTurn& is = again->turns[i];
      EXPECT_EQ(is.at_ms, was.at_ms);
      EXPECT_EQ(is.wait_ms, was.wait_ms);
      EXPECT_EQ(is.keep, was.keep);
      EXPECT_EQ(is.figures.prompt, was.figures.prompt);
      const auto whole = before.recorded_messages(i);
      const auto words = after.recorded_messages(i);
      ASSERT_EQ(words.size(), whole.size());
      for (std::size_t m = 0; m < whole.size(); ++m) {
        EXPECT_EQ(words[m].role, whole[m].role);
        EXPECT_EQ(words[m].content, kRedactor.text(whole[m].content));
        EXPECT_EQ(words[m].tool_calls.size(), whole[m].tool_calls.size());
      }
    }
  }
}

TEST(Redactor, TextsThatBeginAlikeStillDo) {
  const std::string a = kRedactor.text("the quick brown fox jumps over one dog");
  const std::string b = kRedactor.text("the quick brown fox jumps over two cats");
  const std::string start = kRedactor.text("the quick brown fox jumps over");
  EXPECT_TRUE(a.starts_with(start));
  EXPECT_TRUE(b.starts_with(start));
  EXPECT_NE(a, b);
  EXPECT_EQ(a, kRedactor.text("the quick brown fox jumps over one dog"));
  EXPECT_NE(a, Redactor({.key = "other"}).text("the quick brown fox jumps over one dog"));
}

// Who knows a text and its redacted form learns no word of another text.
TEST(Redactor, AWordIsAnotherOneBehindOtherText) {
  const std::string same = kRedactor.text("password");
  int kept = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string before = fmt::format("prompt {} says", i);
    const std::string redacted = kRedactor.text(before + " password");
    ASSERT_TRUE(redacted.starts_with(kRedactor.text(before)));
    kept += redacted.ends_with(same) ? 1 : 0;
  }
  EXPECT_EQ(kept, 0);
  EXPECT_NE(kRedactor.text("one two"), kRedactor.text("one\ntwo"));
}

TEST(Redactor, NumbersOfAnyLengthHaveAsManyDigits) {
  for (std::size_t digits = 1; digits <= 20; ++digits) {
    for (const bool negative : {false, true}) {
      if (digits == 20 && negative) continue;  // no whole number to JSON
      const std::string number = (negative ? "-1" : "1") + std::string(digits - 1, '2');
      const auto out = Json::parse(kRedactor.arguments(R"({"n":)" + number + "}"));
      const std::string text = out.begin().value().dump();
      EXPECT_EQ(text.starts_with('-'), negative && text != "0") << number << " " << text;
      const std::size_t of = text.size() - (text.starts_with('-') ? 1 : 0);
      EXPECT_EQ(of, std::min<std::size_t>(digits, 18)) << number << " " << text;
    }
  }
}

TEST(Redactor, ATextKeepsItsTokensAbout) {
  const std::string code =
      "int main(int count, char** words) {\n  return samovar::run({words, words + count});\n}\n";
  std::string prose;
  for (int i = 0; i < 40; ++i) prose += "It was a bright cold day, and clocks were striking 13.\n";
  for (const std::string& text : {code, prose}) {
    const auto before = static_cast<double>(estimate_tokens(text));
    const auto after = static_cast<double>(estimate_tokens(kRedactor.text(text)));
    EXPECT_NEAR(after, before, before * 0.1);
  }
}

TEST(Redactor, NamesOfASchemaAndOfCallsFitOneAnother) {
  const Trace trace = kRedactor.trace(secret_trace());
  const TraceTurn& turn = trace.turns[0];
  const Json schema = Json::parse((*turn.tools)[0].parameters);
  ASSERT_EQ(schema["properties"].size(), 1U);
  const std::string name = schema["properties"].begin().key();
  EXPECT_EQ(schema["required"][0], name);
  EXPECT_EQ(schema["properties"][name]["type"], "string");
  EXPECT_FALSE(schema["properties"][name].contains("pattern"));
  const Json arguments = Json::parse(turn.reply->message.tool_calls[0].arguments);
  EXPECT_EQ(arguments.begin().key(), name);
  EXPECT_EQ(arguments.begin().value(), schema["properties"][name]["enum"][0]);
  EXPECT_EQ(turn.reply->message.tool_calls[0].name, (*turn.tools)[0].name);
  EXPECT_EQ(trace.turns[1].messages[0].tool_call_id, turn.reply->message.tool_calls[0].id);
}

TEST(Redactor, NamesAreKeptOnlyIfAskedFor) {
  const Trace trace = Redactor({.key = "k", .keep_names = true}).trace(secret_trace());
  const TraceTurn& turn = trace.turns[0];
  EXPECT_EQ((*turn.tools)[0].name, "read_payroll_of_acme");
  EXPECT_TRUE(Json::parse(turn.reply->message.tool_calls[0].arguments).contains("employee_number"));
  EXPECT_EQ(write_trace(trace).find("Liddell"), std::string::npos);
}

TEST(Redactor, DifferentTextsSeldomBecomeEqual) {
  std::set<std::string> seen;
  for (int i = 0; i < 2'000; ++i) seen.insert(kRedactor.text(fmt::format("session of user {}", i)));
  EXPECT_GT(seen.size(), 1'000U);
}

}  // namespace
}  // namespace samovar::replay
