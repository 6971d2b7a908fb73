// Goal: a model file gives its template and tokeniser without its weights, and what a template does
// with reasoning is found out. Method: the small test model; templates of the llama.cpp tree.
#include "chat/offline_chat.h"

#include <filesystem>

#include "chat/chat_testing.h"

namespace samovar {
namespace {

TEST(OfflineChat, RendersAsTheServerDoes) {
  const std::string path = SAMOVAR_MODELS "/tiny-qwen35moe.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto chat = OfflineChat::open(path, {});
  ASSERT_TRUE(chat.has_value()) << chat.error().describe();
  ChatRequest request;
  request.messages = {testing::message(Role::user, "hi")};
  const auto rendered = (*chat)->format().render(request);
  ASSERT_TRUE(rendered.has_value());
  EXPECT_GT(rendered->prompt.size(), 3);
  EXPECT_NE(rendered->text.find("hi"), std::string::npos);
}

TEST(OfflineChat, WhatIsNoModelIsNamed) {
  const auto missing = OfflineChat::open("/nonexistent.gguf", {});
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().message.find("/nonexistent.gguf"), std::string::npos);
  const auto text = OfflineChat::open(SAMOVAR_SOURCE "/CMakeLists.txt", {});
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().field, "--model");
}

TEST(KeepsReasoning, IsFoundOutFromTheTemplate) {
  const auto qwen = testing::make_format("Qwen-QwQ-32B");
  EXPECT_EQ(keeps_reasoning(*qwen, {}), false);
  const auto glm = testing::make_format("GLM-4.7-Flash");
  EXPECT_EQ(keeps_reasoning(*glm, {}), false);
  ChatRequest keep;
  keep.template_arguments["clear_thinking"] = "false";
  EXPECT_EQ(keeps_reasoning(*glm, keep), true);
}

}  // namespace
}  // namespace samovar
