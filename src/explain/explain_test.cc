// Goal: every class is told from what causes it, with texts, with tokens only and with hashes only,
// and says where it lies, what it cost and what to do. Method: one conversation, changed in one way
// at a time, through a small template and tokeniser (explain_pairs.h). Here: the system prompt, the
// tools, and what holds for all; explain_history_test.cc and explain_state_test.cc have the others.
#include "explain/explain.h"

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "explain/explain_pairs.h"
#include "explain/shape_codec.h"

namespace samovar {
namespace {

using namespace testing;

TEST(Explain, FollowUpThatExtendsItsHistoryLosesNothing) {
  for (const Keep keep : kAll) {
    const Explanation e = explained({}, keep);
    EXPECT_STREQ(to_string(e.cause), "none") << e.title;
    EXPECT_LE(e.tokens_lost, kSmallLoss);
  }
}

TEST(Explain, SameRequestAgainLosesNothing) {
  Pair pair;
  pair.after = pair.before;
  for (const Keep keep : kAll) {
    const Explanation e = explained(pair, keep);
    EXPECT_STREQ(to_string(e.cause), "none");
    EXPECT_FALSE(e.first.has_value());
  }
}

TEST(Explain, FirstTurnHasNothingToCompareWith) {
  const TurnShape after = turn(conversation(), Keep::nothing);
  EXPECT_EQ(explain(nullptr, after, {}, {}).cause, Cause::first_turn);
}

// --- one word of the system prompt ---

TEST(Explain, UniqueIdInTheSystemPrompt) {
  const Pair pair = system_pair("Session 3f2b8c1e-9a4d-4e5f-8b6a-1c2d3e4f5a6b.",
                                "Session 7a1c0d2e-1b3c-4d5e-9f60-a1b2c3d4e5f6.");
  expect_cause(pair, Cause::unique_id, Cause::system_text_edited);
  const Explanation e = explained(pair, Keep::all);
  ASSERT_TRUE(e.first.has_value());
  EXPECT_EQ(e.first->message, 0U);
  EXPECT_EQ(e.first->role, Role::system);
  EXPECT_EQ(e.first->field, "content");
  EXPECT_TRUE(e.first->old_text.starts_with("Session 3f2b8c1e")) << e.first->old_text;
  EXPECT_EQ(e.first->old_text.substr(e.first->old_at, 4), "3f2b");
  EXPECT_TRUE(e.first->byte.has_value());
  EXPECT_NE(e.remedy.find("id"), std::string::npos);
  // All that follows had been computed before: the rest of the system prompt, the history, the
  // reply.
  EXPECT_NEAR(e.tokens_lost, 300 + 200 + 200 + 60 + 250, 120);
}

TEST(Explain, CostIsAboutTheSameWithHashesOnly) {
  const Pair pair = system_pair("Session 3f2b8c1e-9a4d-4e5f-8b6a-1c2d3e4f5a6b.",
                                "Session 7a1c0d2e-1b3c-4d5e-9f60-a1b2c3d4e5f6.");
  const double exact = explained(pair, Keep::all).tokens_lost;
  for (const Keep keep : kHashes) EXPECT_NEAR(explained(pair, keep).tokens_lost, exact, exact / 5);
}

TEST(Explain, TimeInTheSystemPrompt) {
  expect_cause(system_pair("It is 2026-11-30 07:12.", "It is 2026-11-30 07:13."),
               Cause::time_or_date, Cause::system_text_edited);
}

TEST(Explain, CounterInTheSystemPrompt) {
  expect_cause(system_pair("You have used 1204 tokens.", "You have used 1377 tokens."),
               Cause::counter_or_hash, Cause::system_text_edited);
}

TEST(Explain, BillingLineIsNamedWithItsRemedy) {
  const Pair pair = system_pair("x-anthropic-billing-header: cc_version=2.1.101.e51; cch=a5145;",
                                "x-anthropic-billing-header: cc_version=2.1.101.e51; cch=0c8b4;");
  const Explanation e = explained(pair, Keep::all);
  EXPECT_STREQ(to_string(e.cause), "counter_or_hash");
  EXPECT_NE(e.title.find("billing line"), std::string::npos) << e.title;
  EXPECT_NE(e.remedy.find("--neutralise claude-code-billing"), std::string::npos);
  EXPECT_NE(e.remedy.find("CLAUDE_CODE_ATTRIBUTION_HEADER"), std::string::npos);
}

TEST(Explain, BillingLineIsNotBlamedForWhatStandsElsewhere) {
  const std::string line =
      "x-anthropic-billing-header: cc_version=2.1.101.000; cc_entrypoint=cli; cch=00000;\n" +
      words(40, "intro");
  const Explanation e =
      explained(system_pair(line + " gitStatus: HEAD 3daa1d8.", line + " gitStatus: HEAD f000bcd."),
                Keep::all);
  EXPECT_STREQ(to_string(e.cause), "counter_or_hash");
  EXPECT_EQ(e.title, "A number or hash in the system prompt changed");
  EXPECT_NE(e.detail.find("git status"), std::string::npos) << e.detail;
}

TEST(Explain, WhiteSpaceIsToldFromAnEditEvenByHashes) {
  expect_cause(system_pair("One two.", "One  two."), Cause::whitespace, Cause::whitespace);
}

TEST(Explain, SystemTextEdited) {
  expect_cause(system_pair("Be kind.", "Be brief."), Cause::system_text_edited,
               Cause::system_text_edited);
}

// --- tools ---

TEST(Explain, ToolsInAnotherOrder) {
  Pair pair;
  std::swap(pair.after.tools[0], pair.after.tools[2]);
  expect_cause(pair, Cause::tool_order, Cause::tool_order);
  const Explanation e = explained(pair, Keep::all);
  EXPECT_EQ(e.first->field, "tools");
  EXPECT_EQ(e.first->new_text, "write_file, list_files, read_file");
  EXPECT_NE(e.remedy.find("--sort-tools"), std::string::npos);
  EXPECT_GT(e.tokens_lost, 1000);
}

TEST(Explain, ToolAddedOrRemoved) {
  Pair added;
  added.after.tools.insert(added.after.tools.begin() + 1, tool("grep"));
  expect_cause(added, Cause::tools_added_or_removed, Cause::tools_added_or_removed);
  EXPECT_EQ(explained(added, Keep::nothing).first->tool, "grep");
  Pair removed;
  removed.after.tools.erase(removed.after.tools.begin());
  expect_cause(removed, Cause::tools_added_or_removed, Cause::tools_added_or_removed);
  const Explanation e = explained(removed, Keep::nothing);
  EXPECT_EQ(e.first->tool, "read_file");
  EXPECT_NE(e.title.find("taken away"), std::string::npos) << e.title;
}

TEST(Explain, ToolSchemaChanged) {
  Pair pair;
  pair.after.tools[1].parameters = R"({"type":"object","properties":{"path":{}}})";
  expect_cause(pair, Cause::tool_schema_changed, Cause::tool_schema_changed);
  for (const Keep keep : kAll) {
    const Explanation e = explained(pair, keep);
    EXPECT_EQ(e.first->field, "tools[1].parameters");
    EXPECT_EQ(e.first->tool, "list_files");
    EXPECT_EQ(e.title.find("list_files"), std::string::npos) << "titles name no text of clients";
  }
}

TEST(Explain, SchemaThatIsOnlyWrittenOtherwiseIsToldSo) {
  Pair pair;
  pair.after.tools[1].parameters = R"({"properties": {}, "type": "object"})";
  for (const Keep keep : kAll) {
    const Explanation e = explained(pair, keep);
    EXPECT_STREQ(to_string(e.cause), "tool_schema_changed");
    EXPECT_NE(e.detail.find("says the same"), std::string::npos) << e.detail;
  }
}

TEST(Explain, TimeInAToolDescription) {
  Pair pair;
  pair.before.tools[0].description += " It is 07:12.";
  pair.after.tools[0].description += " It is 07:13.";
  expect_cause(pair, Cause::time_or_date, Cause::tool_schema_changed);
}

// --- both, and neither ---

TEST(Explain, GreaterLossDecidesWhereBothPlayAPart) {
  const Pair pair = system_pair("It is 07:12.", "It is 07:13.");
  const TurnShape before = before_of(pair, Keep::all);
  const TurnShape after = turn(pair.after, Keep::all);
  const Explanation e = explain(&before, after, {}, {.reused = 0});
  EXPECT_STREQ(to_string(e.cause), "time_or_date");
  EXPECT_GT(e.tokens_lost, after.prompt_tokens - 200) << "both losses count";
}

TEST(Explain, WithoutFiguresEverythingBeforeTheDifferenceIsTakenToBeReused) {
  const Pair pair = system_pair("It is 07:12.", "It is 07:13.");
  const TurnShape before = guess_shape(pair.before, {});
  const TurnShape after = guess_shape(pair.after, {});
  const Explanation e = explain(&before, after, {}, {});
  EXPECT_TRUE(e.estimated);
  EXPECT_FALSE(e.seconds_lost.has_value());
  ASSERT_TRUE(e.first.has_value());
  EXPECT_TRUE(e.first->estimated);
  EXPECT_GT(e.tokens_lost, 300);
}

// 400 messages and some 100,000 tokens. The time it takes is recorded with the test's result.
TEST(Explain, LongConversationsAreExplainedAsShortOnesAre) {
  ChatRequest request = conversation("It is 07:12.");
  for (int i = 0; i < 198; ++i) {
    const std::string name = "m" + std::to_string(i) + "x";
    request.messages.push_back(message(Role::assistant, words(100, name + "a")));
    request.messages.push_back(message(Role::tool, "\"" + words(300, name + "t")));
  }
  ChatRequest next = follow_up(request);
  next.messages[0].content.replace(6, 5, "07:13");
  const TurnShape before = turn(request, Keep::all);
  TurnShape after = turn(next, Keep::all);
  const Prompt prompt = prompt_of(*after.rendered);
  const Micros begin = system_clock().now();
  (void)make_shape(next, prompt, {});
  const Micros shaped = system_clock().now();
  const Explanation e = explain(&before, after, {}, {});
  const Micros explained = system_clock().now();
  EXPECT_STREQ(to_string(e.cause), "time_or_date");
  EXPECT_GT(after.prompt_tokens, 70'000);
  EXPECT_EQ(e.first->message, 0U);
  EXPECT_GT(e.tokens_lost, after.prompt_tokens / 10 * 9);
  RecordProperty("make_shape_us", std::to_string(shaped - begin));
  RecordProperty("explain_us", std::to_string(explained - shaped));
  std::printf("make_shape %lld us, explain %lld us, shape %zu bytes\n",
              static_cast<long long>(shaped - begin), static_cast<long long>(explained - shaped),
              encode_shape(after).size());
}

TEST(Explain, PlacesReadAsPathsOfTheRequest) {
  FirstDifference first;
  first.message = 3;
  first.role = Role::assistant;
  first.field = "tool_calls[0].arguments";
  EXPECT_EQ(place_text(first), "messages[3] (assistant), tool_calls[0].arguments");
  FirstDifference in_tool;
  in_tool.field = "tools[2].parameters";
  in_tool.tool = "read_file";
  EXPECT_EQ(place_text(in_tool), "tools[2].parameters (read_file)");
}

TEST(Causes, HaveNamesOfTheirOwn) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(Cause::partly_reused_granularity); ++i) {
    names.emplace_back(to_string(static_cast<Cause>(i)));
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(names.size(), 22U);
}

}  // namespace
}  // namespace samovar
