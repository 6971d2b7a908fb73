// What a server computes while its user reads, over HTTP: a template that drops reasoning makes the
// next prompt another one, and the follow-up must not wait for it.
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

// The same follow-up as the agent would send, sampled greedily.
Json greedy_follow_up(const AgentClient& agent) {
  AgentClient::Habits habits = thinking_agent();
  Json messages = Json::array({message("system", habits.system(0))});
  for (const Json& each : agent.messages()) messages.push_back(each);
  messages.push_back(message("user", "And what now? " + prose(30, 9)));
  Json body = request(messages, 24);
  body["tools"] = habits.tools(0);
  return body;
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

// Goal: a follow-up that comes before, in or after a re-warm says what a fresh server says, byte for
// byte. Method: greedy replies; the moments are seen in the log.
TEST(Rewarm, AFollowUpAtAnyMomentSaysWhatAFreshServerSays) {
  IdleServer fresh({"--no-rewarm", "--no-replay"});  // but for what the moments share
  for (const char* moment : {"at once", "begun", "finished"}) {
    SCOPED_TRACE(moment);
    IdleServer server;
    AgentClient agent = server.client(thinking_agent());
    agent.turn("Fix the parser.", 2);
    ASSERT_EQ(agent.steps().size(), 3U);
    const Json body = greedy_follow_up(agent);
    if (moment == std::string("begun")) {
      ASSERT_TRUE(eventually([&] { return server.rewarms_begun() > 0; }));
    } else if (moment == std::string("finished")) {
      ASSERT_TRUE(server.rested(1));
    }
    const Reply reply = chat(server.port(), body);
    const Reply expected = chat(fresh.port(), body);
    ASSERT_EQ(reply.status, 200) << reply.json;
    ASSERT_EQ(expected.status, 200) << expected.json;
    EXPECT_EQ(reply.timing("prompt_tokens"), expected.timing("prompt_tokens"));
    EXPECT_EQ(reply.text(), expected.text()) << reply.json["timings"] << "\n"
                                             << expected.json["timings"];
    EXPECT_GT(reply.timing("reused_tokens"), 0);
  }
}

}  // namespace
}  // namespace samovar::testing
