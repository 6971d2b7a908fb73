// Goal: a reply comes apart into reasoning, content and tool calls, whatever the pieces it arrives
// in, and nothing of it is lost or delivered twice. Method: tables of replies in the Qwen3.5 format
// (gpt-oss and GLM for the other kinds of parser), fed in pieces of every small size; then random
// replies, cut, mixed and made of garbage, whose every word must come out.
#include <random>

#include "chat/chat_testing.h"

namespace samovar {
namespace {

using testing::make_format;
using testing::message;
using testing::parse;
using testing::render;
using testing::Reply;

constexpr const char* kCall =
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n"
    "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>";
constexpr const char* kCallArguments = R"({"city":"Oslo","days":3})";

RenderedChat rendered(const ChatFormat& format, bool tools, bool thinking) {
  ChatRequest request;
  request.messages = {message(Role::user, "Hi")};
  if (tools) request.tools = {testing::weather_tool(), testing::clock_tool()};
  request.enable_thinking = thinking;
  return render(format, request);
}

class ReplyParserTest : public ::testing::Test {
 protected:
  static const ChatFormat& format() {
    static const auto made = make_format("Qwen3.5-4B");
    return *made;
  }
};

TEST_F(ReplyParserTest, TakesRepliesApart) {
  struct Case {
    const char* what;
    bool tools;
    bool thinking;
    std::string text;
    std::string reasoning;
    std::string content;
    std::vector<std::string> arguments;
  };
  const std::string call = kCall;
  const std::vector<Case> cases = {
      {"nothing", true, true, "", "", "", {}},
      {"content only", false, false, "Hello there.", "", "Hello there.", {}},
      {"thinking", false, true, "Let me see.\n</think>\n\nHello.", "Let me see.\n", "Hello.", {}},
      {"a call", true, true, "w\n</think>\n\n" + call, "w\n", "", {kCallArguments}},
      {"content and a call", true, false, "Looking." + call, "", "Looking.", {kCallArguments}},
      {"two calls", true, false, call + "\n" + call, "", "", {kCallArguments, kCallArguments}},
      {"a call without tools is content", false, false, call, "", call, {}},
      {"cut while thinking", true, true, "I thi", "I thi", "", {}},
      {"cut in the end of thinking", true, true, "I think</thi", "I think</thi", "", {}},
      {"cut before a call has a name",
       true,
       false,
       "Now <tool_call>\n<function=get_w",
       "",
       "Now <tool_call>\n<function=get_w",
       {}},
      {"cut in a call",
       true,
       false,
       "<tool_call>\n<function=get_weather>\n<parameter=city>\nOs",
       "",
       "",
       {R"({"city":"Os)"}},
      {"an unknown tool",
       true,
       false,
       "a<tool_call>\n<function=rm>\n</function>\n</tool_call>b",
       "",
       "a<tool_call>\n<function=rm>\n</function>\n</tool_call>b",
       {}},
      {"text after a call", true, false, call + "and on", "", "and on", {kCallArguments}},
  };
  for (const Case& c : cases) {
    const RenderedChat chat = rendered(format(), c.tools, c.thinking);
    for (std::size_t step = 1; step < 40; step += 1 + step / 4) {
      const Reply reply = parse(chat, c.text, step);
      EXPECT_EQ(reply.reasoning, c.reasoning) << c.what << ", step " << step;
      EXPECT_EQ(reply.content, c.content) << c.what << ", step " << step;
      ASSERT_EQ(reply.calls.size(), c.arguments.size()) << c.what << ", step " << step;
      for (std::size_t i = 0; i < c.arguments.size(); ++i) {
        EXPECT_EQ(reply.calls[i].arguments, c.arguments[i]) << c.what << ", step " << step;
        EXPECT_EQ(reply.calls[i].name, "get_weather");
      }
    }
  }
}

TEST_F(ReplyParserTest, DeliversEachPieceAsSoonAsItIsCertain) {
  ReplyParser parser(rendered(format(), true, false).syntax);
  Reply reply;
  reply.add(parser.feed("Hello"));
  EXPECT_EQ(reply.content, "Hello");
  reply.add(parser.feed(" <tool"));  // may become markup
  EXPECT_EQ(reply.content, "Hello ");
  reply.add(parser.feed("box>"));
  EXPECT_EQ(reply.content, "Hello <toolbox>");
  reply.add(parser.feed("\xE2\x82"));
  EXPECT_EQ(reply.content, "Hello <toolbox>");
  reply.add(parser.feed("\xAC"));
  EXPECT_EQ(reply.content, "Hello <toolbox>\xE2\x82\xAC");
  reply.add(parser.feed("<tool_call>\n<function=get_weather>\n<parameter=city>\nO"));
  EXPECT_TRUE(parser.called_tool());
  EXPECT_EQ(reply.calls.at(0).arguments, R"({"city":"O)");
}

// The dialect gives ids to calls of formats that have none.
TEST_F(ReplyParserTest, CallsHaveIdsOnlyWhereTheFormatHas) {
  const RenderedChat chat = rendered(format(), true, false);
  const std::string call = kCall;
  const Reply reply = parse(chat, call + "\n" + call, 3);
  ASSERT_EQ(reply.calls.size(), 2U);
  for (const ToolCall& each : reply.calls) EXPECT_EQ(each.id, "");
}

TEST_F(ReplyParserTest, ACallThatTurnsOutWrongIsDeliveredAsTextFromThere) {
  const RenderedChat chat = rendered(format(), true, false);
  const Reply reply = parse(chat,
                            "<tool_call>\n<function=get_weather>\n<parameter=days>\n12 monkeys\n"
                            "</parameter>\n</function>\n</tool_call> and more",
                            4);
  EXPECT_NE(reply.content.find(" monkeys\n</parameter>"), std::string::npos) << reply.content;
  EXPECT_TRUE(reply.content.ends_with("</tool_call> and more"));
}

TEST_F(ReplyParserTest, ABrokenFormatIsStreamedAsContentAfterAWhile) {
  ReplyParser parser(rendered(format(), true, false).syntax);
  Reply reply;
  reply.add(parser.feed("a <tool_call>nonsense "));
  std::string filler;
  for (int i = 0; i < 200; ++i) {
    filler += "word" + std::to_string(i) + " ";
    reply.add(parser.feed("word" + std::to_string(i) + " "));
  }
  EXPECT_EQ(reply.content, "a <tool_call>nonsense " + filler);
  reply.add(parser.finish());
  EXPECT_EQ(reply.content, "a <tool_call>nonsense " + filler);
}

TEST_F(ReplyParserTest, InvalidBytesBecomeReplacementCharacters) {
  const RenderedChat chat = rendered(format(), true, false);
  for (std::size_t step = 1; step < 6; ++step) {
    EXPECT_EQ(parse(chat,
                    "a\xFF"
                    "b\xE2\x82",
                    step)
                  .content,
              "a\xEF\xBF\xBD"
              "b\xEF\xBF\xBD");
  }
}

TEST_F(ReplyParserTest, LongRepliesArriveWhole) {
  const RenderedChat chat = rendered(format(), true, true);
  std::string reasoning;
  std::string content;
  while (reasoning.size() < 60'000) reasoning += "thought " + std::to_string(reasoning.size());
  while (content.size() < 60'000) content += "text < " + std::to_string(content.size());
  const Reply reply = parse(chat, reasoning + "</think>" + content, 13);
  EXPECT_EQ(reply.reasoning, reasoning);
  EXPECT_EQ(reply.content, content);
}

TEST(ReplyParserFormats, OtherFormatsComeApartToo) {
  struct Case {
    const char* template_name;
    std::string text;
    std::string reasoning;
    std::string content;
    std::size_t calls;
  };
  const std::vector<Case> cases = {
      {"openai-gpt-oss-120b",
       "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi",
       "hm", "Hi", 0},
      {"openai-gpt-oss-120b",
       "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary "
       "to=functions.get_weather <|constrain|>json<|message|>{\"city\":\"Oslo\"}",
       "hm", "", 1},
      {"openai-gpt-oss-120b", "no channel at all", "", "no channel at all", 0},
      {"GLM-4.6",
       "<think>hm</think>\nSo:<tool_call>get_weather\n<arg_key>city</arg_key>\n"
       "<arg_value>Oslo</arg_value>\n</tool_call>",
       "hm", "So:", 1},
      {"Qwen-Qwen2.5-7B-Instruct",
       "So:\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n"
       "</tool_call>",
       "", "So:\n", 1},
  };
  for (const Case& c : cases) {
    const auto format = make_format(c.template_name);
    const RenderedChat chat = rendered(*format, true, true);
    for (std::size_t step : {1, 4, 7, 1000}) {
      const Reply reply = parse(chat, c.text, step);
      EXPECT_EQ(reply.reasoning, c.reasoning) << c.template_name << " step " << step;
      EXPECT_EQ(reply.content, c.content) << c.template_name << " step " << step;
      ASSERT_EQ(reply.calls.size(), c.calls) << c.template_name << " step " << step;
      for (const ToolCall& call : reply.calls) EXPECT_EQ(call.name, "get_weather");
    }
  }
}

// --- random replies ---------------------------------------------------------------------------

// Words w0, w1, ... between pieces of markup, valid or not, cut anywhere.
std::string random_reply(std::mt19937& random, int& words) {
  static const std::vector<std::string> markup = {"<think>",
                                                  "</think>",
                                                  "\n</think>\n\n",
                                                  "<tool_call>",
                                                  "<tool_call>\n",
                                                  "</tool_call>",
                                                  "<function=get_weather>\n",
                                                  "<function=nosuch>\n",
                                                  "</function>\n",
                                                  "<parameter=city>\n",
                                                  "\n</parameter>\n",
                                                  "<parameter=days>\n",
                                                  "7",
                                                  "{\"a\":",
                                                  "}",
                                                  "\n",
                                                  " ",
                                                  "<",
                                                  "</",
                                                  "\xFF",
                                                  "\xE2\x82",
                                                  "\xF0\x9F\x98\x80",
                                                  "<|im_end|>",
                                                  "\\",
                                                  "\""};
  std::string text;
  for (auto count = random() % 40; count > 0; --count) {
    if (random() % 3 == 0) {
      text += "w" + std::to_string(words++) + "; ";
    } else if (random() % 8 == 0) {
      text += kCall;
    } else {
      text += markup[random() % markup.size()];
    }
  }
  return text;
}

// Every word of `text` must be found, in order, in one of the parts; none twice.
void expect_words_once(const Reply& reply, int words, const std::string& text) {
  std::string all = reply.reasoning + "\n" + reply.content;
  for (const ToolCall& call : reply.calls) all += "\n" + call.arguments;
  for (int i = 0; i < words; ++i) {
    const std::string word = "w" + std::to_string(i) + ";";
    const std::size_t first = all.find(word);
    ASSERT_NE(first, std::string::npos) << word << " lost from: " << text;
    ASSERT_EQ(all.find(word, first + 1), std::string::npos) << word << " twice from: " << text;
  }
}

class ReplyParserRandom : public ::testing::TestWithParam<std::pair<bool, bool>> {};

TEST_P(ReplyParserRandom, LosesNothingAndNeverFails) {
  const auto format = make_format("Qwen3.5-4B");
  const auto [tools, thinking] = GetParam();
  const RenderedChat chat = rendered(*format, tools, thinking);
  std::mt19937 random(23);
  for (int round = 0; round < 600; ++round) {
    int words = 0;
    const std::string text = random_reply(random, words);
    const Reply reply = parse(chat, text, 1 + random() % 9);
    expect_words_once(reply, words, text);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ReplyParserRandom, RandomTokensComeThroughAsTheyAre) {
  const auto format = make_format("Qwen3.5-4B");
  const auto [tools, thinking] = GetParam();
  const RenderedChat chat = rendered(*format, tools, thinking);
  const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(testing::qwen_model()));
  std::mt19937 random(29);
  for (int round = 0; round < 100; ++round) {
    std::string text = thinking ? "t</think>" : "";
    for (int i = 0; i < 100; ++i) {
      const Token token = static_cast<Token>(random() % static_cast<unsigned>(vocabulary));
      text += format->detokenize({&token, 1});
    }
    const Reply whole = parse(chat, text, text.size());
    const Reply pieces = parse(chat, text, 1 + random() % 9);
    EXPECT_EQ(whole.content, pieces.content);
    EXPECT_EQ(whole.reasoning, pieces.reasoning);
    EXPECT_GE(pieces.content.size() + 300, text.size());
  }
}

INSTANTIATE_TEST_SUITE_P(ToolsAndThinking, ReplyParserRandom,
                         ::testing::Values(std::pair{false, false}, std::pair{false, true},
                                           std::pair{true, false}, std::pair{true, true}));

}  // namespace
}  // namespace samovar
