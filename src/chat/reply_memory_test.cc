// Goal: replies are found by what the messages before them mean and by their calls' ids, newest
// first, within a bound of bytes; and what was forgotten is found by nothing.
// Method: keys of conversations spelled differently; a small memory filled beyond its bound, also
// by several threads.
#include "chat/reply_memory.h"

#include <algorithm>
#include <set>
#include <thread>

#include "chat/replay_testing.h"

namespace samovar {
namespace {

using testing::call_message;
using testing::message;
using testing::tool_message;

Sha256 key(const std::vector<ChatMessage>& messages) { return dialogue_keys(messages).whole; }

std::vector<ChatMessage> dialogue() {
  std::vector<ChatMessage> messages = {
      message(Role::system, "It is 12:00."), message(Role::user, "Weather?"),
      call_message("call_1", "get_weather", R"({"city":"Oslo","days":1})"),
      tool_message("call_1", "grey"), message(Role::assistant, "Grey.")};
  messages[2].reasoning = "Look it up.";
  messages[2].content = "I look.";
  return messages;
}

TEST(DialogueKeys, WhatClientsChangeWithoutMeaningItDoesNotMatter) {
  const Sha256 known = key(dialogue());
  auto other = dialogue();
  other[0].content = "It is 12:01.";
  other[2].reasoning = "";
  other[2].content = " I look.\n";
  other[2].tool_calls[0].id = "toolu_9";
  other[2].tool_calls[0].arguments = "{ \"days\": 1.0, \"city\": \"\\u004fslo\" }";
  other[3].tool_call_id = "toolu_9";
  other[3].name = "get_weather";
  other[4].content = "\n Grey. ";
  other.insert(other.begin(), message(Role::developer, "Be terse."));
  EXPECT_EQ(key(other), known);
  other.erase(other.begin(), other.begin() + 2);
  EXPECT_EQ(key(other), known);
}

TEST(DialogueKeys, EveryChangeOfMeaningMatters) {
  const std::vector<void (*)(std::vector<ChatMessage>&)> changes = {
      [](auto& m) { m[1].content = "Weather? "; },
      [](auto& m) { m[1].role = Role::tool; },
      [](auto& m) { m[2].content = "I  look."; },
      [](auto& m) { m[2].tool_calls[0].name = "get_time"; },
      [](auto& m) { m[2].tool_calls[0].arguments = R"({"city":"Oslo","days":2})"; },
      [](auto& m) { m[2].tool_calls[0].arguments = R"({"city":"Oslo"})"; },
      [](auto& m) { m[2].tool_calls.push_back(m[2].tool_calls[0]); },
      [](auto& m) { m[2].tool_calls.clear(); },
      [](auto& m) { m[3].content = "grey\n"; },
      [](auto& m) { m.pop_back(); },
      [](auto& m) { m.push_back(m.back()); },
      [](auto& m) { std::swap(m[1], m[4]); },
      [](auto& m) { m[4].content.clear(); },
  };
  std::set<Sha256> seen = {key(dialogue())};
  for (const auto& change : changes) {
    auto other = dialogue();
    change(other);
    EXPECT_TRUE(seen.insert(key(other)).second);
  }
}

TEST(DialogueKeys, AReplysContextIsTheWholeOfWhatStoodBeforeIt) {
  const auto messages = dialogue();
  const DialogueKeys keys = dialogue_keys(messages);
  ASSERT_EQ(keys.replies.size(), 2U);
  for (const DialogueKeys::Reply& reply : keys.replies) {
    const auto end = messages.begin() + static_cast<std::ptrdiff_t>(reply.message);
    EXPECT_EQ(reply.context, key({messages.begin(), end}));
  }
}

std::shared_ptr<const SampledReply> reply_of(int number, std::size_t size = 10) {
  auto reply = std::make_shared<SampledReply>();
  reply->primer = {1, 2};
  reply->tokens.assign(size, number);
  reply->replayable = true;
  return reply;
}

Sha256 place(int number) { return key({message(Role::user, std::to_string(number))}); }

TEST(ReplyMemory, FindsWhatWasSampledAtAPlaceNewestFirst) {
  ReplyMemory memory;
  const auto first = reply_of(1);
  const auto second = reply_of(2);
  memory.remember(place(1), {"call_a", ""}, first);
  memory.remember(place(1), {"call_b"}, second);
  memory.remember(place(2), {}, reply_of(3));
  EXPECT_EQ(memory.find(place(1)), (std::vector{second, first}));
  EXPECT_EQ(memory.find_call("call_a"), first);
  EXPECT_EQ(memory.find_call("call_b"), second);
  EXPECT_EQ(memory.find_call(""), nullptr);
  EXPECT_TRUE(memory.find(place(3)).empty());
  // The same tokens again are the same reply, and it is the newest.
  memory.remember(place(1), {"call_c"}, reply_of(1));
  EXPECT_EQ(memory.find(place(1)), (std::vector{first, second}));
  EXPECT_EQ(memory.find_call("call_c"), first);
  EXPECT_EQ(memory.find_call("call_a"), first);
  EXPECT_EQ(memory.size(), 3U);
}

TEST(ReplyMemory, WhatIsForgottenIsFoundByNothing) {
  ReplyMemory memory;
  memory.remember(place(1), {"call_a"}, reply_of(1));
  memory.remember(place(1), {"call_b"}, reply_of(2));
  memory.remember(place(2), {"call_c"}, reply_of(3));
  memory.forget(place(1));
  EXPECT_TRUE(memory.find(place(1)).empty());
  EXPECT_EQ(memory.find_call("call_a"), nullptr);
  EXPECT_EQ(memory.find_call("call_b"), nullptr);
  EXPECT_NE(memory.find_call("call_c"), nullptr);
  memory.forget(place(7));
  memory.clear();
  EXPECT_EQ(memory.bytes(), 0U);
  EXPECT_EQ(memory.find_call("call_c"), nullptr);
}

TEST(ReplyMemory, StaysWithinItsBoundAndKeepsWhatIsUsed) {
  constexpr std::size_t kBound = 100'000;
  ReplyMemory memory(kBound);
  const auto used = reply_of(0);
  memory.remember(place(0), {"call_0"}, used);
  for (int i = 1; i < 1000; ++i) {
    memory.remember(place(i), {"call_" + std::to_string(i)}, reply_of(i, 50));
    ASSERT_LE(memory.bytes(), kBound);
    ASSERT_EQ(memory.find(place(0)).size(), 1U) << i;
  }
  EXPECT_GT(memory.size(), 20U);
  EXPECT_EQ(memory.find_call("call_1"), nullptr);
  EXPECT_NE(memory.find_call("call_999"), nullptr);
  // Not kept: larger than a quarter, or of no use. Many at one place: the newest.
  memory.remember(place(2000), {}, reply_of(1, kBound));
  EXPECT_TRUE(memory.find(place(2000)).empty());
  auto opener_inside = std::make_shared<SampledReply>(*reply_of(1));
  opener_inside->replayable = false;
  memory.remember(place(2001), {}, opener_inside);
  memory.remember(place(2001), {}, nullptr);
  EXPECT_TRUE(memory.find(place(2001)).empty());
  for (int i = 0; i < 20; ++i) memory.remember(place(2002), {}, reply_of(i));
  const auto here = memory.find(place(2002));
  ASSERT_EQ(here.size(), ReplyMemory::kPerContext);
  EXPECT_EQ(here.front()->tokens.front(), 19);
  EXPECT_EQ(here.back()->tokens.front(), 12);
  // One reply sampled again and again with new ids.
  const std::size_t before = memory.bytes();
  for (int i = 0; i < 2000; ++i) {
    memory.remember(place(2003), {"again_" + std::to_string(i)}, reply_of(5));
  }
  EXPECT_LT(memory.bytes(), before + 20'000);
  EXPECT_NE(memory.find_call("again_1999"), nullptr);
}

TEST(ReplyMemory, MayBeUsedByManyThreads) {
  ReplyMemory memory(50'000);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&memory, t] {
      for (int i = 0; i < 500; ++i) {
        memory.remember(place(i % 50), {"call_" + std::to_string(i % 70)}, reply_of(t, 20));
        memory.find(place((i + t) % 50));
        memory.find_call("call_" + std::to_string(i % 30));
        if (i % 100 == 99) memory.forget(place(i % 50));
      }
    });
  }
  threads.clear();
  EXPECT_LE(memory.bytes(), 50'000U);
  for (int i = 0; i < 50; ++i) memory.forget(place(i));
  EXPECT_EQ(memory.size(), 0U);
  EXPECT_EQ(memory.bytes(), 0U);
}

}  // namespace
}  // namespace samovar
