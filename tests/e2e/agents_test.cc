// Two coding agents against a real server: what they send, in the places and sizes they send it,
// and what of it is computed again. Where their habits let a prompt be kept, it is kept but for one
// token in a hundred; where they do not, the server says which habit it was.
//
// The model has random weights, but its replies are real: thought, text, calls of tools
// (agent_shapes.h), and they come back as such clients send them. What of a prompt is new:
// agent_client.h.
#include "tests/e2e/idle_server.h"
#include "tests/support/temporary_folder.h"

namespace samovar::testing {
namespace {

constexpr int kSplitCost = 128;  // tokens that canonical splits may cost
constexpr int kUbatch = 512;     // how far before a place its anchor may lie

// Claude Code behind a translating proxy: a stamp on top, the reminders in the first question,
// reasoning never sent back, arguments parsed and written anew.
AgentClient::Habits claude_code(int tools, int words) {
  AgentClient::Habits habits;
  habits.system = [](int request) -> Json {
    const auto part = [](const std::string& text) {
      return Json{{"type", "text"}, {"text", text}};
    };
    return {part(billing_stamp(request)), part("You are a coding agent.\n" + prose(900, 1)),
            part(environment_block() + git_status(0))};
  };
  habits.tools = [list = agent_tools(tools, words)](int) { return list; };
  habits.returns_reasoning = false;
  habits.fields = {{"metadata", {{"user_id", "user_a1_account_b2_session_c3"}}}};
  return habits;
}

// opencode, Qwen Code: everything in one system text with the folder's AGENTS.md behind it,
// reasoning sent back, arguments written anew, streaming.
AgentClient::Habits open_code(int tools, int words) {
  AgentClient::Habits habits;
  habits.system = [](int) -> Json {
    return "You are an agent for the command line.\n" + prose(800, 2) + environment_block() +
           "Instructions from: /home/ada/project/AGENTS.md\n" + prose(300, 3);
  };
  habits.tools = [list = agent_tools(tools, words)](int) { return list; };
  habits.streams = true;
  return habits;
}

// Three questions with loops of two or three calls; after each answer the server rests.
void work(IdleServer& server, AgentClient& agent, const std::string& first) {
  for (unsigned turn = 0; turn < 3; ++turn) {
    agent.turn(turn == 0 ? first : "And now? " + prose(60, 10 + turn), turn == 2 ? 3 : 2);
    if (::testing::Test::HasFatalFailure()) return;
    EXPECT_TRUE(server.rested(static_cast<int>(turn) + 1)) << "after turn " << turn;
  }
  ASSERT_EQ(agent.steps().size(), 10U);
  ASSERT_GT(agent.last().prompt(), 10'000);
}

// From the third request on what is computed again is less than a hundredth of the prompt, no miss
// is made of it, and what idle time computed was of use.
void expect_warm(const AgentClient& agent) {
  for (std::size_t i = 2; i < agent.steps().size(); ++i) {
    const Step& step = agent.steps()[i];
    SCOPED_TRACE("request " + std::to_string(i) + ": " + step.timings().dump());
    EXPECT_GT(step.fresh, 0);
    EXPECT_LE(step.again() * 100, step.prompt());
    EXPECT_EQ(step.cause(), "none");
    EXPECT_EQ(step.opens, step.timing("rewarmed_tokens") > 0);
  }
}

// Goal: the goal of the project, for an agent that alters what it sends back.
TEST(Agents, OneLikeClaudeCodeStaysWarmFromItsThirdTurnOn) {
  IdleServer server;
  AgentClient agent = server.client(claude_code(20, 240));
  work(server, agent, reminder("Contents of AGENTS.md:\n" + prose(400, 5)) + "Fix the parser.");
  expect_warm(agent);
  int restored = 0;
  for (const Step& step : agent.steps()) {
    EXPECT_EQ(step.timings()["neutralised"], Json::array({"claude-code-billing"}));
    restored += step.timing("reasoning_restored");
  }
  EXPECT_GT(restored, 0);
  EXPECT_NE(agent.last().timings()["session"], "user_a1_account_b2_session_c3");
}

TEST(Agents, OneLikeOpenCodeStaysWarmFromItsThirdTurnOn) {
  IdleServer server;
  // It asks for a title beside its first request.
  const Json title = {message("system", "You write titles. " + prose(200, 8)),
                      message("user", "Fix the parser.")};
  EXPECT_EQ(chat(server.port(), request(title, 20)).status, 200);
  AgentClient agent = server.client(open_code(20, 240));
  work(server, agent, "Fix the parser. " + prose(100, 4));
  expect_warm(agent);
}

// What the two above owe to exact replay: without it every call is computed again that its client
// wrote anew.
TEST(Agents, WithoutReplayCallsThatAreWrittenAnewAreComputedAgain) {
  IdleServer server({"--no-replay"});
  AgentClient agent = server.client(open_code(6, 60));
  agent.turn("Fix the parser.", 2);
  ASSERT_EQ(agent.steps().size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_GT(agent.steps()[i].again(), 60) << agent.steps()[i].timings();
    EXPECT_EQ(agent.steps()[i].timing("replayed_replies"), 0);
  }
}

// Field: opencode #23595. Only what stands behind the place that the reminder left is computed.
TEST(Agents, AReminderThatMovesIsNamedAndCostsWhatStandsBehindIt) {
  IdleServer server;
  AgentClient::Habits habits = open_code(6, 60);
  habits.reminder = "\n" + reminder("Your todo list is empty. " + prose(40, 6));
  AgentClient agent = server.client(habits);
  for (unsigned turn = 0; turn < 3; ++turn) {
    agent.turn("Question. " + prose(60, 10 + turn), turn < 2 ? 2 : 0);
    ASSERT_FALSE(HasFatalFailure());
  }
  ASSERT_EQ(agent.steps().size(), 7U);
  const Step& before = agent.steps()[3];
  const Step& step = agent.last();
  EXPECT_EQ(step.cause(), "history_edited") << step.timings();
  EXPECT_GT(step.lost(), kSplitCost);
  EXPECT_GE(step.timing("reused_tokens"), before.prompt() - before.fresh - kSplitCost);
  const Json why = agent.explanation(step);
  EXPECT_EQ(why["first_difference"]["role"], "user");
  // The messages of two turns: a question, two calls with results, an answer.
  EXPECT_EQ(why["first_difference"]["message"], 1 + 6) << why;
  EXPECT_NE(why["detail"].get<std::string>().find("<system-reminder>"), std::string::npos);
}

// Nothing can be kept, and no rule knows this client's id.
TEST(Agents, AnIdOnTopOfTheSystemPromptIsNamedEachTime) {
  IdleServer server;
  AgentClient::Habits habits = open_code(0, 0);
  habits.tools = [](int) { return Json(); };
  habits.system = [](int request) -> Json {
    return "Message 0b8a4f7e-52c3-4f0a-9c55-0d6f2f4be8a" + std::to_string(request) + "\n" +
           prose(1500, 1);
  };
  AgentClient agent = server.client(habits);
  for (unsigned turn = 0; turn < 4; ++turn) agent.turn("Question. " + prose(30, turn), 0);
  ASSERT_EQ(agent.steps().size(), 4U);
  for (std::size_t i = 1; i < 4; ++i) {
    const Step& step = agent.steps()[i];
    EXPECT_EQ(step.cause(), "unique_id") << step.timings();
    EXPECT_GT(step.lost(), 1500);
    EXPECT_NE(step.reply.head.find("x-samovar-miss: unique_id; tokens="), std::string::npos);
    const Json why = agent.explanation(step);
    EXPECT_NE(why["first_difference"]["new"].get<std::string>().find("0d6f2f4be8a"),
              std::string::npos);
    EXPECT_FALSE(why["remedy"].get<std::string>().empty());
  }
}

// Field: claude-code-cache-fix #11. The place is learned; from then on what stands before it stays.
TEST(Agents, AGitStatusThatChangesIsNamedAndTheToolsBeforeItStay) {
  IdleServer server;
  AgentClient::Habits habits = claude_code(6, 200);
  habits.system = [](int request) -> Json {
    return billing_stamp(request) + "\nYou are a coding agent.\n" + prose(600, 1) +
           environment_block() + git_status(request);
  };
  AgentClient agent = server.client(habits);
  agent.turn("Fix the parser.", 3);
  ASSERT_EQ(agent.steps().size(), 4U);
  for (std::size_t i = 2; i < 4; ++i) {
    const Step& step = agent.steps()[i];
    SCOPED_TRACE(step.timings().dump());
    EXPECT_EQ(step.cause(), "system_text_edited");
    const Json place = agent.explanation(step)["first_difference"];
    EXPECT_EQ(place["role"], "system");
    const int token = place["token"];
    EXPECT_GT(token, 2000);
    EXPECT_GE(step.timing("reused_tokens"), token - kUbatch - kSplitCost);
  }
}

// Field: opencode #23571. After a restart the tool servers answer in another order.
TEST(Agents, ToolsInAnotherOrderAfterARestartAreNamedOrSorted) {
  for (const bool sorts : {false, true}) {
    SCOPED_TRACE(sorts ? "--sort-tools" : "as they come");
    const TemporaryFolder folder;
    ServerProcess::Words options = {"-c", "16384", "--store-dir", folder.path()};
    if (sorts) options.push_back("--sort-tools");
    AgentClient::Habits habits = open_code(6, 100);
    const Json tools = habits.tools(0);
    habits.tools = [tools](int request) {
      return request == 0 ? tools : tools_in_another_order(tools);
    };
    ServerProcess first(options);
    AgentClient agent(first.port(), first.port(), habits);
    agent.ask("Fix the parser.");
    agent.step(true);
    ASSERT_EQ(first.end(), 0);
    const ServerProcess second(options);
    agent.move_to(second.port());
    agent.step(true);
    ASSERT_EQ(agent.steps().size(), 2U);
    const Step& step = agent.last();
    SCOPED_TRACE(step.timings().dump());
    EXPECT_EQ(step.cause(), sorts ? "none" : "tool_order");
    EXPECT_EQ(step.timings()["source"] == "store", sorts);
    EXPECT_EQ(step.timings()["tool_order"] == "sorted", sorts);
    if (sorts) {
      EXPECT_LE(step.again(), kSplitCost);
    } else {
      EXPECT_GT(step.lost(), 1000);
    }
  }
}

}  // namespace
}  // namespace samovar::testing
