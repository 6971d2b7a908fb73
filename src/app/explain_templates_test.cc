// Goal: with a real template and tokeniser, what a server sees of a thinking agent's turns is
// explained as what it is. Method: turns of Qwen3.5's template with the small test model, replies
// sampled as the model would, and what a server that keeps everything would reuse.
#include <algorithm>
#include <fstream>
#include <memory>

#include "chat/offline_chat.h"
#include "explain/explain.h"

namespace samovar::app {
namespace {

const OfflineChat* model() {
  static const std::unique_ptr<OfflineChat> chat = [] {
    auto opened = OfflineChat::open(SAMOVAR_MODELS "/tiny-qwen35moe.gguf", {});
    return opened ? std::move(*opened) : nullptr;
  }();
  return chat.get();
}

ChatMessage message(Role role, std::string content) {
  ChatMessage made;
  made.role = role;
  made.content = std::move(content);
  return made;
}

ChatMessage thinking_call(std::string thought, std::string path) {
  ChatMessage made = message(Role::assistant, "");
  made.reasoning = std::move(thought);
  made.tool_calls.push_back({"call_1", "read_file", "{\"path\": \"" + path + "\"}"});
  return made;
}

std::string prose(int words, const std::string& topic) {
  std::string text;
  for (int i = 0; i < words; ++i) text += topic + " number " + std::to_string(i) + ", ";
  return text + "and so on.";
}

struct Turn {
  TurnShape shape;
  RenderedChat chat;
};

Turn turn_of(const ChatRequest& request) {
  auto rendered = model()->format().render(request);
  EXPECT_TRUE(rendered.has_value()) << (rendered ? "" : rendered.error().describe());
  Turn turn;
  if (!rendered) return turn;
  ShapeOrigin origin;
  origin.turn_id = "chatcmpl-1";
  origin.keeps_reasoning = keeps_reasoning(model()->format(), request);
  turn.shape = make_shape(request, rendered->prompt, origin);
  turn.shape.request = std::make_shared<const ChatRequest>(request);
  turn.shape.rendered = std::make_shared<const std::string>(rendered->text);
  turn.shape.tokens = std::make_shared<const Tokens>(rendered->prompt.tokens);
  turn.chat = std::move(*rendered);
  return turn;
}

// The reply as the model writes it, behind the primer's "<think>\n".
void reply_to(Turn& turn, const ChatMessage& reply, const std::string& sampled) {
  const Tokens tokens = model()->format().tokenize(sampled);
  add_reply(turn.shape, reply, static_cast<Position>(tokens.size()), true);
  turn.shape.reply_text = std::make_shared<const ChatMessage>(reply);
  Tokens all = *turn.shape.tokens;
  all.insert(all.end(), tokens.begin(), tokens.end());
  turn.shape.tokens = std::make_shared<const Tokens>(std::move(all));
}

Explanation explained(const Turn& before, const Turn& after) {
  const Tokens& a = *before.shape.tokens;
  const Tokens& b = *after.shape.tokens;
  const auto size = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  Figures figures;
  figures.reused = static_cast<Position>(
      std::mismatch(a.begin(), a.begin() + size, b.begin()).first - a.begin());
  return explain(&before.shape, after.shape, {.matched = *figures.reused}, figures);
}

ChatRequest question() {
  ChatRequest request;
  request.tools = {{"read_file", "Reads a file.",
                    R"({"type":"object","properties":{"path":{"type":"string"}}})"}};
  request.messages = {message(Role::system, prose(60, "rule")),
                      message(Role::user, prose(20, "question"))};
  return request;
}

class ThinkingAgent : public ::testing::Test {
 protected:
  void SetUp() override {
    if (model() == nullptr) GTEST_SKIP() << "no test model";
  }
};

const char* const kSampledCall =
    "I should look.\n</think>\n\n<tool_call>\n<function=read_file>\n<parameter=path>\na.cc\n"
    "</parameter>\n</function>\n</tool_call><|im_end|>";

TEST_F(ThinkingAgent, ToolLoopLosesNothing) {
  Turn before = turn_of(question());
  reply_to(before, thinking_call("I should look.", "a.cc"), kSampledCall);
  ChatRequest next = question();
  next.messages.push_back(thinking_call("I should look.", "a.cc"));
  next.messages.push_back(message(Role::tool, prose(100, "line")));
  const Explanation e = explained(before, turn_of(next));
  EXPECT_STREQ(to_string(e.cause), "none") << e.title << e.tokens_lost;
}

TEST_F(ThinkingAgent, NextUserMessageDropsTheReasoningOfTheLoop) {
  ChatRequest loop = question();
  loop.messages.push_back(thinking_call(prose(40, "thought"), "a.cc"));
  loop.messages.push_back(message(Role::tool, prose(150, "line")));
  Turn before = turn_of(loop);
  ChatMessage reply = message(Role::assistant, prose(50, "answer"));
  reply.reasoning = "Clear.";
  reply_to(before, reply, "Clear.\n</think>\n\n" + reply.content + "<|im_end|>");
  ChatRequest next = loop;
  next.messages.push_back(reply);
  next.messages.push_back(message(Role::user, "And now?"));
  const Explanation e = explained(before, turn_of(next));
  EXPECT_STREQ(to_string(e.cause), "reasoning_dropped_by_template") << e.title;
  EXPECT_GT(e.tokens_lost, 800) << "tool result and answer";
  ASSERT_TRUE(e.first.has_value());
  EXPECT_EQ(e.first->message, 2U);
}

TEST_F(ThinkingAgent, ClientThatLeavesOutReasoningThatTheTemplateDropsAnywayIsNotBlamed) {
  ChatRequest loop = question();
  loop.messages.push_back(thinking_call(prose(40, "thought"), "a.cc"));
  loop.messages.push_back(message(Role::tool, prose(150, "line")));
  Turn before = turn_of(loop);
  ChatRequest next = loop;
  next.messages[2].reasoning.clear();
  next.messages.push_back(message(Role::assistant, "Yes."));
  next.messages.push_back(message(Role::user, "And now?"));
  EXPECT_STREQ(to_string(explained(before, turn_of(next)).cause), "reasoning_dropped_by_template");
}

TEST_F(ThinkingAgent, ClientThatLeavesOutReasoningInALoopIs) {
  ChatRequest loop = question();
  loop.messages.push_back(thinking_call(prose(40, "thought"), "a.cc"));
  loop.messages.push_back(message(Role::tool, prose(150, "line")));
  Turn before = turn_of(loop);
  reply_to(before, thinking_call("I should look.", "a.cc"), kSampledCall);
  ChatRequest next = loop;
  next.messages[2].reasoning.clear();
  next.messages.push_back(thinking_call("I should look.", "a.cc"));
  next.messages.push_back(message(Role::tool, "short"));
  const Explanation e = explained(before, turn_of(next));
  EXPECT_STREQ(to_string(e.cause), "reasoning_dropped_by_client") << e.title;
  EXPECT_GT(e.tokens_lost, 500);
}

}  // namespace
}  // namespace samovar::app
