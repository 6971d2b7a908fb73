// Goal: prompts are the same for the same seed, unlike all others from their first words on, about
// as long as wished, and asked in a form that servers understand.
#include "bench/prompts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace samovar::bench {
namespace {

using Json = nlohmann::json;

const WordCost kCost{.tokens_per_word = 1.5, .tokens_per_message = 8};

double tokens_of(const std::vector<Message>& history) {
  double sum = kCost.tokens_per_message;
  for (const Message& message : history) {
    const auto words = static_cast<double>(std::ranges::count(message.content, ' ') + 1);
    sum += kCost.tokens_per_message + words * kCost.tokens_per_word;
  }
  return sum;
}

TEST(Prompts, TheSameSeedGivesTheSameBytes) {
  EXPECT_EQ(prose(50, 7), prose(50, 7));
  EXPECT_NE(prose(50, 7), prose(50, 8));
  EXPECT_EQ(make_history(5000, 500, 3, kCost), make_history(5000, 500, 3, kCost));
  // Not only on this machine: the generator and its use are fixed.
  EXPECT_EQ(prose(6, 1), prose(6, 1));
  EXPECT_EQ(mix_seed(1, 2, 3), mix_seed(1, 2, 3));
  EXPECT_NE(mix_seed(1, 2, 3), mix_seed(1, 3, 2));
}

TEST(Prompts, NoTwoConversationsBeginAlike) {
  std::set<std::string> beginnings;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    beginnings.insert(
        make_history(2000, 500, mix_seed(1, seed, 0), kCost)[0].content.substr(0, 20));
  }
  EXPECT_EQ(beginnings.size(), 500U);
}

TEST(Prompts, HistoriesHaveTheirLengthAndEndWithAQuestion) {
  for (const std::int64_t tokens : {128, 1000, 6000, 30000, 100000}) {
    for (const std::int64_t each : {100, 500, 4000}) {
      const auto history = make_history(tokens, each, 5, kCost);
      EXPECT_EQ(history.front().role, "system");
      EXPECT_EQ(history.back().role, "user");
      for (std::size_t i = 1; i < history.size(); ++i) {
        EXPECT_EQ(history[i].role, i % 2 == 1 ? "user" : "assistant");
      }
      const auto wished = static_cast<double>(tokens);
      EXPECT_NEAR(tokens_of(history), wished, 40 + wished * 0.05) << tokens << " in " << each;
    }
  }
}

TEST(Prompts, BodiesAreGreedyStreamedAndCounted) {
  BodySettings settings{.max_tokens = 9, .model = "m", .extra = R"({"top_k":3})"};
  const Json body = Json::parse(chat_body({{"user", "a \"b\""}}, settings));
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["messages"][0]["content"], "a \"b\"");
  EXPECT_EQ(body["max_tokens"], 9);
  EXPECT_EQ(body["temperature"], 0);
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body["ignore_eos"], true);
  EXPECT_EQ(body["top_k"], 3);
  EXPECT_EQ(chat_body({{"user", "a"}}, settings), chat_body({{"user", "a"}}, settings));
}

TEST(Prompts, WhatAServerRefusesIsLeftOut) {
  BodySettings settings;
  EXPECT_FALSE(refused_field(500, "ignore_eos", settings));
  EXPECT_FALSE(refused_field(400, "the prompt is too long", settings));
  EXPECT_EQ(refused_field(400, "unknown field 'ignore_eos'", settings), "ignore_eos");
  settings.left_out.insert("ignore_eos");
  EXPECT_FALSE(refused_field(400, "unknown field 'ignore_eos'", settings));
  EXPECT_FALSE(Json::parse(chat_body({{"user", "a"}}, settings)).contains("ignore_eos"));
}

}  // namespace
}  // namespace samovar::bench
