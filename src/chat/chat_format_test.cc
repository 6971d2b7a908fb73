// Goal: a request renders as the model's template wants it, errors name their field, and the tokens
// and positions of the prompt keep what core/prompt.h promises.
// Method: the Qwen3.5 template over the Qwen vocabulary; tables of conversations.
#include "chat/chat_format.h"

#include <thread>

#include "chat/chat_testing.h"

namespace samovar {
namespace {

using testing::call_message;
using testing::make_format;
using testing::message;
using testing::render;
using testing::tool_message;

constexpr const char* kSystem = "You are terse.";

ChatRequest chat(std::vector<ChatMessage> messages) {
  ChatRequest request;
  request.messages = std::move(messages);
  return request;
}

ChatMessage reply(std::string content, std::string reasoning = "") {
  ChatMessage result = message(Role::assistant, std::move(content));
  result.reasoning = std::move(reasoning);
  return result;
}

class ChatFormatTest : public ::testing::Test {
 protected:
  static const ChatFormat& format() {
    static const auto made = make_format("Qwen3.5-4B");
    return *made;
  }
  static Error error_of(const ChatRequest& request) {
    const auto result = format().render(request);
    EXPECT_FALSE(result.has_value());
    return result ? Error{} : result.error();
  }
};

TEST_F(ChatFormatTest, RendersRolesAndThePrimer) {
  const RenderedChat result =
      render(format(), chat({message(Role::system, kSystem), message(Role::user, "Hi"),
                             reply("Hello."), message(Role::user, "More")}));
  EXPECT_EQ(result.text,
            "<|im_start|>system\nYou are terse.<|im_end|>\n"
            "<|im_start|>user\nHi<|im_end|>\n"
            "<|im_start|>assistant\nHello.<|im_end|>\n"
            "<|im_start|>user\nMore<|im_end|>\n"
            "<|im_start|>assistant\n<think>\n");
  EXPECT_EQ(result.generation_prompt, "<|im_start|>assistant\n<think>\n");
  EXPECT_TRUE(result.grammar.gbnf.empty());
}

TEST_F(ChatFormatTest, DeveloperMessagesReachTemplatesThatOnlyKnowSystem) {
  const RenderedChat result =
      render(format(), chat({message(Role::developer, kSystem), message(Role::user, "Hi")}));
  EXPECT_TRUE(result.text.starts_with("<|im_start|>system\nYou are terse.<|im_end|>\n"));
}

TEST_F(ChatFormatTest, ThinkingCanBeTurnedOff) {
  ChatRequest request = chat({message(Role::user, "Hi")});
  request.enable_thinking = false;
  EXPECT_TRUE(render(format(), request).text.ends_with("assistant\n<think>\n\n</think>\n\n"));
  request.enable_thinking.reset();
  request.template_arguments["enable_thinking"] = "false";
  EXPECT_TRUE(render(format(), request).text.ends_with("assistant\n<think>\n\n</think>\n\n"));
  request.enable_thinking = true;  // the request's own field wins
  EXPECT_TRUE(render(format(), request).text.ends_with("assistant\n<think>\n"));
}

TEST_F(ChatFormatTest, ReasoningOfEarlierTurnsIsDroppedAndOfTheToolLoopIsKept) {
  ChatRequest request = chat({message(Role::user, "Weather?"), reply("Where?", "old thought"),
                              message(Role::user, "Oslo"),
                              call_message("call_1", "get_weather", R"({"city":"Oslo"})"),
                              tool_message("call_1", "rain")});
  request.messages[3].reasoning = "look it up";
  request.tools = {testing::weather_tool()};
  const std::string text = render(format(), request).text;
  EXPECT_EQ(text.find("old thought"), std::string::npos);
  EXPECT_NE(text.find("<think>\nlook it up\n</think>\n\n<tool_call>\n<function=get_weather>\n"
                      "<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call><|im_end|>\n"
                      "<|im_start|>user\n<tool_response>\nrain\n</tool_response><|im_end|>\n"
                      "<|im_start|>assistant\n<think>\n"),
            std::string::npos)
      << text;
}

TEST_F(ChatFormatTest, TheSameMessagesRenderToTheSameBytes) {
  ChatRequest request = chat({message(Role::user, "Hi")});
  request.tools = {testing::weather_tool(), testing::clock_tool()};
  const RenderedChat first = render(format(), request);
  const RenderedChat again = render(*make_format("Qwen3.5-4B"), request);
  EXPECT_EQ(first.text, again.text);
  EXPECT_EQ(first.prompt.tokens, again.prompt.tokens);
  EXPECT_EQ(first.grammar.gbnf, again.grammar.gbnf);
}

TEST_F(ChatFormatTest, ToolsGiveALazyGrammarAndRequiredAStrictOne) {
  ChatRequest request = chat({message(Role::user, "Hi")});
  request.tools = {testing::weather_tool(), testing::clock_tool()};
  const RenderedChat automatic = render(format(), request);
  EXPECT_TRUE(automatic.grammar.lazy);
  EXPECT_TRUE(automatic.grammar.from_tools);
  EXPECT_FALSE(automatic.grammar.triggers.empty());
  EXPECT_EQ(automatic.grammar.thinking_start, "<think>");

  request.tool_choice = ToolChoice::required;
  const RenderedChat required = render(format(), request);
  EXPECT_FALSE(required.grammar.lazy);
  EXPECT_NE(required.grammar.gbnf.find("get_time"), std::string::npos);
  EXPECT_EQ(required.text, automatic.text);

  request.tool_choice = ToolChoice::none;
  const RenderedChat none = render(format(), request);
  EXPECT_TRUE(none.grammar.gbnf.empty());
  EXPECT_EQ(none.text, automatic.text);
}

TEST_F(ChatFormatTest, ANamedToolConstrainsTheGrammarButNotThePrompt) {
  ChatRequest request = chat({message(Role::user, "Hi")});
  request.tools = {testing::weather_tool(), testing::clock_tool()};
  const RenderedChat automatic = render(format(), request);
  request.tool_choice = ToolChoice::required;
  request.tool_choice_name = "get_time";
  const RenderedChat named = render(format(), request);
  EXPECT_EQ(named.prompt.tokens, automatic.prompt.tokens);
  EXPECT_NE(named.grammar.gbnf.find("get_time"), std::string::npos);
  EXPECT_EQ(named.grammar.gbnf.find("get_weather"), std::string::npos);
  const testing::Reply reply = testing::parse(
      named,
      "t</think>\n\n<tool_call>\n<function=get_time>\n<parameter=zone>\nUTC\n</parameter>\n"
      "</function>\n</tool_call>",
      5);
  ASSERT_EQ(reply.calls.size(), 1U);
  EXPECT_EQ(reply.calls[0].arguments, R"({"zone":"UTC"})");
}

TEST_F(ChatFormatTest, ResponseFormatsGiveAStrictGrammar) {
  ChatRequest request = chat({message(Role::user, "Hi")});
  request.response_format.kind = ResponseFormat::Kind::json_object;
  const RenderedChat object = render(format(), request);
  EXPECT_FALSE(object.grammar.gbnf.empty());
  EXPECT_FALSE(object.grammar.lazy);
  EXPECT_FALSE(object.grammar.from_tools);
  request.response_format.kind = ResponseFormat::Kind::json_schema;
  request.response_format.schema =
      R"({"type":"object","properties":{"answer":{"type":"integer"}},"required":["answer"]})";
  const RenderedChat schema = render(format(), request);
  EXPECT_NE(schema.grammar.gbnf.find("answer"), std::string::npos);
  const testing::Reply reply = testing::parse(schema, "hm\n</think>\n\n{\"answer\": 42}", 3);
  EXPECT_EQ(reply.content, "{\"answer\": 42}");
  EXPECT_EQ(reply.reasoning, "hm\n");
}

TEST_F(ChatFormatTest, ErrorsNameTheField) {
  struct Case {
    const char* what;
    ChatRequest request;
    const char* field;
    const char* says;
  };
  std::vector<Case> cases;
  cases.push_back({"empty", chat({}), "messages", "empty"});
  cases.push_back({"no user", chat({message(Role::system, "b")}), "messages", "No user query"});
  ChatRequest request =
      chat({message(Role::user, "a"), call_message("1", "f", "{\"cut"), tool_message("1", "x")});
  cases.push_back({"arguments", request, "messages[1].tool_calls[0].function.arguments", "JSON"});
  request = chat({message(Role::user, "a")});
  request.tools = {testing::weather_tool(), {"bad", "", "{"}};
  cases.push_back({"tool JSON", request, "tools[1].function.parameters", "bad"});
  request.tools[1].parameters = R"({"type":"object","properties":{"x":{"$ref":"#/nowhere"}}})";
  cases.push_back({"tool schema", request, "tools[1].function.parameters", "bad"});
  request.tools = {testing::weather_tool()};
  request.tool_choice = ToolChoice::required;
  request.tool_choice_name = "nosuch";
  cases.push_back({"tool_choice", request, "tool_choice", "nosuch"});
  request = chat({message(Role::user, "a")});
  request.tool_choice = ToolChoice::required;
  cases.push_back({"no tools", request, "tool_choice", "no tools"});
  request = chat({message(Role::user, "a")});
  request.response_format = {ResponseFormat::Kind::json_schema, "[1]"};
  cases.push_back({"schema", request, "response_format.json_schema.schema", "object"});
  request.response_format.schema = R"({"type":"unheard-of"})";
  cases.push_back({"schema", request, "response_format.json_schema.schema", "unheard-of"});
  request = chat({message(Role::user, "a")});
  request.tools = {testing::weather_tool()};
  request.response_format.kind = ResponseFormat::Kind::json_object;
  cases.push_back({"format and tools", request, "response_format", "at once"});
  request = chat({message(Role::user, "a")});
  request.template_arguments["enable_thinking"] = "\"yes\"";
  cases.push_back({"thinking", request, "chat_template_kwargs.enable_thinking", "boolean"});
  request.template_arguments = {{"x", "{"}};
  cases.push_back({"kwargs", request, "chat_template_kwargs.x", "JSON"});
  for (const Case& c : cases) {
    const Error error = error_of(c.request);
    EXPECT_EQ(error.kind, ErrorKind::invalid_argument) << c.what;
    EXPECT_EQ(error.field, c.field) << c.what << ": " << error.message;
    EXPECT_NE(error.message.find(c.says), std::string::npos) << c.what << ": " << error.message;
  }
}

TEST_F(ChatFormatTest, RequiredToolsNeedATemplateThatHasThem) {
  const auto gemma = make_format("google-gemma-2-2b-it");
  ChatRequest request = chat({message(Role::user, "a")});
  request.tools = {testing::weather_tool()};
  request.tool_choice = ToolChoice::required;
  const auto result = gemma->render(request);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().field, "tool_choice");
}

TEST_F(ChatFormatTest, AModelWithoutATemplateIsRefusedWithARemedy) {
  const auto format = ChatFormat::create(testing::vocabulary("gpt-2"), {});
  ASSERT_FALSE(format.has_value());
  EXPECT_FALSE(format.error().remedy.empty());
  const auto broken = ChatFormat::create(testing::vocabulary("qwen35"), {"{% if %}"});
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().kind, ErrorKind::invalid_argument);
}

TEST_F(ChatFormatTest, PositionsPointAtTheirTokens) {
  ChatRequest request = chat({message(Role::system, kSystem), message(Role::user, "Hi"),
                              reply("Hello."), message(Role::user, "More")});
  const RenderedChat result = render(format(), request);
  const Prompt& prompt = result.prompt;
  const auto text_from = [&](Position at) {
    return format().detokenize(TokenSpan(prompt.tokens).subspan(at));
  };
  ASSERT_EQ(prompt.message_starts.size(), 5U);
  EXPECT_EQ(prompt.message_starts.front(), 0);
  EXPECT_EQ(prompt.system_end, prompt.message_starts[1]);
  EXPECT_EQ(prompt.primer_start, prompt.message_starts.back());
  EXPECT_TRUE(text_from(prompt.system_end).starts_with("<|im_start|>user\nHi"));
  EXPECT_EQ(text_from(prompt.primer_start), "<|im_start|>assistant\n<think>\n");
  EXPECT_EQ(format().detokenize(prompt.tokens), result.text);

  request.messages.erase(request.messages.begin());
  EXPECT_EQ(render(format(), request).prompt.system_end, 0);
  request.tools = {testing::weather_tool()};  // the template puts a system message before them
  EXPECT_GT(render(format(), request).prompt.system_end, 50);
}

TEST_F(ChatFormatTest, ControlTextInsideAMessageIsTokenisedAsTheWholeTextWouldBe) {
  const RenderedChat result = render(
      format(), chat({message(Role::user, "what is <|im_start|>user and <|im_end|> <|im_sta")}));
  EXPECT_EQ(result.prompt.tokens, format().tokenize(result.text));
  EXPECT_EQ(result.prompt.message_starts.size(), 3U);
}

TEST_F(ChatFormatTest, ThreadsShareOneFormat) {
  constexpr int kConversations = 4;
  const auto request = [](int number) {
    ChatRequest result = chat({message(Role::user, "Question " + std::to_string(number))});
    for (int i = 0; i < 10; ++i) {
      result.messages.push_back(reply("Answer " + std::to_string(number * i)));
      result.messages.push_back(message(Role::user, "Next " + std::to_string(i)));
    }
    result.tools = {testing::weather_tool()};
    return result;
  };
  std::vector<Tokens> expected;
  for (int i = 0; i < kConversations; ++i) {
    expected.push_back(render(*make_format("Qwen3.5-4B"), request(i)).prompt.tokens);
  }
  const auto shared = make_format("Qwen3.5-4B");
  std::vector<std::thread> threads;
  for (int i = 0; i < kConversations; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 10; ++round) {
        EXPECT_EQ(render(*shared, request((i + round) % kConversations)).prompt.tokens,
                  expected[(i + round) % kConversations]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ChatFormatTest, TokenizeAndDetokenizeAreInverse) {
  for (const std::string text :
       {"", "hello  world\n", "<|im_start|>x<|im_end|>", "\xC3\xA9\xE2\x82\xAC"}) {
    EXPECT_EQ(format().detokenize(format().tokenize(text)), text);
  }
  const Tokens strange = {-1, 1 << 30};
  EXPECT_EQ(format().detokenize(strange), "");
}

}  // namespace
}  // namespace samovar
