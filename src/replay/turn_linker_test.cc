// Goal: of requests with their whole history only what is new is kept, and the turn that each
// follows is the right one: whatever a client makes of a reply, edits, forks, compaction, overlap.
#include "replay/turn_linker.h"

#include <gtest/gtest.h>

namespace samovar::replay {
namespace {

ChatMessage user(const std::string& text) { return {.role = Role::user, .content = text}; }
ChatMessage said(const std::string& text) { return {.role = Role::assistant, .content = text}; }

class TurnLinkerTest : public ::testing::Test {
 protected:
  // A turn of one second that begins two seconds after the one before.
  TraceTurn link(const std::string& id, std::vector<ChatMessage> messages, const std::string& reply,
                 bool cut = false) {
    request.messages = std::move(messages);
    WholeTurn turn{.id = id, .session = session, .arrived_ms = now, .ended_ms = now + 1000};
    turn.request = &request;
    turn.settings.temperature = 0;
    turn.reply = TraceReply{.message = said(reply), .finish = "stop", .cut = cut, .tokens = {}};
    now += 3000;
    return linker.link(std::move(turn));
  }

  TurnLinker linker;
  ChatRequest request;
  std::string session;
  std::int64_t now = 0;
  const ChatMessage system{.role = Role::system, .content = "be short"};
};

TEST_F(TurnLinkerTest, AConversationIsWrittenOnce) {
  const TraceTurn a = link("a", {system, user("one")}, "first");
  EXPECT_TRUE(a.after.empty());
  EXPECT_EQ(a.messages.size(), 2U);
  EXPECT_TRUE(a.tools.has_value());
  EXPECT_TRUE(a.settings.has_value());
  const TraceTurn b = link("b", {system, user("one"), said(" first\n"), user("two")}, "second");
  EXPECT_EQ(b.after, "a");
  EXPECT_EQ(b.keep, 2U);
  EXPECT_EQ(b.returned, Returned::whole);
  ASSERT_EQ(b.messages.size(), 1U);
  EXPECT_EQ(b.wait_ms, 2000);
  EXPECT_EQ(b.wait, WaitKind::think);
  EXPECT_FALSE(b.tools.has_value());
  EXPECT_FALSE(b.settings.has_value());
}

TEST_F(TurnLinkerTest, AnEditKeepsWhatIsBeforeIt) {
  link("a", {system, user("one")}, "first");
  link("b", {system, user("one"), said("first"), user("two")}, "second");
  const TraceTurn c = link("c", {system, user("one"), said("first"), user("TWO")}, "third");
  EXPECT_EQ(c.after, "a");  // it goes on from there
  EXPECT_EQ(c.returned, Returned::whole);
  EXPECT_EQ(c.messages.size(), 1U);
}

TEST_F(TurnLinkerTest, AReplyInOtherWordsIsNewText) {
  link("a", {system, user("one")}, "first");
  const TraceTurn b = link("b", {system, user("one"), said("FIRST"), user("two")}, "second");
  EXPECT_EQ(b.after, "a");
  EXPECT_EQ(b.keep, 2U);
  EXPECT_EQ(b.returned, Returned::no);
  EXPECT_EQ(b.messages.size(), 2U);
}

TEST_F(TurnLinkerTest, OnlyASharedSystemPromptIsNoConversation) {
  link("a", {system, user("one")}, "first");
  const TraceTurn b = link("b", {system, user("other")}, "second");
  EXPECT_TRUE(b.after.empty());
  EXPECT_EQ(b.messages.size(), 2U);
  session = "named";
  link("c", {system, user("three")}, "third");
  const TraceTurn d = link("d", {system, user("a summary")}, "fourth");  // compacted
  EXPECT_EQ(d.after, "c");
  EXPECT_EQ(d.keep, 1U);
}

TEST_F(TurnLinkerTest, WhatRunsSideBySideDoesNotFollow) {
  link("a", {system, user("one")}, "first");
  now = 500;  // before "a" has ended
  const TraceTurn b = link("b", {system, user("one"), said("first"), user("two")}, "second");
  EXPECT_TRUE(b.after.empty());
}

TEST_F(TurnLinkerTest, AnInterruptFollowsTheReplyThatItCut) {
  link("a", {system, user("one")}, "first and more", true);
  now = 900;
  const TraceTurn b = link("b", {system, user("one"), said("first"), user("stop")}, "second");
  EXPECT_EQ(b.after, "a");
  EXPECT_EQ(b.returned, Returned::whole);
  EXPECT_EQ(b.wait_ms, 0);
}

TEST_F(TurnLinkerTest, ForgetsTheOldest) {
  linker = TurnLinker({.turns = 2, .messages = 100});
  link("a", {user("one")}, "first");
  link("b", {user("x")}, "y");
  link("c", {user("z")}, "z");
  EXPECT_TRUE(link("d", {user("one"), said("first"), user("two")}, "second").after.empty());
  linker.forget();
  EXPECT_TRUE(link("e", {user("z"), said("z"), user("two")}, "third").after.empty());
}

TEST(Returns, KnowsAReplyInItsClientsWords) {
  TraceReply reply;
  reply.message.content = "text";
  reply.message.reasoning = "thought";
  reply.message.tool_calls = {{"c1", "f", R"({"a":1,"b":[2]})"}};
  ChatMessage message = reply.message;
  EXPECT_EQ(returns(message, reply), Returned::whole);
  message.tool_calls[0].arguments = R"( { "b" : [2], "a" : 1 } )";
  message.reasoning.clear();
  EXPECT_EQ(returns(message, reply), Returned::without_reasoning);
  message.tool_calls[0].arguments = R"({"a":2,"b":[2]})";
  EXPECT_EQ(returns(message, reply), Returned::no);
  message = reply.message;
  message.tool_calls[0].id = "c2";
  EXPECT_EQ(returns(message, reply), Returned::no);
  message = reply.message;
  message.content = "te";
  EXPECT_EQ(returns(message, reply), Returned::no);
}

TEST(Returns, ArgumentsTooDeepToCompareAreNotTheSame) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  ChatMessage message{.role = Role::assistant};
  message.tool_calls = {{"c", "f", deep}};
  TraceReply reply;
  reply.message = message;
  EXPECT_EQ(returns(message, reply), Returned::whole);
  message.tool_calls[0].arguments += ' ';
  EXPECT_EQ(returns(message, reply), Returned::no);
}

}  // namespace
}  // namespace samovar::replay
