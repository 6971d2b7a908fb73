// Goal: every class is told from what causes it, with texts, with tokens only and with hashes only,
// and says where it lies, what it cost and what to do. Method: one conversation, changed in one way
// at a time, through a small template and tokeniser (explain_testing.h).
#include "explain/explain.h"

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "explain/explain_testing.h"
#include "explain/shape_codec.h"

namespace samovar {
namespace {

using testing::Keep;
using testing::message;
using testing::thinking;
using testing::words;

ChatRequest conversation(const std::string& system = "You are a helpful assistant.") {
  ChatRequest request;
  request.tools = {testing::tool("read_file"), testing::tool("list_files"),
                   testing::tool("write_file")};
  request.messages = {message(Role::system, system + " " + words(300, "rule")),
                      message(Role::user, words(200, "question")),
                      message(Role::assistant, words(200, "answer")),
                      message(Role::user, words(60, "second"))};
  return request;
}

const ChatMessage& answer() {
  static const ChatMessage reply = message(Role::assistant, words(250, "reply"));
  return reply;
}

ChatRequest follow_up(const ChatRequest& request, const ChatMessage& reply = answer()) {
  ChatRequest next = request;
  next.messages.push_back(reply);
  next.messages.push_back(message(Role::user, words(30, "third")));
  return next;
}

// What a server reuses that keeps everything: up to the first difference.
Position shared(const TurnShape& before, const TurnShape& after) {
  const Tokens& a = *before.tokens;
  const Tokens& b = *after.tokens;
  const auto size = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  return static_cast<Position>(std::mismatch(a.begin(), a.begin() + size, b.begin()).first -
                               a.begin());
}

struct Pair {
  ChatRequest before = conversation();
  ChatRequest after = follow_up(conversation());
  ChatMessage reply = answer();
  testing::Template how = {};
};

TurnShape before_of(const Pair& pair, Keep keep) {
  TurnShape shape = testing::turn(pair.before, keep, pair.how);
  testing::reply_to(shape, pair.reply, keep);
  return shape;
}

Explanation explained(const Pair& pair, Keep keep) {
  // How much was reused is a fact, whatever is kept of the turns.
  const TurnShape exact_before = before_of(pair, Keep::tokens);
  const TurnShape exact_after = testing::turn(pair.after, Keep::tokens, pair.how);
  Figures figures;
  figures.reused = shared(exact_before, exact_after);
  figures.prefill_us_per_token = 10'000;
  ReuseFacts facts;
  facts.matched = *figures.reused;
  facts.store_on = true;
  const TurnShape before = before_of(pair, keep);
  const TurnShape after = testing::turn(pair.after, keep, pair.how);
  const Explanation e = explain(&before, after, facts, figures);
  EXPECT_FALSE(e.title.empty());
  EXPECT_EQ(e.title.find('\n'), std::string::npos);
  EXPECT_EQ(e.title.ends_with('.'), false);
  if (e.first && keep != Keep::nothing) {
    EXPECT_EQ(e.first->token, figures.reused);
    EXPECT_FALSE(e.first->estimated);
  }
  if (e.first && keep != Keep::all) {
    EXPECT_EQ(e.first->old_text, "");
  }
  EXPECT_NEAR(e.seconds_lost.value_or(-1), e.tokens_lost * 0.01, 1e-9);
  if (e.cause != Cause::none) {
    EXPECT_FALSE(e.remedy.empty()) << to_string(e.cause);
  }
  return e;
}

constexpr Keep kAll[] = {Keep::all, Keep::tokens, Keep::nothing};
constexpr Keep kHashes[] = {Keep::tokens, Keep::nothing};

// The class with texts, and the coarser one without.
void expect_cause(const Pair& pair, Cause with_texts, Cause without) {
  EXPECT_STREQ(to_string(explained(pair, Keep::all).cause), to_string(with_texts));
  for (const Keep keep : kHashes) {
    EXPECT_STREQ(to_string(explained(pair, keep).cause), to_string(without))
        << (keep == Keep::tokens ? "with tokens" : "with hashes only");
  }
}

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
  const TurnShape after = testing::turn(conversation(), Keep::nothing);
  EXPECT_EQ(explain(nullptr, after, {}, {}).cause, Cause::first_turn);
}

// --- one word of the system prompt ---

Pair system_pair(const std::string& before, const std::string& after) {
  Pair pair;
  pair.before = conversation(before);
  pair.after = follow_up(conversation(after));
  return pair;
}

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
  added.after.tools.insert(added.after.tools.begin() + 1, testing::tool("grep"));
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

// --- history ---

TEST(Explain, EarlierMessageEdited) {
  Pair pair;
  pair.after.messages[1].content = "Please: " + pair.after.messages[1].content;
  expect_cause(pair, Cause::history_edited, Cause::history_edited);
  EXPECT_EQ(explained(pair, Keep::all).first->message, 1U);
}

TEST(Explain, MovingReminderIsNamed) {
  Pair pair;
  pair.before.messages[3].content += "\n<system-reminder>todo list is empty</system-reminder>";
  const Explanation e = explained(pair, Keep::all);
  EXPECT_STREQ(to_string(e.cause), "history_edited");
  EXPECT_EQ(e.first->message, 3U);
  EXPECT_NE(e.detail.find("system-reminder"), std::string::npos);
}

TEST(Explain, MessageInsertedBeforeTheEnd) {
  Pair pair;
  pair.after.messages.insert(pair.after.messages.begin() + 1,
                             message(Role::user, words(20, "inserted")));
  expect_cause(pair, Cause::history_edited, Cause::history_edited);
}

TEST(Explain, HistoryCompactedToASummaryAndItsTail) {
  Pair pair;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "m" + std::to_string(i) + "x";
    pair.before.messages.push_back(message(Role::assistant, words(40, name + "a")));
    pair.before.messages.push_back(message(Role::user, words(40, name + "u")));
  }
  pair.after = follow_up(pair.before);
  auto& messages = pair.after.messages;
  messages.erase(messages.begin() + 1, messages.end() - 8);
  messages.insert(messages.begin() + 1, message(Role::user, "Summary: " + words(50, "sum")));
  expect_cause(pair, Cause::history_compacted, Cause::history_compacted);
  EXPECT_NE(explained(pair, Keep::nothing).detail.find("messages of the turn before"),
            std::string::npos);
}

TEST(Explain, HistoryThatBeginsAgainFromASummaryIsCompacted) {
  Pair pair;
  pair.before.messages[1].content = "short question";
  pair.after = pair.before;
  pair.after.messages.resize(2);
  pair.after.messages[1].content = "Summary of what was said: " + words(200, "sum");
  expect_cause(pair, Cause::history_compacted, Cause::history_compacted);
}

TEST(Explain, ClearedToolResultsAreCompaction) {
  Pair pair;
  for (int i = 0; i < 3; ++i) {
    pair.before.messages.push_back(message(Role::assistant, "calling"));
    pair.before.messages.push_back(
        message(Role::tool, words(150, "result" + std::to_string(i) + "x")));
  }
  pair.after = follow_up(pair.before);
  pair.after.messages[5].content = "[cleared]";
  pair.after.messages[7].content = "[cleared]";
  expect_cause(pair, Cause::history_compacted, Cause::history_compacted);
}

TEST(Explain, TakingUpAnEarlierPointLosesNothing) {
  Pair pair;
  pair.after = pair.before;
  pair.after.messages.back().content = "something else";
  for (const Keep keep : kAll) EXPECT_STREQ(to_string(explained(pair, keep).cause), "none");
}

// --- replies ---

TEST(Explain, ReplyAltered) {
  Pair pair;
  pair.after.messages[4].content = "Edited: " + pair.after.messages[4].content;
  expect_cause(pair, Cause::reply_altered, Cause::reply_altered);
}

TEST(Explain, ToolArgumentsWrittenOtherwise) {
  const auto call = [](std::string arguments) {
    ChatMessage reply = message(Role::assistant, "");
    reply.tool_calls.push_back({"call_1", "write_file", std::move(arguments)});
    return reply;
  };
  Pair pair;
  pair.before.messages.push_back(call(R"({"path": "a", "text": "b"})"));
  pair.before.messages.push_back(message(Role::tool, words(300, "result")));
  pair.after = follow_up(pair.before);
  pair.after.messages[4] = call(R"({"text":"b","path":"a"})");
  expect_cause(pair, Cause::reply_altered, Cause::reply_altered);
  for (const Keep keep : kAll) {
    const Explanation e = explained(pair, keep);
    EXPECT_EQ(e.first->field, "tool_calls[0].arguments");
    EXPECT_NE(e.detail.find("says the same"), std::string::npos) << e.detail;
    EXPECT_GT(e.tokens_lost, 280) << "what follows the call was computed again";
  }
}

TEST(Explain, ReplyMissingBetweenTwoUserMessages) {
  Pair pair;
  pair.after.messages.erase(pair.after.messages.begin() + 4);
  for (const Keep keep : kAll) {
    const Explanation e = explained(pair, keep);
    EXPECT_STREQ(to_string(e.cause), "reply_missing");
    EXPECT_EQ(e.kept_reply, "turn-1");
    EXPECT_NE(e.remedy.find("/v1/samovar/turns/turn-1"), std::string::npos) << e.remedy;
    EXPECT_EQ(e.first->message, 4U);
  }
}

TEST(Explain, TurnWithoutAReplyMissesNone) {
  Pair pair;
  pair.after.messages.erase(pair.after.messages.begin() + 4);
  TurnShape before = testing::turn(pair.before, Keep::all);
  add_reply(before, {}, 0, false);
  const TurnShape after = testing::turn(pair.after, Keep::all);
  EXPECT_STREQ(to_string(explain(&before, after, {}, {}).cause), "none");
}

TEST(Explain, MissingReplyIsToldBesidesAGreaterCause) {
  Pair pair = system_pair("It is 07:12.", "It is 07:13.");
  pair.after.messages.erase(pair.after.messages.begin() + 4);
  const Explanation e = explained(pair, Keep::all);
  EXPECT_STREQ(to_string(e.cause), "time_or_date");
  EXPECT_EQ(e.kept_reply, "turn-1");
  EXPECT_NE(e.remedy.find("turn-1"), std::string::npos);
}

// --- reasoning ---

TEST(Explain, ReasoningDroppedByTheTemplateAtAUserMessage) {
  Pair pair;
  pair.before.messages.push_back(thinking(words(100, "thought"), "calling"));
  pair.before.messages.push_back(message(Role::tool, words(400, "result")));
  pair.reply = thinking(words(50, "again"), words(200, "reply"));
  pair.after = follow_up(pair.before, pair.reply);
  for (const Keep keep : kAll) {
    const Explanation e = explained(pair, keep);
    EXPECT_STREQ(to_string(e.cause), "reasoning_dropped_by_template") << static_cast<int>(keep);
    EXPECT_GT(e.tokens_lost, 550) << "the tool result and the reply";
    EXPECT_LT(e.tokens_lost, 800);
  }
}

TEST(Explain, ReasoningOfTheReplyAloneDroppedByTheTemplate) {
  Pair pair;
  pair.reply = thinking(words(100, "thought"), words(300, "reply"));
  pair.after = follow_up(pair.before, pair.reply);
  for (const Keep keep : kAll) {
    const Explanation e = explained(pair, keep);
    EXPECT_STREQ(to_string(e.cause), "reasoning_dropped_by_template") << static_cast<int>(keep);
    EXPECT_NEAR(e.tokens_lost, 300, 60);
  }
}

TEST(Explain, ReasoningDroppedByTheClientInAToolLoop) {
  Pair pair;
  pair.before.messages.push_back(thinking(words(100, "thought"), "calling"));
  pair.before.messages.push_back(message(Role::tool, words(400, "result")));
  pair.reply = thinking(words(50, "again"), "calling again");
  pair.after = pair.before;
  pair.after.messages[4].reasoning.clear();
  pair.after.messages.push_back(message(Role::assistant, "calling again"));
  pair.after.messages.push_back(message(Role::tool, "short result"));
  expect_cause(pair, Cause::reasoning_dropped_by_client, Cause::reasoning_dropped_by_client);
  EXPECT_EQ(explained(pair, Keep::tokens).first->field, "reasoning");
}

TEST(Explain, TemplateThatKeepsReasoningLosesNothing) {
  Pair pair;
  pair.how.keeps_reasoning = true;
  pair.reply = thinking(words(100, "thought"), words(300, "reply"));
  pair.after = follow_up(pair.before, pair.reply);
  for (const Keep keep : kAll) EXPECT_STREQ(to_string(explained(pair, keep).cause), "none");
}

// --- what the server decides ---

TEST(Explain, TemplateOptionChanged) {
  const Pair pair;
  for (const Keep keep : kAll) {
    ChatRequest changed = pair.after;
    changed.template_arguments["reasoning_effort"] = "\"high\"";
    const TurnShape before = before_of(pair, keep);
    const TurnShape after = testing::turn(changed, keep, {.suffix = "Reasoning: high"});
    Figures figures;
    figures.reused = keep == Keep::nothing ? 500 : shared(before, after);
    const ReuseFacts facts{.matched = *figures.reused};
    const Explanation e = explain(&before, after, facts, figures);
    EXPECT_STREQ(to_string(e.cause), "template_or_option_changed");
    EXPECT_EQ(e.first->field, "reasoning_effort");
    if (keep == Keep::all) {
      EXPECT_EQ(e.first->new_text, "\"high\"");
    }
  }
}

TEST(Explain, TemplateThatShowsTheSameMessagesDifferently) {
  const Pair pair;
  for (const Keep keep : {Keep::all, Keep::tokens}) {
    const TurnShape before = before_of(pair, keep);
    const TurnShape after = testing::turn(pair.after, keep, {.suffix = "Made on Monday."});
    const Figures figures{.reused = shared(before, after)};
    const Explanation e = explain(&before, after, {}, figures);
    EXPECT_STREQ(to_string(e.cause), "template_or_option_changed");
    EXPECT_EQ(e.first->field, "template");
    if (keep == Keep::all) {
      EXPECT_NE(e.first->new_text.find("Made on Monday"), std::string::npos);
    }
  }
}

TEST(Explain, AnotherModel) {
  for (const Keep keep : kAll) {
    const TurnShape before = before_of({}, keep);
    TurnShape after = testing::turn(Pair().after, keep);
    after.model = "another";
    const Explanation e = explain(&before, after, {}, {.reused = 0});
    EXPECT_STREQ(to_string(e.cause), "model_changed");
    EXPECT_GT(e.tokens_lost, 1000);
  }
}

// --- the same text, but no state ---

Explanation without_state(Keep keep, Position reused, const ReuseFacts& facts,
                          bool same_run = true) {
  const TurnShape before = before_of({}, keep);
  const TurnShape after = testing::turn(Pair().after, keep);
  return explain(&before, after, facts, {.reused = reused, .same_run = same_run});
}

TEST(Explain, EvictedFromMemoryWithoutAStore) {
  for (const Keep keep : kAll) {
    const Explanation e = without_state(keep, 0, {.evicted_memory = 1000});
    EXPECT_STREQ(to_string(e.cause), "evicted");
    EXPECT_GT(e.tokens_lost, 900);
    EXPECT_FALSE(e.first.has_value()) << "nothing differs";
    EXPECT_NE(e.detail.find("1,000 tokens had left memory"), std::string::npos) << e.detail;
    EXPECT_NE(e.remedy.find("--store"), std::string::npos);
  }
}

TEST(Explain, EvictedFromMemoryBeforeItWasOnDisk) {
  const ReuseFacts facts{.stored = 10, .store_on = true, .evicted_memory = 1000};
  for (const Keep keep : kAll) {
    const Explanation e = without_state(keep, 10, facts);
    EXPECT_STREQ(to_string(e.cause), "evicted");
    EXPECT_NE(e.title.find("was not on disk"), std::string::npos);
    EXPECT_NE(e.remedy.find("--store-writes-per-day"), std::string::npos);
  }
}

TEST(Explain, EvictedFromTheDisk) {
  const ReuseFacts facts{.store_on = true, .evicted_memory = 900, .evicted_disk = 1000};
  for (const Keep keep : kAll) {
    const Explanation e = without_state(keep, 0, facts);
    EXPECT_STREQ(to_string(e.cause), "evicted");
    EXPECT_NE(e.title.find("evicted from the disk"), std::string::npos);
    EXPECT_NE(e.remedy.find("--store-size"), std::string::npos);
  }
}

TEST(Explain, WhatWasEvictedIsToBlameOnlyIfItWouldHaveSparedMuch) {
  const auto cause = [](Position reused, Position evicted) {
    return std::string(to_string(
        without_state(Keep::tokens, reused, {.store_on = true, .evicted_disk = evicted}).cause));
  };
  const Position all = testing::turn(Pair().after, Keep::tokens).history_end;
  ASSERT_GT(all, 900);
  EXPECT_EQ(cause(0, all), "evicted");
  EXPECT_EQ(cause(0, 100), "never_stored");
  EXPECT_EQ(cause(500, 500), "never_stored") << "it is what was reused";
  EXPECT_EQ(cause(500, all), "evicted");
}

TEST(Explain, NeverStored) {
  for (const Keep keep : kAll) {
    EXPECT_STREQ(to_string(without_state(keep, 0, {.store_on = true}).cause), "never_stored");
    const ReuseFacts part{.stored = 300, .store_on = true};
    EXPECT_STREQ(to_string(without_state(keep, 300, part).cause), "never_stored");
    const Explanation off = without_state(keep, 0, {}, false);
    EXPECT_STREQ(to_string(off.cause), "never_stored");
    EXPECT_EQ(off.title, "The server had been restarted");
    EXPECT_NE(off.remedy.find("--store"), std::string::npos);
    EXPECT_EQ(without_state(keep, 0, {}).title, "The conversation was not in memory");
  }
}

TEST(Explain, RestoreFailed) {
  const ReuseFacts facts{
      .store_on = true, .restores_failed = 1, .restore_problem = "a checksum does not match"};
  for (const Keep keep : kAll) {
    const Explanation e = without_state(keep, 0, facts);
    EXPECT_STREQ(to_string(e.cause), "restore_failed");
    EXPECT_NE(e.detail.find("a checksum does not match"), std::string::npos);
  }
}

TEST(Explain, ResumedFromAnEarlierPoint) {
  for (const Keep keep : kAll) {
    const TurnShape after = testing::turn(Pair().after, keep);
    const ReuseFacts facts{.matched = after.history_end - 40, .store_on = true};
    const Explanation e = without_state(keep, 400, facts);
    EXPECT_STREQ(to_string(e.cause), "partly_reused_granularity");
  }
}

TEST(Explain, GreaterLossDecidesWhereBothPlayAPart) {
  const Pair pair = system_pair("It is 07:12.", "It is 07:13.");
  const TurnShape before = before_of(pair, Keep::all);
  const TurnShape after = testing::turn(pair.after, Keep::all);
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

// 400 messages and some 100,000 tokens: the shape and the explanation together stay far below what
// a follow-up may cost.
TEST(Explain, LongConversationsAreCheap) {
  ChatRequest request = conversation("It is 07:12.");
  for (int i = 0; i < 198; ++i) {
    const std::string name = "m" + std::to_string(i) + "x";
    request.messages.push_back(message(Role::assistant, words(100, name + "a")));
    request.messages.push_back(message(Role::tool, "\"" + words(300, name + "t")));
  }
  ChatRequest next = follow_up(request);
  next.messages[0].content.replace(6, 5, "07:13");
  const TurnShape before = testing::turn(request, Keep::all);
  TurnShape after = testing::turn(next, Keep::all);
  const Prompt prompt = testing::prompt_of(*after.rendered);
  const Micros begin = system_clock().now();
  (void)make_shape(next, prompt, {});
  const Micros shaped = system_clock().now();
  const Explanation e = explain(&before, after, {}, {});
  const Micros explained = system_clock().now();
  EXPECT_STREQ(to_string(e.cause), "time_or_date");
  EXPECT_GT(after.prompt_tokens, 70'000);
  RecordProperty("make_shape_us", std::to_string(shaped - begin));
  RecordProperty("explain_us", std::to_string(explained - shaped));
  std::printf("make_shape %lld us, explain %lld us, shape %zu bytes\n",
              static_cast<long long>(shaped - begin), static_cast<long long>(explained - shaped),
              encode_shape(after).size());
  EXPECT_LT(explained - begin, 500'000);
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
