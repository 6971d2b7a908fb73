// Goal: tokenising piece by piece, with remembered pieces, gives exactly the tokens of the whole
// text, for every kind of tokeniser; and message starts depend on the tokens before them only.
// Method: random conversations in the style of each vocabulary's model family, with control text,
// spaces and cut characters inside messages, against libllama's tokeniser over the whole text.
#include "chat/prompt_builder.h"

#include <llama-common/chat.h>

#include <algorithm>
#include <random>

#include "chat/chat_testing.h"
#include "chat/vocabulary.h"

namespace samovar {
namespace {

struct Family {
  const char* vocabulary;
  const char* template_name;
};
constexpr Family kFamilies[] = {
    {"qwen35", "Qwen3.5-4B"},
    {"qwen2", "Qwen-Qwen2.5-7B-Instruct"},
    {"llama-bpe", "meta-llama-Llama-3.3-70B-Instruct"},
    {"llama-spm", "mistralai-Mistral-Nemo-Instruct-2407"},
    {"phi-3", "microsoft-Phi-3.5-mini-instruct"},
    {"gemma-4", "google-gemma-4-31B-it"},
    {"command-r", "CohereForAI-c4ai-command-r7b-12-2024-tool_use"},
    {"deepseek-llm", "deepseek-ai-DeepSeek-V3.1"},
    {"gpt-2", "Qwen-Qwen2.5-7B-Instruct"},
};

std::string random_text(std::mt19937& random, const MessageOpeners& openers) {
  static const std::vector<std::string> words = {" the",
                                                 "fox",
                                                 "\n\n",
                                                 "  ",
                                                 "\t",
                                                 "123",
                                                 "<",
                                                 "|",
                                                 ">",
                                                 "<|im",
                                                 "_start|>",
                                                 "</s>",
                                                 "\xC3\xA9",
                                                 "\xE2\x82",
                                                 "<|im_end|>",
                                                 "def f(x):\n",
                                                 "<think>",
                                                 "{\"a\":1}",
                                                 "\xF0\x9F\x98\x80",
                                                 "[INST]"};
  std::string text;
  for (auto count = random() % 12; count > 0; --count) {
    if (!openers.openers.empty() && random() % 6 == 0) {
      text += openers.openers[random() % openers.openers.size()].text;
    } else {
      text += words[random() % words.size()];
    }
  }
  return text;
}

Tokens whole(const llama_vocab* vocab, const std::string& text) {
  Tokens tokens(text.size() + 16);
  const int count = llama_tokenize(vocab, text.data(), static_cast<int>(text.size()), tokens.data(),
                                   static_cast<int>(tokens.size()), true, true);
  EXPECT_GE(count, 0);
  tokens.resize(static_cast<std::size_t>(count));
  return tokens;
}

class PromptBuilderTest : public ::testing::TestWithParam<Family> {
 protected:
  PromptBuilderTest() {
    const llama_model* model = testing::vocabulary(GetParam().vocabulary);
    vocab_ = llama_model_get_vocab(model);
    const auto templates =
        common_chat_templates_init(model, testing::template_source(GetParam().template_name));
    builder_ =
        std::make_unique<PromptBuilder>(vocab_, find_message_openers(templates.get(), vocab_));
  }
  const llama_vocab* vocab_;
  std::unique_ptr<PromptBuilder> builder_;
};

TEST_P(PromptBuilderTest, EqualsTokenisingTheWholeText) {
  std::mt19937 random(11);
  std::string conversation;
  for (int round = 0; round < 300; ++round) {
    // Half of the time the conversation goes on, so that remembered pieces are used.
    if (random() % 2 == 0) conversation.clear();
    conversation += random_text(random, builder_->openers());
    const Prompt prompt = builder_->build(conversation, "");
    ASSERT_EQ(prompt.tokens, whole(vocab_, conversation)) << conversation;
    ASSERT_EQ(prompt.primer_start, prompt.size());
  }
}

TEST_P(PromptBuilderTest, StartsDependOnThePrefixOnly) {
  std::mt19937 random(13);
  for (int round = 0; round < 200; ++round) {
    const std::string shared = random_text(random, builder_->openers());
    const Prompt left = builder_->build(shared + random_text(random, builder_->openers()), "");
    const Prompt right = builder_->build(shared + random_text(random, builder_->openers()), "");
    const auto [end, ignored] = std::mismatch(left.tokens.begin(), left.tokens.end(),
                                              right.tokens.begin(), right.tokens.end());
    const auto common = static_cast<Position>(end - left.tokens.begin());
    const auto below = [common](const std::vector<Position>& starts) {
      return std::vector<Position>(starts.begin(), std::ranges::lower_bound(starts, common));
    };
    EXPECT_TRUE(std::ranges::is_sorted(left.message_starts, std::less_equal<>{}));
    EXPECT_EQ(below(left.message_starts), below(right.message_starts));
    // The tokens that tell the role are part of what must be shared.
    const auto opening = static_cast<Position>(builder_->openers().reply_opening.size());
    const auto told = [&](std::vector<Position> starts) {
      std::erase_if(starts, [&](Position start) { return start + opening > common; });
      return starts;
    };
    EXPECT_EQ(told(left.reply_starts), told(right.reply_starts));
    EXPECT_TRUE(std::ranges::includes(left.message_starts, left.reply_starts));
  }
}

TEST_P(PromptBuilderTest, ThePrimerBeginsWhereTheTextBeforeItEnds) {
  std::mt19937 random(17);
  for (int round = 0; round < 100; ++round) {
    const std::string history = random_text(random, builder_->openers());
    const std::string primer = random_text(random, builder_->openers());
    if (primer.empty()) continue;
    const Prompt prompt = builder_->build(history + primer, primer);
    const Tokens before = whole(vocab_, history);
    ASSERT_LE(prompt.primer_start, static_cast<Position>(before.size()));
    EXPECT_TRUE(
        std::equal(before.begin(), before.begin() + prompt.primer_start, prompt.tokens.begin()));
  }
}

TEST_P(PromptBuilderTest, StructureIsFoundFromTheTokensAlone) {
  std::mt19937 random(19);
  for (int round = 0; round < 200; ++round) {
    const std::string conversation = random_text(random, builder_->openers());
    const Prompt built = builder_->build(conversation, "");
    const Prompt found = builder_->structure(built.tokens, built.primer_start);
    EXPECT_EQ(found.tokens, built.tokens);
    EXPECT_EQ(found.message_starts, built.message_starts);
    EXPECT_EQ(found.reply_starts, built.reply_starts);
    EXPECT_EQ(found.primer_start, built.primer_start);
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, PromptBuilderTest, ::testing::ValuesIn(kFamilies),
                         [](const auto& family) {
                           std::string name = family.param.vocabulary;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(TokenMemo, ForgetsTheOldestPiecesAndStaysExact) {
  const llama_vocab* vocab = llama_model_get_vocab(testing::vocabulary("qwen35"));
  TokenMemo memo(vocab, 20'000);
  std::mt19937 random(19);
  for (int round = 0; round < 2'000; ++round) {
    const std::string piece = "<|im_start|>user number " + std::to_string(random() % 200);
    Tokens expected;
    append_tokens(vocab, piece, expected);
    Tokens tokens;
    memo.append(piece, tokens);
    ASSERT_EQ(tokens, expected);
    ASSERT_LE(memo.bytes(), 20'000U);
  }
  EXPECT_GT(memo.bytes(), 10'000U);
}

}  // namespace
}  // namespace samovar
