// Goal: the direct way to render a conversation gives what libllama-common's way gives: the same
// text, and the same format of the reply although that is remembered from another conversation.
// Method: random conversations through both, for every bundled template that is rendered directly.
#include "chat/conversation_renderer.h"

#include <filesystem>
#include <random>

#include "chat/chat_testing.h"
#include "chat/template_inputs.h"
#include "chat/template_source.h"

namespace samovar {
namespace {

class Conversations {
 public:
  explicit Conversations(unsigned seed) : random_(seed) {}

  common_chat_templates_inputs next() {
    ChatRequest request;
    if (chance(2)) {
      const Role role = chance(3) ? Role::developer : Role::system;
      request.messages.push_back(testing::message(role, text()));
    }
    for (auto turns = random_() % 4; turns > 0; --turns) {
      add_question(request);
      add_reply(request);
    }
    add_question(request);
    if (chance(3)) add_call(request);
    if (chance(2)) request.tools = {testing::weather_tool(), testing::clock_tool()};
    if (chance(4)) request.enable_thinking = chance(2);
    if (chance(6)) request.template_arguments["preserve_reasoning"] = "true";
    if (chance(8)) request.template_arguments["custom"] = R"({"a": [1, "b"]})";
    if (!request.tools.empty() && chance(4)) {
      request.tool_choice = chance(2) ? ToolChoice::required : ToolChoice::none;
    }
    const bool may_call = !request.tools.empty() && request.tool_choice != ToolChoice::none;
    if (!may_call && chance(4)) request.response_format.kind = ResponseFormat::Kind::json_object;
    auto inputs = make_template_inputs(request, chance(2));
    EXPECT_TRUE(inputs.has_value());
    return *inputs;
  }

  bool chance(unsigned of) { return random_() % of == 0; }

 private:
  std::string text() {
    static const std::vector<std::string> pieces = {
        "word",    " ",       "\n",          "\n\n",         "  indented", "<think>", "</think>",
        "{\"a\":", "}",       "\xC3\xA9",    "'quoted'",     "{{ x }}",    "%",       "</s>",
        "[INST]",  "\\u0041", "<tool_call>", "<|im_start|>", "&amp;",      "\t",      "/no_think"};
    std::string result;
    for (auto count = random_() % 8; count > 0; --count)
      result += pieces[random_() % pieces.size()];
    return result;
  }

  void add_question(ChatRequest& request) {
    request.messages.push_back(testing::message(Role::user, text()));
  }

  void add_reply(ChatRequest& request) {
    for (auto rounds = random_() % 3; rounds > 0; --rounds) add_call(request);
    request.messages.push_back(testing::message(Role::assistant, text()));
    if (chance(2)) request.messages.back().reasoning = text();
  }

  void add_call(ChatRequest& request) {
    const std::string arguments[] = {"{}", R"({"city":"Oslo"})", R"({"city":" a\nb","days":3})",
                                     R"({"list":[1,{"x":null}],"flag":true,"n":1.50})", ""};
    ChatMessage call = testing::message(Role::assistant, chance(2) ? text() : "");
    if (chance(2)) call.reasoning = text();
    std::vector<ChatMessage> results;
    for (auto calls = 1 + random_() % 2; calls > 0; --calls) {
      const std::string id = "call0000" + std::to_string(calls);
      call.tool_calls.push_back({id, chance(2) ? "get_weather" : "get_time",
                                 arguments[random_() % std::size(arguments)]});
      results.push_back(testing::tool_message(id, chance(2) ? text() : R"({"sky":"grey"})"));
    }
    request.messages.push_back(std::move(call));
    for (ChatMessage& result : results) request.messages.push_back(std::move(result));
  }

  std::mt19937 random_;
};

void expect_same_format(const ReplyFormat& left, const ReplyFormat& right, const std::string& on) {
  EXPECT_EQ(left.primer, right.primer) << on;
  EXPECT_EQ(left.generation_prompt, right.generation_prompt) << on;
  EXPECT_EQ(left.stop, right.stop) << on;
  EXPECT_EQ(left.grammar.gbnf, right.grammar.gbnf) << on;
  EXPECT_EQ(left.grammar.lazy, right.grammar.lazy) << on;
  EXPECT_EQ(left.grammar.from_tools, right.grammar.from_tools) << on;
  EXPECT_EQ(left.grammar.preserved_tokens, right.grammar.preserved_tokens) << on;
  EXPECT_EQ(left.grammar.thinking_start, right.grammar.thinking_start) << on;
  EXPECT_EQ(left.grammar.thinking_end, right.grammar.thinking_end) << on;
  ASSERT_EQ(left.grammar.triggers.size(), right.grammar.triggers.size()) << on;
  for (std::size_t i = 0; i < left.grammar.triggers.size(); ++i) {
    EXPECT_EQ(left.grammar.triggers[i].kind, right.grammar.triggers[i].kind) << on;
    EXPECT_EQ(left.grammar.triggers[i].value, right.grammar.triggers[i].value) << on;
    EXPECT_EQ(left.grammar.triggers[i].token, right.grammar.triggers[i].token) << on;
  }
  EXPECT_EQ(left.syntax, right.syntax) << on << ": the same parser is the same object";
}

ConversationRenderer make_renderer(const std::string& name) {
  const llama_model* model = testing::qwen_model();
  return {common_chat_templates_init(model, freeze_time_of_day(testing::template_source(name))),
          llama_model_get_vocab(model)};
}

// Renders both ways; true if the direct way rendered.
bool compare(ConversationRenderer& renderer, const common_chat_templates_inputs& inputs,
             const std::string& only_tool, const std::string& name) {
  const auto direct = renderer.render_directly(inputs, only_tool);
  if (!direct) return false;
  const auto library = renderer.render_by_library(inputs, only_tool);
  EXPECT_EQ(direct->text, library.text) << name;
  expect_same_format(*direct->format, *library.format, name);
  return true;
}

TEST(ConversationRenderer, BothWaysGiveTheSame) {
  const std::string folder = std::string(SAMOVAR_LLAMA_DIR) + "/src/models/templates";
  int templates = 0;
  int direct = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    ++templates;
    const std::string name = entry.path().stem().string();
    ConversationRenderer renderer = make_renderer(name);
    if (!renderer.is_direct()) continue;
    ++direct;
    Conversations conversations(23);
    int rendered = 0;
    for (int round = 0; round < 8; ++round) {
      const auto inputs = conversations.next();
      const bool one_tool = inputs.tool_choice == COMMON_CHAT_TOOL_CHOICE_REQUIRED;
      if (compare(renderer, inputs, one_tool ? "get_time" : "", name)) ++rendered;
    }
    EXPECT_GT(rendered, 0) << name;  // templates that refuse roles take few of them
  }
  EXPECT_GT(direct, templates * 3 / 4);
}

TEST(ConversationRenderer, TheDefaultModelIsRenderedDirectly) {
  ConversationRenderer renderer = make_renderer("Qwen3.5-4B");
  ASSERT_TRUE(renderer.is_direct());
  Conversations conversations(29);
  int rendered = 0;
  for (int round = 0; round < 150; ++round) {
    if (compare(renderer, conversations.next(), "", "Qwen3.5-4B")) ++rendered;
  }
  EXPECT_GT(rendered, 100);
}

TEST(ConversationRenderer, ATemplateThatLibraryCodeEditsMessagesForIsNotRenderedDirectly) {
  for (const char* name : {"google-gemma-4-31B-it", "mistralai-Ministral-3-14B-Reasoning-2512"}) {
    EXPECT_FALSE(make_renderer(name).is_direct()) << name;
  }
}

TEST(ReplyFormatMemo, KeepsFormatsApartByToolsAndForgetsTheOldest) {
  const llama_model* model = testing::qwen_model();
  const auto templates = common_chat_templates_init(model, testing::template_source("Qwen3.5-4B"));
  ReplyFormatMemo memo(templates.get(), llama_model_get_vocab(model));
  const auto inputs = [](int number) {
    ChatRequest request;
    request.messages = {testing::message(Role::user, "question " + std::to_string(number))};
    request.tools = {testing::clock_tool()};
    request.tools[0].name = "tool_" + std::to_string(number) + "_";
    return *make_template_inputs(request, true);
  };
  for (int round = 0; round < 60; ++round) {
    const int number = round * 7 % 23;
    const auto format = memo.get(inputs(number));
    ASSERT_NE(format, nullptr);
    EXPECT_EQ(memo.get(inputs(number)), format) << "remembered";
    for (int other = 0; other < 23; ++other) {
      const bool named =
          format->grammar.gbnf.find(inputs(other).tools[0].name) != std::string::npos;
      EXPECT_EQ(named, other == number);
    }
  }
  auto unusual = inputs(0);
  unusual.messages.back().role = "assistant";
  EXPECT_EQ(memo.get(unusual), nullptr);
}

}  // namespace
}  // namespace samovar
