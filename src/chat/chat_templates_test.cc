// Goal: every chat template of the llama.cpp tree works behind ChatFormat, whatever vocabulary it
// meets; prompts of one conversation share what they should; and what ChatFormat assumes about
// libllama-common (parser and grammar do not depend on the conversation) is true.
// Method: the bundled templates over the Qwen vocabulary (most of their special tokens are ordinary
// text there), and over their own vocabulary where there is one.
#include <llama-common/chat.h>

#include <algorithm>
#include <filesystem>

#include "chat/chat_testing.h"

namespace samovar {
namespace {

using testing::call_message;
using testing::make_format;
using testing::message;
using testing::tool_message;

std::vector<std::string> bundled_templates() {
  std::vector<std::string> names;
  const std::string folder = std::string(SAMOVAR_LLAMA_DIR) + "/src/models/templates";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jinja") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

// A conversation of `exchanges` finished exchanges and a question.
ChatRequest conversation(int exchanges, bool system, bool tools) {
  ChatRequest request;
  if (system) request.messages.push_back(message(Role::system, "You are terse."));
  for (int i = 0; i < exchanges; ++i) {
    const std::string number = std::to_string(i);
    request.messages.push_back(message(Role::user, "Question " + number));
    if (tools && i % 2 == 1) {
      const std::string id = "call0000" + number;  // nine characters: Mistral insists
      request.messages.push_back(call_message(id, "get_weather", R"({"city":"Oslo"})"));
      request.messages.push_back(tool_message(id, "{\"sky\":\"grey\"}"));
    }
    request.messages.push_back(message(Role::assistant, "Answer " + number));
    request.messages.back().reasoning = "Thought " + number;
  }
  request.messages.push_back(message(Role::user, "And then?"));
  if (tools) request.tools = {testing::weather_tool(), testing::clock_tool()};
  return request;
}

void expect_sound(const Prompt& prompt, const std::string& name) {
  EXPECT_TRUE(std::ranges::is_sorted(prompt.message_starts, std::less_equal<>{})) << name;
  EXPECT_LE(prompt.primer_start, prompt.size()) << name;
  EXPECT_GE(prompt.primer_start, 0) << name;
  EXPECT_LE(prompt.system_end, prompt.size()) << name;
  for (const Position start : prompt.message_starts) EXPECT_LT(start, prompt.size()) << name;
  EXPECT_TRUE(std::ranges::includes(prompt.message_starts, prompt.reply_starts)) << name;
  if (std::ranges::binary_search(prompt.message_starts, prompt.primer_start)) {
    EXPECT_TRUE(std::ranges::binary_search(prompt.reply_starts, prompt.primer_start)) << name;
  }
}

Position shared(const Prompt& left, const Prompt& right) {
  const auto [end, ignored] = std::mismatch(left.tokens.begin(), left.tokens.end(),
                                            right.tokens.begin(), right.tokens.end());
  return static_cast<Position>(end - left.tokens.begin());
}

// Message starts of two conversations on the tokens they share.
void expect_starts_agree(const ChatFormat& format, const std::string& name) {
  const auto left = format.render(conversation(2, true, false));
  const auto right = format.render(conversation(4, true, false));
  if (!left || !right) return;
  const Position common = shared(left->prompt, right->prompt);
  const auto below = [](std::vector<Position> starts, Position limit) {
    std::erase_if(starts, [limit](Position start) { return start >= limit; });
    return starts;
  };
  EXPECT_EQ(below(left->prompt.message_starts, common), below(right->prompt.message_starts, common))
      << name;
  constexpr Position kRole = 2;  // tokens after an opener that tell the role, at most
  EXPECT_EQ(below(left->prompt.reply_starts, common - kRole),
            below(right->prompt.reply_starts, common - kRole))
      << name;
}

TEST(BundledTemplates, RenderOrRefuseButNeverCrash) {
  int rendered = 0;
  for (const std::string& name : bundled_templates()) {
    const auto format = make_format(name);
    ASSERT_NE(format, nullptr) << name;
    expect_starts_agree(*format, name);
    for (const bool tools : {false, true}) {
      for (const int exchanges : {0, 3}) {
        const auto chat = format->render(conversation(exchanges, true, tools));
        if (!chat) {
          EXPECT_EQ(chat.error().kind, ErrorKind::invalid_argument) << name;
          EXPECT_FALSE(chat.error().field.empty()) << name;
          continue;
        }
        ++rendered;
        expect_sound(chat->prompt, name);
        EXPECT_EQ(chat->text.find("00:0"), std::string::npos) << name;
        const testing::Reply reply = testing::parse(*chat, "some <text> without format", 3);
        // Where the primer already opens the reasoning, it may begin with the primer's own text.
        EXPECT_TRUE((reply.reasoning + reply.content).ends_with("some <text> without format"))
            << name << ": " << reply.reasoning << reply.content;
      }
    }
  }
  EXPECT_GT(rendered, 150);
}

// Templates with their own vocabulary, or one that has their special tokens.
struct Native {
  const char* template_name;
  const char* vocabulary;
};
constexpr Native kNative[] = {
    {"Qwen3.5-4B", "qwen35"},
    {"Qwen3-Coder", "qwen35"},
    {"Qwen-Qwen2.5-7B-Instruct", "qwen2"},
    {"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "qwen35"},
    {"meta-llama-Llama-3.3-70B-Instruct", "llama-bpe"},
    {"microsoft-Phi-3.5-mini-instruct", "phi-3"},
    {"google-gemma-4-31B-it", "gemma-4"},
};

TEST(NativeTemplates, AFollowUpSharesTheHistoryUpToThePrimer) {
  for (const Native& native : kNative) {
    const auto format = make_format(native.template_name, testing::vocabulary(native.vocabulary));
    for (const bool tools : {false, true}) {
      // No exchange with tools in it is the newest: templates drop its reasoning only later.
      ChatRequest request = conversation(3, true, tools);
      const auto first = format->render(request);
      if (!first) continue;
      EXPECT_FALSE(first->prompt.message_starts.empty()) << native.template_name;
      EXPECT_GT(first->prompt.system_end, 0) << native.template_name;
      EXPECT_LT(first->prompt.primer_start, first->prompt.size()) << native.template_name;
      EXPECT_TRUE(
          std::ranges::binary_search(first->prompt.message_starts, first->prompt.primer_start))
          << native.template_name;
      EXPECT_TRUE(
          std::ranges::binary_search(first->prompt.reply_starts, first->prompt.primer_start))
          << native.template_name;
      request.messages.push_back(message(Role::assistant, "This."));
      request.messages.push_back(message(Role::user, "Thanks"));
      const auto second = format->render(request);
      ASSERT_TRUE(second.has_value()) << native.template_name;
      EXPECT_GE(shared(first->prompt, second->prompt), first->prompt.primer_start)
          << native.template_name << "\n"
          << first->text << "\n"
          << second->text;
    }
  }
}

// What keeping reply formats by their tools relies on (reply_format_memo.h).
TEST(BundledTemplates, ParserAndGrammarDoNotDependOnTheConversation) {
  for (const std::string& name : bundled_templates()) {
    const auto templates =
        common_chat_templates_init(testing::qwen_model(), testing::template_source(name));
    common_chat_templates_inputs inputs;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    inputs.tools = {{"get_time", "", R"({"type":"object","properties":{"a":{"type":"string"}}})"}};
    common_chat_msg hello;
    hello.role = "user";
    hello.content = "Hello";
    common_chat_msg answer = hello;
    answer.role = "assistant";
    for (const auto choice : {COMMON_CHAT_TOOL_CHOICE_AUTO, COMMON_CHAT_TOOL_CHOICE_REQUIRED}) {
      inputs.tool_choice = choice;
      common_chat_params small;
      common_chat_params large;
      try {
        inputs.messages = {hello};
        small = common_chat_templates_apply(templates.get(), inputs);
        inputs.messages = {hello, answer, hello, answer, hello};
        large = common_chat_templates_apply(templates.get(), inputs);
      } catch (const std::exception&) {
        continue;
      }
      if (small.generation_prompt != large.generation_prompt) continue;
      EXPECT_EQ(small.parser, large.parser) << name;
      EXPECT_EQ(small.grammar, large.grammar) << name;
      EXPECT_EQ(small.grammar_lazy, large.grammar_lazy) << name;
      EXPECT_EQ(small.preserved_tokens, large.preserved_tokens) << name;
      EXPECT_EQ(small.message_delimiters.to_json().dump(),
                large.message_delimiters.to_json().dump())
          << name;
    }
  }
}

}  // namespace
}  // namespace samovar
