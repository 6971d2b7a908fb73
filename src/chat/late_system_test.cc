// Goal: a system message in the middle of a conversation reaches the model where it was sent,
// whatever the template thinks of it, and moves nothing else.
#include "chat/late_system.h"

#include "chat/chat_testing.h"

namespace samovar {
namespace {

using testing::message;
using testing::render;

std::string text(const ChatFormat& format, std::vector<ChatMessage> messages) {
  ChatRequest request;
  request.messages = std::move(messages);
  return render(format, request).text;
}

TEST(LateSystem, JoinsTheMessageBeforeItWhereTheTemplateRefusesIt) {
  const auto format = testing::make_format("Qwen3.5-4B");
  const ChatMessage system = message(Role::system, "Be terse.");
  const ChatMessage question = message(Role::user, "Weather?");
  EXPECT_EQ(text(*format, {system, question, message(Role::system, "It is noon.")}),
            text(*format, {system, message(Role::user,
                                           "Weather?\n\n<system-reminder>\nIt is noon.\n"
                                           "</system-reminder>")}));
  EXPECT_EQ(text(*format, {system, message(Role::developer, "In French."), question}),
            text(*format, {message(Role::system, "Be terse.\n\nIn French."), question}));
  const ChatMessage reply = message(Role::assistant, "Grey.");
  EXPECT_EQ(
      text(*format, {question, reply, message(Role::system, "It is noon."), question}),
      text(*format,
           {question, reply,
            message(Role::user, "<system-reminder>\nIt is noon.\n</system-reminder>"), question}));
}

// Goal: a reminder in a running tool loop does not end it: what was reasoned stays in the prompt.
TEST(LateSystem, AToolLoopGoesOn) {
  const auto format = testing::make_format("Qwen3.5-4B");
  std::vector<ChatMessage> messages = {message(Role::user, "Weather?"),
                                       testing::call_message("call_1", "get_weather", "{}"),
                                       testing::tool_message("call_1", "grey")};
  messages[1].reasoning = "I look out.";
  const std::string before = text(*format, messages);
  messages.push_back(message(Role::system, "It is noon."));
  const std::string after = text(*format, messages);
  EXPECT_NE(after.find("I look out."), std::string::npos);
  EXPECT_NE(after.find("<tool_response>\ngrey\n\n<system-reminder>\nIt is noon."),
            std::string::npos);
  const std::size_t shared = before.find("grey") + 4;
  EXPECT_EQ(after.substr(0, shared), before.substr(0, shared));
}

TEST(LateSystem, StaysAMessageWhereTheTemplateTakesIt) {
  const auto format = testing::make_format("Qwen-Qwen3-0.6B");
  const std::string rendered =
      text(*format, {message(Role::user, "Weather?"), message(Role::system, "It is noon.")});
  EXPECT_NE(rendered.find("<|im_start|>system\nIt is noon.<|im_end|>"), std::string::npos);
}

}  // namespace
}  // namespace samovar
