// What the tests of explain() share: a conversation and its follow-up, and what is explained of the
// two with texts, with tokens only and with hashes only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "explain/explain.h"
#include "explain/explain_testing.h"

namespace samovar::testing {

inline ChatRequest conversation(const std::string& system = "You are a helpful assistant.") {
  ChatRequest request;
  request.tools = {tool("read_file"), tool("list_files"), tool("write_file")};
  request.messages = {message(Role::system, system + " " + words(300, "rule")),
                      message(Role::user, words(200, "question")),
                      message(Role::assistant, words(200, "answer")),
                      message(Role::user, words(60, "second"))};
  return request;
}

inline const ChatMessage& answer() {
  static const ChatMessage reply = message(Role::assistant, words(250, "reply"));
  return reply;
}

inline ChatRequest follow_up(const ChatRequest& request, const ChatMessage& reply = answer()) {
  ChatRequest next = request;
  next.messages.push_back(reply);
  next.messages.push_back(message(Role::user, words(30, "third")));
  return next;
}

// What a server reuses that keeps everything: up to the first difference.
inline Position shared(const TurnShape& before, const TurnShape& after) {
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
  Template how = {};
};

inline TurnShape before_of(const Pair& pair, Keep keep) {
  TurnShape shape = turn(pair.before, keep, pair.how);
  reply_to(shape, pair.reply, keep);
  return shape;
}

inline Explanation explained(const Pair& pair, Keep keep) {
  // How much was reused is a fact, whatever is kept of the turns.
  const TurnShape exact_before = before_of(pair, Keep::tokens);
  const TurnShape exact_after = turn(pair.after, Keep::tokens, pair.how);
  Figures figures;
  figures.reused = shared(exact_before, exact_after);
  figures.prefill_us_per_token = 10'000;
  ReuseFacts facts;
  facts.matched = *figures.reused;
  facts.store_on = true;
  const TurnShape before = before_of(pair, keep);
  const TurnShape after = turn(pair.after, keep, pair.how);
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

inline constexpr Keep kAll[] = {Keep::all, Keep::tokens, Keep::nothing};
inline constexpr Keep kHashes[] = {Keep::tokens, Keep::nothing};

// The class with texts, and the coarser one without.
inline void expect_cause(const Pair& pair, Cause with_texts, Cause without) {
  EXPECT_STREQ(to_string(explained(pair, Keep::all).cause), to_string(with_texts));
  for (const Keep keep : kHashes) {
    EXPECT_STREQ(to_string(explained(pair, keep).cause), to_string(without))
        << (keep == Keep::tokens ? "with tokens" : "with hashes only");
  }
}

// One that differs in its system prompt only.
inline Pair system_pair(const std::string& before, const std::string& after) {
  Pair pair;
  pair.before = conversation(before);
  pair.after = follow_up(conversation(after));
  return pair;
}

}  // namespace samovar::testing
