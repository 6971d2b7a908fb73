// Goal: every place at which a reply of the model begins, in the history and in the generation
// primer, is among the reply starts, and no other message's start is.
// Method: templates over their own vocabulary (or one with their special tokens); conversations
// whose messages are told apart by their text.
#include "chat/reply_opening.h"

#include <algorithm>

#include "chat/chat_testing.h"
#include "chat/opener_probe.h"
#include "chat/vocabulary.h"

namespace samovar {
namespace {

using testing::call_message;
using testing::message;
using testing::tool_message;

struct Native {
  const char* template_name;
  const char* vocabulary;
  const char* opening;
  int tokens;
};
constexpr Native kNative[] = {
    {"Qwen3.5-4B", "qwen35", "<|im_start|>assistant", 2},
    {"Qwen3-Coder", "qwen35", "<|im_start|>assistant", 2},
    {"Qwen-QwQ-32B", "qwen2", "<|im_start|>assistant", 2},
    {"Qwen-Qwen2.5-7B-Instruct", "qwen2", "<|im_start|>assistant", 2},
    {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen35", "<|im_start|>assistant", 2},
    {"meta-llama-Llama-3.3-70B-Instruct", "llama-bpe", "<|start_header_id|>assistant", 2},
    {"microsoft-Phi-3.5-mini-instruct", "phi-3", "<|assistant|>", 1},
    {"google-gemma-4-31B-it", "gemma-4", "<|turn>model", 2},
    {"CohereForAI-c4ai-command-r-plus-tool_use", "command-r",
     "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", 2},
};

std::string name_of(const ::testing::TestParamInfo<Native>& info) {
  std::string name = info.param.template_name;
  std::erase_if(name, [](unsigned char byte) { return std::isalnum(byte) == 0; });
  return name;
}

class ReplyOpening : public ::testing::TestWithParam<Native> {
 protected:
  ReplyOpening()
      : format_(testing::make_format(GetParam().template_name,
                                     testing::vocabulary(GetParam().vocabulary))) {}

  // The start of the message in which `text` stands.
  Position start_of(const Prompt& prompt, const std::string& text) const {
    const auto after = std::ranges::find_if_not(prompt.message_starts, [&](Position start) {
      return format_->detokenize(TokenSpan(prompt.tokens).subspan(start)).find(text) !=
             std::string::npos;
    });
    EXPECT_NE(after, prompt.message_starts.begin()) << text;
    return *(after - 1);
  }

  std::unique_ptr<ChatFormat> format_;
};

TEST_P(ReplyOpening, IsWhatTellsTheRole) {
  const llama_model* model = testing::vocabulary(GetParam().vocabulary);
  const llama_vocab* vocab = llama_model_get_vocab(model);
  const auto templates =
      common_chat_templates_init(model, testing::template_source(GetParam().template_name));
  const MessageOpeners openers = find_message_openers(templates.get(), vocab);
  EXPECT_EQ(token_text(vocab, openers.reply_opening), GetParam().opening);
  EXPECT_EQ(openers.reply_opening.size(), GetParam().tokens);
}

TEST_P(ReplyOpening, IsAtEveryReplyAndAtThePrimerOnly) {
  ChatRequest request;
  request.messages = {
      message(Role::system, "You are terse."), message(Role::user, "Question 0"),
      message(Role::assistant, "Answer 0"),    message(Role::user, "Question 1"),
      message(Role::assistant, "Answer 1"),    message(Role::user, "Question 2"),
  };
  request.messages[2].reasoning = "Thought 0";
  request.messages[4].reasoning = "Thought 1";
  for (const bool thinking : {true, false}) {
    request.enable_thinking = thinking;
    const RenderedChat chat = testing::render(*format_, request);
    const Prompt& prompt = chat.prompt;
    const std::vector<Position> replies = {start_of(prompt, "Answer 0"),
                                           start_of(prompt, "Answer 1"), prompt.primer_start};
    EXPECT_EQ(prompt.reply_starts, replies) << chat.text;
  }
}

TEST_P(ReplyOpening, IsWhereAToolLoopGoesOn) {
  ChatRequest request;
  request.messages = {message(Role::user, "Question 0"),
                      call_message("call00001", "get_weather", R"({"city":"Oslo"})"),
                      tool_message("call00001", "rain")};
  request.tools = {testing::weather_tool()};
  const auto first = format_->render(request);
  if (!first) GTEST_SKIP() << "the template has no tools";
  request.messages.push_back(call_message("call00002", "get_weather", R"({"city":"Bergen"})"));
  request.messages.push_back(tool_message("call00002", "more rain"));
  const auto second = format_->render(request);
  ASSERT_TRUE(second.has_value());
  for (const auto* chat : {&*first, &*second}) {
    const Prompt& prompt = chat->prompt;
    EXPECT_TRUE(std::ranges::includes(prompt.message_starts, prompt.reply_starts));
    if (!std::ranges::binary_search(prompt.message_starts, prompt.primer_start)) continue;
    EXPECT_TRUE(std::ranges::binary_search(prompt.reply_starts, prompt.primer_start)) << chat->text;
  }
  // Where the first prompt asked for the reply, the second one has it.
  const Position primer = first->prompt.primer_start;
  if (primer < first->prompt.size() &&
      std::ranges::binary_search(second->prompt.message_starts, primer)) {
    EXPECT_TRUE(std::ranges::binary_search(second->prompt.reply_starts, primer)) << second->text;
  }
}

INSTANTIATE_TEST_SUITE_P(Native, ReplyOpening, ::testing::ValuesIn(kNative), name_of);

}  // namespace
}  // namespace samovar
