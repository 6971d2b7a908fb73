// Goal: behind every chat template a reply that comes back is either replayed, so that the prompt
// begins with the prompt it answered and its tokens, or the prompt is today's, token for token;
// never anything else. And follow-ups stay follow-ups: what was in a prompt stays in the next.
// Method: the text with which a template writes an answer is taken as sampled, cut into odd tokens,
// over the Qwen vocabulary for all templates and over their own where there is one.
#include <algorithm>
#include <filesystem>

#include "chat/replay_testing.h"
#include "chat/reply_memory.h"

namespace samovar {
namespace {

using testing::begins_with;
using testing::call_message;
using testing::joined;
using testing::message;
using testing::tool_message;

struct Outcome {
  int replayed = 0;
  int plain = 0;
};

// Walks through a conversation with a loop of calls and an answer; after each reply the template's
// own words for it are what the model is said to have sampled.
class Walk {
 public:
  Walk(const ChatFormat& format, std::string name, unsigned seed)
      : format_(format), name_(std::move(name)), random_(seed) {
    request_.messages.push_back(message(Role::user, "Weather?"));
    request_.tools = {testing::weather_tool(), testing::clock_tool()};
  }

  Outcome run() {
    ChatMessage call = call_message("call00001", "get_weather", R"({"city": "Oslo", "days": 2})");
    call.reasoning = "I look it up.";
    ChatMessage twice = call_message("call00002", "get_time", R"({"zone": "CET"})");
    twice.content = "One more.";
    ChatMessage answer = message(Role::assistant, "It is grey, as ever.");
    answer.reasoning = "Grey it is.";
    step(call, tool_message("call00001", "grey"));
    step(twice, tool_message("call00002", "noon"));
    step(answer, message(Role::user, "And tomorrow?"));
    step(message(Role::assistant, "Grey."), message(Role::user, "Thanks"));
    return outcome_;
  }

 private:
  // The text between the prompt and what follows the reply, up to its end token.
  [[nodiscard]] std::string template_words(const RenderedChat& chat, const ChatMessage& reply,
                                           const ChatMessage& next) const {
    ChatRequest longer = request_;
    longer.messages.push_back(reply);
    longer.messages.push_back(next);
    const auto rendered = format_.render(longer);
    if (!rendered || !rendered->text.starts_with(chat.text)) return {};
    const std::string rest = rendered->text.substr(chat.text.size());
    for (const char* end : {"<|im_end|>", "<|eot_id|>", "<|end|>", "<turn|>", "</s>",
                            "<|endoftext|>", "<|eom_id|>", "<|END_OF_TURN_TOKEN|>"}) {
      const std::size_t at = rest.find(end);
      if (at != std::string::npos && at > 0) return rest.substr(0, at + std::string(end).size());
    }
    return {};
  }

  void step(const ChatMessage& reply, const ChatMessage& next) {
    const auto chat = format_.render(request_, &memory_);
    if (!chat) return;
    EXPECT_TRUE(begins_with(chat->prompt.tokens, kept_)) << name_ << "\n" << chat->text;
    std::string words = template_words(*chat, reply, next);
    if (words.empty()) words = reply.content;
    const Tokens tokens = testing::odd_tokens(format_, words, random_);
    // The end token is one token.
    memory_.remember(chat->context, {}, format_.read_sampled(*chat, whole_end(tokens, words)));
    const Tokens sampled = whole_end(tokens, words);
    ChatMessage back = format_.read_reply(chat->syntax, sampled);
    for (std::size_t i = 0; i < back.tool_calls.size(); ++i) {
      back.tool_calls[i].id = "call0000" + std::to_string(1 + request_.messages.size() % 9);
    }
    ChatMessage then = next;
    if (then.role == Role::tool) {
      if (back.tool_calls.empty()) return;  // not a format with calls over this vocabulary
      then.tool_call_id = back.tool_calls.front().id;
    }
    request_.messages.push_back(back);
    request_.messages.push_back(then);
    check(*chat, sampled);
  }

  // `tokens` with its end as the tokeniser has it: a sampled end token is one token.
  [[nodiscard]] Tokens whole_end(Tokens tokens, const std::string& words) const {
    const Tokens canonical = format_.tokenize(words);
    if (canonical.empty()) return tokens;
    const std::string end = format_.detokenize({&canonical.back(), 1});
    while (!tokens.empty() && format_.detokenize(tokens).size() + end.size() > words.size()) {
      tokens.pop_back();
    }
    const std::string begun = format_.detokenize(tokens);
    if (!words.starts_with(begun)) return canonical;
    return joined(std::move(tokens), format_.tokenize(words.substr(begun.size())));
  }

  void check(const RenderedChat& before, const Tokens& sampled) {
    const auto with = format_.render(request_, &memory_);
    const auto without = format_.render(request_);
    ASSERT_EQ(with.has_value(), without.has_value()) << name_;
    if (!with) return;
    EXPECT_TRUE(std::ranges::is_sorted(with->prompt.message_starts)) << name_;
    EXPECT_EQ(with->prompt.message_starts.size(), without->prompt.message_starts.size()) << name_;
    EXPECT_EQ(with->prompt.reply_starts.size(), without->prompt.reply_starts.size()) << name_;
    const auto primer_size = [](const Prompt& prompt) {
      return prompt.size() - prompt.primer_start;
    };
    EXPECT_EQ(primer_size(with->prompt), primer_size(without->prompt)) << name_;
    kept_.clear();
    if (with->replayed == 0) {
      ++outcome_.plain;
      EXPECT_EQ(with->prompt.tokens, without->prompt.tokens) << name_ << "\n" << with->text;
      return;
    }
    const Tokens extended = joined(before.prompt.tokens, sampled);
    const Tokens but_end(extended.begin(), extended.end() - 1);
    if (begins_with(with->prompt.tokens, but_end)) {
      ++outcome_.replayed;
      kept_ = but_end;
    } else {
      ++outcome_.plain;  // this one; an earlier one is still replayed
    }
    // Only space and spelling of JSON may differ from the template's words; here space alone does.
    EXPECT_EQ(without_space(with->prompt), without_space(without->prompt)) << name_;
  }

  [[nodiscard]] std::string without_space(const Prompt& prompt) const {
    std::string text = format_.detokenize(prompt.tokens);
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  }

  const ChatFormat& format_;
  std::string name_;
  testing::Random random_;
  ReplyMemory memory_;
  ChatRequest request_;
  Tokens kept_;
  Outcome outcome_;
};

TEST(ReplayTemplates, EveryBundledTemplateReplaysOrIsLeftAlone) {
  const std::string folder = std::string(SAMOVAR_LLAMA_DIR) + "/src/models/templates";
  int replayed = 0;
  int templates = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    const std::string name = entry.path().stem().string();
    const auto format = testing::make_format(name);
    ASSERT_NE(format, nullptr) << name;
    const Outcome outcome = Walk(*format, name, 3).run();
    RecordProperty(name, outcome.replayed);
    replayed += outcome.replayed;
    if (outcome.replayed > 0) ++templates;
  }
  EXPECT_GT(templates, 10);
  EXPECT_GT(replayed, 30);
}

struct Native {
  const char* template_name;
  const char* vocabulary;
  int replayed;  // of four replies, at least
};
constexpr Native kNative[] = {
    {"Qwen3.5-4B", "qwen35", 2},
    {"Qwen3-Coder", "qwen35", 4},
    {"Qwen-Qwen2.5-7B-Instruct", "qwen2", 4},
    {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen35", 1},
    {"meta-llama-Llama-3.3-70B-Instruct", "llama-bpe", 1},
    {"microsoft-Phi-3.5-mini-instruct", "phi-3", 1},
    {"google-gemma-4-31B-it", "gemma-4", 1},
};

TEST(ReplayTemplates, TemplatesOverTheirOwnVocabularyReplay) {
  for (const Native& native : kNative) {
    const auto format =
        testing::make_format(native.template_name, testing::vocabulary(native.vocabulary));
    for (unsigned seed = 0; seed < 3; ++seed) {
      const Outcome outcome = Walk(*format, native.template_name, seed).run();
      EXPECT_GE(outcome.replayed, native.replayed) << native.template_name;
    }
  }
}

}  // namespace
}  // namespace samovar
