// Goal: a model file gives its template and tokeniser without its weights, and what a template does
// with reasoning is found out. Method: a vocabulary and templates of the llama.cpp tree.
#include "chat/offline_chat.h"

#include <fstream>
#include <iterator>
#include <memory>

namespace samovar {
namespace {

constexpr const char* kVocabulary = SAMOVAR_LLAMA_DIR "/src/models/ggml-vocab-qwen35.gguf";

std::unique_ptr<OfflineChat> open_with(const char* template_path) {
  std::ifstream file(template_path, std::ios::binary);
  ChatFormatOptions options;
  options.template_override.assign(std::istreambuf_iterator<char>(file), {});
  EXPECT_FALSE(options.template_override.empty()) << template_path;
  auto chat = OfflineChat::open(kVocabulary, std::move(options));
  EXPECT_TRUE(chat.has_value()) << (chat ? "" : chat.error().describe());
  return chat ? std::move(*chat) : nullptr;
}

TEST(OfflineChat, RendersAndTokenises) {
  const auto chat = open_with(SAMOVAR_LLAMA_DIR "/src/models/templates/Qwen3.5-4B.jinja");
  ASSERT_NE(chat, nullptr);
  ChatRequest request;
  request.messages.emplace_back().content = "hi there";
  const auto rendered = chat->format().render(request);
  ASSERT_TRUE(rendered.has_value()) << rendered.error().describe();
  EXPECT_GT(rendered->prompt.size(), 5);
  EXPECT_NE(rendered->text.find("hi there"), std::string::npos);
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
  const auto qwen = open_with(SAMOVAR_LLAMA_DIR "/src/models/templates/Qwen3.5-4B.jinja");
  ASSERT_NE(qwen, nullptr);
  EXPECT_EQ(keeps_reasoning(qwen->format(), {}), false);
  const auto glm = open_with(SAMOVAR_LLAMA_DIR "/src/models/templates/GLM-4.7-Flash.jinja");
  ASSERT_NE(glm, nullptr);
  EXPECT_EQ(keeps_reasoning(glm->format(), {}), false);
  ChatRequest keep;
  keep.template_arguments["clear_thinking"] = "false";
  EXPECT_EQ(keeps_reasoning(glm->format(), keep), true);
}

}  // namespace
}  // namespace samovar
