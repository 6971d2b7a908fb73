// Conversations with a real server over HTTP: what is answered, and what is computed for it.
#include <thread>

#include "tests/e2e/chat_client.h"
#include "tests/e2e/server_process.h"

namespace samovar::testing {
namespace {

constexpr int kSplitCost = 128;  // tokens that canonical splits may add to what is new

// Goal: a follow-up computes its new tokens only. Method: three turns over a long system prompt;
// what each computes is held against what it shares with the turn before.
TEST(Conversation, FollowUpsComputeOnlyWhatIsNew) {
  for (const char* model :
       {"tiny-qwen35moe", "tiny-qwen35", "tiny-qwen3", "tiny-gemma3", "tiny-granitehybrid"}) {
    SCOPED_TRACE(model);
    const ServerProcess server({"-c", "16384"}, model);
    Json messages = {message("system", prose(1500, 1))};
    int reused_before = -1;
    for (unsigned turn = 0; turn < 3; ++turn) {
      messages.push_back(message("user", "And now? " + prose(150, turn + 2)));
      const Reply reply = chat(server.port(), request(messages, 24));
      ASSERT_EQ(reply.status, 200) << reply.json;
      const int prompt = reply.timing("prompt_tokens");
      const int reused = reply.timing("reused_tokens");
      const int computed = reply.timing("computed_tokens");
      EXPECT_EQ(prompt, reused + computed);
      EXPECT_EQ(reply.json["usage"]["prompt_tokens_details"]["cached_tokens"], reused);
      EXPECT_EQ(reply.json["usage"]["prompt_tokens"], prompt);
      EXPECT_GT(reused, reused_before);
      if (turn > 0) {
        EXPECT_LE(computed, prompt - reply.timing("matched_tokens") + kSplitCost);
        EXPECT_LT(computed, prompt / 3);
      }
      reused_before = turn == 0 ? 0 : reused;
      Json answer = reply.json["choices"][0]["message"];
      answer["role"] = "assistant";
      messages.push_back(answer);
    }
  }
}

// Goal: streaming changes how a reply travels, not what it says; events come in their order.
TEST(Conversation, StreamedReplyIsTheSameReplyInOrder) {
  const ServerProcess server({"-c", "4096"});
  Json body = request({message("user", "Tell me " + prose(30, 5))}, 40);
  const Reply whole = chat(server.port(), body);
  ASSERT_EQ(whole.status, 200) << whole.json;
  body["stream_options"] = {{"include_usage", true}};
  ChatStreamClient stream(server.port(), body);
  std::string reasoning;
  std::string content;
  std::vector<Json> events;
  while (auto event = stream.next_json()) events.push_back(*event);
  EXPECT_TRUE(stream.done()) << "the stream ends with [DONE]";
  EXPECT_FALSE(stream.next().has_value()) << "and with nothing after it";
  ASSERT_GE(events.size(), 3U);
  EXPECT_EQ(events[0]["choices"][0]["delta"]["role"], "assistant");
  for (const Json& event : events) {
    if (event["choices"].empty()) continue;
    const Json& delta = event["choices"][0]["delta"];
    reasoning += delta.value("reasoning_content", "");
    content += delta.value("content", "");
  }
  EXPECT_EQ(reasoning + "|" + content, whole.text());
  const Json& last = events.back();
  EXPECT_TRUE(last["choices"].empty());
  EXPECT_EQ(last["usage"]["completion_tokens"], whole.json["usage"]["completion_tokens"]);
  EXPECT_EQ(events[events.size() - 2]["choices"][0]["finish_reason"],
            whole.json["choices"][0]["finish_reason"]);
}

// Goal: conversations at the same time keep their own memory. Method: two at once, two turns each;
// every second turn must find its own first one.
TEST(Conversation, TwoAtOnceDoNotMix) {
  const ServerProcess server({"-c", "16384"});
  std::vector<Reply> second(2);
  std::vector<int> first_prompt(2);
  const auto converse = [&](unsigned index) {
    Json messages = {message("system", prose(400, index + 10)), message("user", "Begin.")};
    const Reply first = chat(server.port(), request(messages, 16));
    ASSERT_EQ(first.status, 200) << first.json;
    first_prompt[index] = first.timing("prompt_tokens");
    messages.push_back(message("assistant", "Well."));
    messages.push_back(message("user", prose(30, index + 20)));
    second[index] = chat(server.port(), request(messages, 16));
  };
  std::thread other([&] { converse(1); });
  converse(0);
  other.join();
  for (unsigned i = 0; i < 2; ++i) {
    ASSERT_EQ(second[i].status, 200) << second[i].json;
    EXPECT_GE(second[i].timing("reused_tokens"), first_prompt[i] - kSplitCost);
    EXPECT_EQ(second[i].json["usage"]["completion_tokens"], 16);
  }
}

}  // namespace
}  // namespace samovar::testing
