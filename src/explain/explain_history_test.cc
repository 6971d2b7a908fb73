// Goal: the classes of changes in the history, in replies and in reasoning (explain_test.cc).
#include "explain/explain.h"

#include "explain/explain_pairs.h"

namespace samovar {
namespace {

using namespace testing;

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
  TurnShape before = turn(pair.before, Keep::all);
  add_reply(before, {}, 0, false);
  const TurnShape after = turn(pair.after, Keep::all);
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

}  // namespace
}  // namespace samovar
