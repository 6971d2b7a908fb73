// What a server computes while its user reads, over HTTP: a template that drops reasoning makes the
// next prompt another one, and the follow-up must not wait for it.
#include <algorithm>
#include <cmath>

#include "tests/e2e/idle_server.h"

namespace samovar::testing {
namespace {

constexpr int kSplitCost = 128;  // tokens that canonical splits may cost

AgentClient::Habits thinking_agent() {
  AgentClient::Habits habits;
  habits.system = [](int) -> Json { return "You are an agent. " + prose(600, 1); };
  habits.tools = [list = agent_tools(3, 60)](int) { return list; };
  return habits;
}

// A follow-up to what the agent has, whose reply tells how likely its first tokens are.
Json follow_up(const AgentClient& agent, const std::string& text) {
  const AgentClient::Habits habits = thinking_agent();
  Json messages = Json::array({message("system", habits.system(0))});
  for (const Json& each : agent.messages()) messages.push_back(each);
  messages.push_back(message("user", text));
  Json body = request(messages, 1);
  body["tools"] = habits.tools(0);
  body["logprobs"] = true;
  body["top_logprobs"] = 8;
  return body;
}

// The largest difference between what two replies say of the same first tokens.
double difference(const Reply& one, const Reply& other) {
  const auto first = [](const Reply& reply) -> Json {
    return reply.json["choices"][0]["logprobs"]["content"][0]["top_logprobs"];
  };
  double largest = 0;
  int compared = 0;
  for (const Json& left : first(one)) {
    for (const Json& right : first(other)) {
      if (left["bytes"] != right["bytes"]) continue;
      const double apart = left["logprob"].get<double>() - right["logprob"].get<double>();
      largest = std::max(largest, std::abs(apart));
      ++compared;
    }
  }
  return compared > 4 ? largest : 1e9;
}

TEST(Rewarm, AFollowUpAfterAPauseComputesItsOwnTokensOnly) {
  IdleServer server;
  AgentClient agent = server.client(thinking_agent());
  agent.turn("Fix the parser.", 3);
  ASSERT_TRUE(server.rested(1));
  agent.turn("And what now? " + prose(30, 9), 0);
  ASSERT_EQ(agent.steps().size(), 5U);
  const Step& step = agent.last();
  EXPECT_GT(step.timing("rewarmed_tokens"), 600) << step.timings();
  EXPECT_LE(step.again(), kSplitCost) << step.timings();
  EXPECT_EQ(step.cause(), "none");
  // What it had computed is used once, and not counted twice.
  EXPECT_EQ(step.prompt(), step.computed() + step.timing("reused_tokens"));
}

TEST(Rewarm, WithoutItTheFollowUpComputesTheLoopAgainAndSaysWhy) {
  IdleServer server({"--no-rewarm"});
  AgentClient agent = server.client(thinking_agent());
  agent.turn("Fix the parser.", 3);
  agent.turn("And what now? " + prose(30, 9), 0);
  ASSERT_EQ(agent.steps().size(), 5U);
  const Step& step = agent.last();
  EXPECT_EQ(server.rewarms_begun(), 0);
  EXPECT_EQ(step.timing("rewarmed_tokens"), 0);
  EXPECT_GT(step.again(), 600) << step.timings();
  EXPECT_EQ(step.cause(), "reasoning_dropped_by_template") << step.timings();
  const Json why = agent.explanation(step);
  EXPECT_EQ(why["first_difference"]["message"], 2) << why;
  EXPECT_EQ(why["first_difference"]["role"], "assistant");
}

// Goal: a follow-up that comes before, in or after a re-warm gets what a server gives that has
// never warmed anything. Method: the moments are seen in the log; compared is how likely the first
// tokens are, since lines beside it may change rounding. Another question shows what a difference
// is.
TEST(Rewarm, AFollowUpAtAnyMomentGetsWhatAServerWithoutItGives) {
  constexpr double kRounding = 0.02;
  IdleServer other({"--no-rewarm", "--no-replay"});
  for (const std::string moment : {"at once", "begun", "finished"}) {
    SCOPED_TRACE(moment);
    IdleServer server;
    AgentClient agent = server.client(thinking_agent());
    agent.turn("Fix the parser.", 2);
    ASSERT_EQ(agent.steps().size(), 3U);
    const Json body = follow_up(agent, "And what now? " + prose(30, 9));
    if (moment == "begun") {
      ASSERT_TRUE(eventually([&] { return server.rewarms_begun() > 0; }));
    } else if (moment == "finished") {
      ASSERT_TRUE(server.rested(1));
    }
    const Reply reply = chat(server.port(), body);
    const Reply expected = chat(other.port(), body);
    ASSERT_EQ(reply.status, 200) << reply.json;
    ASSERT_EQ(expected.status, 200) << expected.json;
    EXPECT_EQ(reply.timing("prompt_tokens"), expected.timing("prompt_tokens"));
    EXPECT_LT(difference(reply, expected), kRounding) << reply.json << "\n" << expected.json;
    EXPECT_GT(reply.timing("reused_tokens"), 0);
    const Reply another = chat(other.port(), follow_up(agent, "Then what? " + prose(30, 8)));
    EXPECT_GT(difference(reply, another), kRounding) << "the comparison sees nothing";
  }
}

}  // namespace
}  // namespace samovar::testing
