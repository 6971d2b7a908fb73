// Goal: every field of a chat request is read, and every wrong one is refused by its name. Method:
// tables of bodies with the field and words expected in the error, and a few translations in full.
#include "api/chat_request.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kUser = R"([{"role":"user","content":"hi"}])";

ChatDefaults defaults() {
  ChatDefaults values;
  values.vocab_size = 1000;
  return values;
}

// A body with one good message and these further fields.
std::string with(const std::string& fields) {
  return R"({"messages":)" + std::string(kUser) + (fields.empty() ? "" : "," + fields) + "}";
}
std::string with_messages(const std::string& messages) {
  return R"({"messages":)" + messages + "}";
}

ChatCompletionRequest parse(const std::string& body) {
  auto request = parse_chat_request(body, defaults());
  EXPECT_TRUE(request.has_value()) << body << "\n" << request.error().describe();
  return request.value_or(ChatCompletionRequest{});
}

struct Refusal {
  std::string body;
  std::string field;
  std::string words;  // in the message
};

void expect_refused(const std::vector<Refusal>& table) {
  for (const Refusal& row : table) {
    const auto request = parse_chat_request(row.body, defaults());
    ASSERT_FALSE(request.has_value()) << row.body.substr(0, 200);
    EXPECT_EQ(request.error().kind, ErrorKind::invalid_argument) << row.body.substr(0, 200);
    EXPECT_EQ(request.error().field, row.field) << row.body.substr(0, 200);
    EXPECT_NE(request.error().message.find(row.words), std::string::npos)
        << row.body.substr(0, 200) << "\n"
        << request.error().message;
  }
}

TEST(ChatRequest, BodiesThatAreNoRequestAreRefused) {
  expect_refused({
      {"", "", "not valid JSON"},
      {"{", "", "not valid JSON"},
      {"{\"messages\":[]} x", "", "not valid JSON"},
      {"[]", "", "must be a JSON object, not an array"},
      {"\"x\"", "", "must be a JSON object, not a string"},
      {"{\"a\":\"\xFF\"}", "", "not valid JSON"},
      {"{\"a\":\"\\ud800\"}", "", "not valid JSON"},
      {"{\"a\":1e999}", "", "cannot be represented"},
      {"{}", "messages", "missing"},
      {R"({"messages":null})", "messages", "missing"},
      {R"({"messages":"hi"})", "messages", "must be an array, not a string"},
      {R"({"messages":[]})", "messages", "empty"},
  });
}

TEST(ChatRequest, DeepNestingIsRefusedBeforeItIsParsed) {
  const std::string bomb(100'000, '[');
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  expect_refused({
      {bomb, "", "deeper than"},
      {objects, "", "deeper than"},
      {with("\"x\":" + bomb + std::string(100'000, ']')), "", "deeper than"},
  });
  // Brackets inside strings are text.
  EXPECT_EQ(parse(with_messages(R"([{"role":"user","content":")" + bomb + R"("}])"))
                .chat.messages[0]
                .content,
            bomb);
  const std::string allowed =
      std::string(limits::json_depth_max - 1, '[') + std::string(limits::json_depth_max - 1, ']');
  parse(with("\"x\":" + allowed));
}

TEST(ChatRequest, ObjectsWithTooManyMembersAreRefusedBeforeTheyAreParsed) {
  std::string object = "{";
  for (int i = 0; i < 200'000; ++i) object += "\"" + std::to_string(i) + "\":0,";
  object.back() = '}';
  expect_refused({{with("\"x\":" + object), "", "too many members"}});
}

TEST(ChatRequest, ABodyAboveTheLimitIsTooLarge) {
  const std::string body(limits::body_bytes_max + 1, ' ');
  const auto request = parse_chat_request(body, defaults());
  ASSERT_FALSE(request.has_value());
  EXPECT_EQ(request.error().kind, ErrorKind::too_large);
}

TEST(ChatRequest, ErrorsQuoteOnlyTheBeginningOfWhatIsLong) {
  std::string role;
  while (role.size() < 100'000) role += "\xC3\xA4";
  const auto request =
      parse_chat_request(with_messages("[{\"role\":\"" + role + "\"}]"), defaults());
  ASSERT_FALSE(request.has_value());
  EXPECT_LT(request.error().message.size(), 500U);
  EXPECT_TRUE(request.error().message.ends_with("\xC3\xA4...")) << "cut between characters";
}

TEST(ChatRequest, CountsAboveTheLimitsAreRefused) {
  Json messages = Json::array();
  for (std::size_t i = 0; i <= limits::messages_max; ++i) {
    messages.push_back({{"role", "user"}, {"content", "x"}});
  }
  Json tools = Json::array();
  for (std::size_t i = 0; i <= limits::tools_max; ++i) {
    tools.push_back({{"type", "function"}, {"function", {{"name", "f"}}}});
  }
  Json bias = Json::array();
  for (std::size_t i = 0; i <= limits::logit_bias_max; ++i) bias.push_back({1, 1});
  const Json stop = std::vector<std::string>(limits::stop_strings_max + 1, "x");
  const std::string long_stop(limits::stop_string_bytes_max + 1, 'x');
  expect_refused({
      {with_messages(messages.dump()), "messages", "more than the 16384"},
      {with("\"tools\":" + tools.dump()), "tools", "more than the 1024"},
      {with("\"logit_bias\":" + bias.dump()), "logit_bias", "more than the 4096"},
      {with("\"stop\":" + stop.dump()), "stop", "more than the 16"},
      {with("\"stop\":\"" + long_stop + "\""), "stop", "1025 bytes"},
  });
}

TEST(ChatRequest, MessageErrorsNameTheirPath) {
  expect_refused({
      {with_messages("[1]"), "messages[0]", "must be an object, not an integer"},
      {with_messages(R"([{"content":"x"}])"), "messages[0].role", "missing"},
      {with_messages(R"([{"role":1,"content":"x"}])"), "messages[0].role", "must be a string"},
      {with_messages(R"([{"role":"robot","content":"x"}])"), "messages[0].role", "robot"},
      {with_messages(R"([{"role":"user"}])"), "messages[0].content", "missing"},
      {with_messages(R"([{"role":"user","content":null}])"), "messages[0].content", "missing"},
      {with_messages(R"([{"role":"user","content":5}])"), "messages[0].content", "not an integer"},
      {with_messages(R"([{"role":"user","content":"a"},{"role":"user","content":["x"]}])"),
       "messages[1].content[0]", "must be an object, not a string"},
      {with_messages(R"([{"role":"user","content":[{"type":"text","text":"a"},
                         {"type":"image_url","image_url":{"url":"u"}}]}])"),
       "messages[0].content[1].type", "image_url"},
      {with_messages(R"([{"role":"user","content":[{"type":"input_audio"}]}])"),
       "messages[0].content[0].type", "input_audio"},
      {with_messages(R"([{"role":"user","content":[{"type":"text"}]}])"),
       "messages[0].content[0].text", "missing"},
      {with_messages(R"([{"role":"user","content":[{"type":"text","text":7}]}])"),
       "messages[0].content[0].text", "must be a string"},
      {with_messages(R"([{"role":"user","content":"x","tool_calls":[{}]}])"),
       "messages[0].tool_calls", "only assistant"},
      {with_messages(R"([{"role":"assistant","tool_calls":{}}])"), "messages[0].tool_calls",
       "must be an array, not an object"},
      {with_messages(R"([{"role":"assistant","tool_calls":[{}]}])"),
       "messages[0].tool_calls[0].function", "missing"},
      {with_messages(R"([{"role":"assistant","tool_calls":[{"type":"custom"}]}])"),
       "messages[0].tool_calls[0].type", "custom"},
      {with_messages(R"([{"role":"assistant","tool_calls":[{"function":{"arguments":"{}"}}]}])"),
       "messages[0].tool_calls[0].function.name", "missing"},
      {with_messages(R"([{"role":"assistant","tool_calls":
                         [{"function":{"name":"f","arguments":[1]}}]}])"),
       "messages[0].tool_calls[0].function.arguments", "must be a string, not an array"},
      {with_messages(R"([{"role":"assistant","content":"x","reasoning_content":{}}])"),
       "messages[0].reasoning_content", "must be a string"},
      {with_messages(R"([{"role":"tool","content":"x","tool_call_id":4}])"),
       "messages[0].tool_call_id", "must be a string"},
  });
}

TEST(ChatRequest, WrongTypesAndOutOfRangeValuesAreRefused) {
  expect_refused({
      {with(R"("model":3)"), "model", "must be a string"},
      {with(R"("temperature":"hot")"), "temperature", "must be a number, not a string"},
      {with(R"("temperature":-0.1)"), "temperature", "outside 0 to 10"},
      {with(R"("temperature":11)"), "temperature", "outside"},
      {with(R"("top_p":1.5)"), "top_p", "1.5, outside 0 to 1"},
      {with(R"("top_p":true)"), "top_p", "not a boolean"},
      {with(R"("min_p":-1)"), "min_p", "outside"},
      {with(R"("top_k":1.5)"), "top_k", "must be an integer"},
      {with(R"("top_k":-2)"), "top_k", "outside"},
      {with(R"("top_k":1e30)"), "top_k", "outside"},
      {with(R"("top_k":18446744073709551615)"), "top_k", "outside"},
      {with(R"("presence_penalty":3)"), "presence_penalty", "outside -2 to 2"},
      {with(R"("frequency_penalty":-2.5)"), "frequency_penalty", "outside"},
      {with(R"("repeat_penalty":0)"), "repeat_penalty", "outside"},
      {with(R"("repetition_penalty":"x")"), "repetition_penalty", "must be a number"},
      {with(R"("repeat_last_n":-5)"), "repeat_last_n", "outside"},
      {with(R"("seed":1.5)"), "seed", "must be an integer"},
      {with(R"("seed":"a")"), "seed", "must be an integer"},
      {with(R"("max_tokens":0)"), "max_tokens", "is 0"},
      {with(R"("max_tokens":-2)"), "max_tokens", "outside"},
      {with(R"("max_completion_tokens":0)"), "max_completion_tokens", "is 0"},
      {with(R"("max_tokens":"many")"), "max_tokens", "must be an integer, not a string"},
      {with(R"("n":2)"), "n", "only one choice"},
      {with(R"("n":0)"), "n", "outside"},
      {with(R"("stream":"yes")"), "stream", "must be true or false"},
      {with(R"("stream":1)"), "stream", "not an integer"},
      {with(R"("stream_options":true)"), "stream_options", "must be an object"},
      {with(R"("stream_options":{"include_usage":1})"), "stream_options.include_usage", "true or"},
      {with(R"("return_progress":1)"), "return_progress", "true or false"},
      {with(R"("logprobs":1)"), "logprobs", "true or false"},
      {with(R"("logprobs":true,"top_logprobs":21)"), "top_logprobs", "outside 0 to 20"},
      {with(R"("top_logprobs":2)"), "top_logprobs", "needs 'logprobs'"},
      {with(R"("stop":4)"), "stop", "must be a string or an array"},
      {with(R"("stop":["a",4])"), "stop[1]", "must be a string, not an integer"},
      {with(R"("stop":[""])"), "stop[0]", "empty"},
      {with(R"("logit_bias":3)"), "logit_bias", "must be an object"},
      {with(R"("logit_bias":{"word":1})"), "logit_bias.word", "does not name a token"},
      {with(R"("logit_bias":{"1000":1})"), "logit_bias.1000", "does not name a token"},
      {with(R"("logit_bias":{"-1":1})"), "logit_bias.-1", "does not name a token"},
      {with(R"("logit_bias":{"5":101})"), "logit_bias.5", "from -100 to 100"},
      {with(R"("logit_bias":{"5":"x"})"), "logit_bias.5", "from -100 to 100"},
      {with(R"("logit_bias":[[5]])"), "logit_bias[0]", "must be a pair"},
      {with(R"("logit_bias":[["five",1]])"), "logit_bias[0]", "does not name a token"},
      {with(R"("prompt_cache_key":1)"), "prompt_cache_key", "must be a string"},
      {with(R"("user":{})"), "user", "must be a string"},
      {with(R"("metadata":"x")"), "metadata", "must be an object"},
      {with(R"("metadata":{"user_id":4})"), "metadata.user_id", "must be a string"},
      {with(R"("chat_template_kwargs":[])"), "chat_template_kwargs", "must be an object"},
      {with(R"("chat_template_kwargs":{"messages":[]})"), "chat_template_kwargs.messages",
       "cannot set"},
      {with(R"("chat_template_kwargs":{"enable_thinking":"no"})"),
       "chat_template_kwargs.enable_thinking", "true or false"},
      {with(R"("reasoning_effort":2)"), "reasoning_effort", "must be a string"},
      {with(R"("functions":[])"), "functions", "not supported"},
      {with(R"("function_call":"auto")"), "function_call", "not supported"},
      {with(R"("grammar":"root ::= x")"), "grammar", "not supported"},
      {with(R"("guided_json":{})"), "guided_json", "not supported"},
      {with(R"("modalities":["text","audio"])"), "modalities", "only text"},
  });
}

TEST(ChatRequest, ToolAndFormatErrorsNameTheirPath) {
  const std::string tool = R"("tools":[{"type":"function","function":{"name":"f"}}])";
  expect_refused({
      {with(R"("tools":{})"), "tools", "must be an array"},
      {with(R"("tools":[1])"), "tools[0]", "must be an object"},
      {with(R"("tools":[{"type":"web_search"}])"), "tools[0].type", "web_search"},
      {with(R"("tools":[{"type":"function"}])"), "tools[0].function", "missing"},
      {with(R"("tools":[{"type":"function","function":{}}])"), "tools[0].function.name", "missing"},
      {with(R"("tools":[{"function":{"name":""}}])"), "tools[0].function.name", "empty"},
      {with(R"("tools":[{"function":{"name":"f","parameters":"x"}}])"),
       "tools[0].function.parameters", "must be an object"},
      {with(R"("tools":[{"function":{"name":"f","description":1}}])"),
       "tools[0].function.description", "must be a string"},
      {with(R"("tool_choice":"required")"), "tool_choice", "there are no tools"},
      {with(tool + R"(,"tool_choice":"maybe")"), "tool_choice", "maybe"},
      {with(tool + R"(,"tool_choice":5)"), "tool_choice", "must be a string"},
      {with(tool + R"(,"tool_choice":{"type":"function","function":{"name":"g"}})"),
       "tool_choice.function.name", "\"g\", which is not among the tools"},
      {with(tool + R"(,"tool_choice":{"type":"allowed_tools"})"), "tool_choice.type",
       "allowed_tools"},
      {with(tool + R"(,"parallel_tool_calls":"x")"), "parallel_tool_calls", "true or false"},
      {with(R"("response_format":"json")"), "response_format", "must be an object"},
      {with(R"("response_format":{})"), "response_format.type", "missing"},
      {with(R"("response_format":{"type":"xml"})"), "response_format.type", "xml"},
      {with(R"("response_format":{"type":"json_schema"})"), "response_format.json_schema.schema",
       "missing"},
      {with(R"("response_format":{"type":"json_schema","json_schema":{"schema":"x"}})"),
       "response_format.json_schema.schema", "must be an object"},
  });
}

TEST(ChatRequest, NothingGivenLeavesTheDefaults) {
  ChatDefaults given = defaults();
  given.sampling.temperature = 0.3;
  given.max_tokens = 7;
  given.enable_thinking = false;
  const auto request = parse_chat_request(with(""), given);
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->sampling.temperature, 0.3);
  EXPECT_EQ(request->max_tokens, 7);
  EXPECT_EQ(request->chat.enable_thinking, false);
  EXPECT_FALSE(request->stream);
  EXPECT_FALSE(request->sampling.seed.has_value());
  EXPECT_FALSE(request->sampling.top_logprobs.has_value());
  EXPECT_TRUE(request->chat.parallel_tool_calls);
  EXPECT_EQ(request->chat.tool_choice, ToolChoice::automatic);
}

TEST(ChatRequest, NullCountsAsAbsentAndUnknownFieldsAreAccepted) {
  Json body = Json::parse(with(""));
  for (const char* name : {"model",
                           "temperature",
                           "top_p",
                           "top_k",
                           "min_p",
                           "presence_penalty",
                           "frequency_penalty",
                           "repeat_penalty",
                           "seed",
                           "stop",
                           "logit_bias",
                           "logprobs",
                           "top_logprobs",
                           "max_tokens",
                           "max_completion_tokens",
                           "n",
                           "stream",
                           "stream_options",
                           "tools",
                           "tool_choice",
                           "parallel_tool_calls",
                           "response_format",
                           "chat_template_kwargs",
                           "reasoning_effort",
                           "prompt_cache_key",
                           "user",
                           "metadata",
                           "return_progress",
                           "functions"}) {
    body[name] = nullptr;
  }
  body["never_heard_of"] = {{"a", 1}};
  body["messages"][0]["cache_control"] = {{"type", "ephemeral"}};
  const auto request = parse(body.dump());
  EXPECT_EQ(request.sampling.temperature, SamplingParams{}.temperature);
  EXPECT_FALSE(request.max_tokens.has_value());
}

TEST(ChatRequest, OfDuplicateFieldsTheLastCounts) {
  EXPECT_EQ(parse(with(R"("top_k":1,"top_k":2)")).sampling.top_k, 2);
}

TEST(ChatRequest, SamplingFieldsAreRead) {
  const auto request = parse(with(
      R"("temperature":0,"top_p":0.5,"top_k":-1,"min_p":0.1,"presence_penalty":-2,
         "frequency_penalty":2,"repetition_penalty":1.1,"repeat_last_n":128,"seed":42,
         "logprobs":true,"top_logprobs":5,"ignore_eos":true,"max_tokens":16.0,
         "stop":["a","b"],"logit_bias":{"5":-100,"999":1.5})"));
  EXPECT_EQ(request.sampling.temperature, 0);
  EXPECT_EQ(request.sampling.top_p, 0.5);
  EXPECT_EQ(request.sampling.top_k, 0);
  EXPECT_EQ(request.sampling.min_p, 0.1);
  EXPECT_EQ(request.sampling.presence_penalty, -2);
  EXPECT_EQ(request.sampling.frequency_penalty, 2);
  EXPECT_EQ(request.sampling.repeat_penalty, 1.1);
  EXPECT_EQ(request.sampling.repeat_last_n, 128);
  EXPECT_EQ(request.sampling.seed, 42U);
  EXPECT_EQ(request.sampling.top_logprobs, 5);
  EXPECT_TRUE(request.sampling.ignore_eos);
  EXPECT_EQ(request.max_tokens, 16);
  EXPECT_EQ(request.stop, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(request.sampling.logit_bias.size(), 2U);
  EXPECT_EQ(request.sampling.logit_bias[0], (std::pair<Token, float>{5, -100.0F}));
  EXPECT_EQ(request.sampling.logit_bias[1], (std::pair<Token, float>{999, 1.5F}));
}

TEST(ChatRequest, AlternativeSpellingsAreRead) {
  EXPECT_EQ(parse(with(R"("stop":"x")")).stop, std::vector<std::string>{"x"});
  EXPECT_EQ(parse(with(R"("max_tokens":3,"max_completion_tokens":4)")).max_tokens, 4);
  EXPECT_FALSE(parse(with(R"("max_tokens":-1)")).max_tokens.has_value());
  EXPECT_EQ(parse(with(R"("logprobs":true)")).sampling.top_logprobs, 0);
  EXPECT_FALSE(parse(with(R"("logprobs":false,"top_logprobs":0)")).sampling.top_logprobs);
  const auto bias = parse(with(R"("logit_bias":[[7,2],[8,false]])")).sampling.logit_bias;
  ASSERT_EQ(bias.size(), 2U);
  EXPECT_EQ(bias[0].second, 2.0F);
  EXPECT_TRUE(std::isinf(bias[1].second));
}

TEST(ChatRequest, AnyIntegerIsASeedAndMinusOneIsRandom) {
  EXPECT_FALSE(parse(with(R"("seed":-1)")).sampling.seed.has_value());
  EXPECT_FALSE(parse(with(R"("seed":4294967295)")).sampling.seed.has_value());
  EXPECT_EQ(parse(with(R"("seed":0)")).sampling.seed, 0U);
  EXPECT_TRUE(parse(with(R"("seed":9223372036854775807)")).sampling.seed.has_value());
  EXPECT_NE(parse(with(R"("seed":4294967297)")).sampling.seed,
            parse(with(R"("seed":4294967298)")).sampling.seed);
}

TEST(ChatRequest, EveryKindOfMessageIsTranslated) {
  const auto chat = parse(with_messages(R"([
    {"role":"system","content":"be kind"},
    {"role":"developer","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
    {"role":"user","content":""},
    {"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[
      {"id":"c1","type":"function","function":{"name":"f","arguments":"{\"z\": 1}"}},
      {"id":"c2","function":{"name":"g","arguments":{"z":1,"a":2}}},
      {"function":{"name":"h"}}]},
    {"role":"tool","tool_call_id":"c1","name":"f","content":"42"},
    {"role":"assistant","reasoning":"alias","content":[{"type":"refusal","refusal":"no"}]},
    {"role":"assistant"}])"))
                        .chat;
  ASSERT_EQ(chat.messages.size(), 7U);
  EXPECT_EQ(chat.messages[0].role, Role::system);
  EXPECT_EQ(chat.messages[1].role, Role::developer);
  EXPECT_EQ(chat.messages[1].content, "a\nb");
  EXPECT_EQ(chat.messages[2].content, "");
  const ChatMessage& assistant = chat.messages[3];
  EXPECT_EQ(assistant.reasoning, "hm");
  ASSERT_EQ(assistant.tool_calls.size(), 3U);
  EXPECT_EQ(assistant.tool_calls[0].id, "c1");
  EXPECT_EQ(assistant.tool_calls[0].arguments, "{\"z\": 1}") << "the client's spelling is kept";
  EXPECT_EQ(assistant.tool_calls[1].arguments, "{\"z\":1,\"a\":2}") << "so is the key order";
  EXPECT_EQ(assistant.tool_calls[2].arguments, "{}");
  EXPECT_EQ(chat.messages[4].tool_call_id, "c1");
  EXPECT_EQ(chat.messages[4].name, "f");
  EXPECT_EQ(chat.messages[5].reasoning, "alias");
  EXPECT_EQ(chat.messages[5].content, "no");
}

TEST(ChatRequest, ToolsKeepTheirKeyOrder) {
  const auto chat =
      parse(with(
                R"("tools":[{"type":"function","function":{"name":"f","description":"d",
          "parameters":{"type":"object","properties":{"z":{},"a":{}},"required":["z"]}}},
          {"function":{"name":"g"}}],
         "tool_choice":{"type":"function","function":{"name":"g"}},
         "parallel_tool_calls":false)"))
          .chat;
  ASSERT_EQ(chat.tools.size(), 2U);
  EXPECT_EQ(chat.tools[0].description, "d");
  EXPECT_EQ(chat.tools[0].parameters,
            R"({"type":"object","properties":{"z":{},"a":{}},"required":["z"]})");
  EXPECT_EQ(chat.tools[1].parameters, R"({"type":"object","properties":{}})");
  EXPECT_EQ(chat.tool_choice, ToolChoice::required);
  EXPECT_EQ(chat.tool_choice_name, "g");
  EXPECT_FALSE(chat.parallel_tool_calls);
}

TEST(ChatRequest, ToolChoiceStringsAreRead) {
  const std::string tool = R"("tools":[{"function":{"name":"f"}}],"tool_choice":)";
  EXPECT_EQ(parse(with(tool + "\"auto\"")).chat.tool_choice, ToolChoice::automatic);
  EXPECT_EQ(parse(with(tool + "\"none\"")).chat.tool_choice, ToolChoice::none);
  EXPECT_EQ(parse(with(tool + "\"required\"")).chat.tool_choice, ToolChoice::required);
  EXPECT_EQ(parse(with("\"tool_choice\":\"none\"")).chat.tool_choice, ToolChoice::none);
}

TEST(ChatRequest, ResponseFormatsAreRead) {
  using Kind = ResponseFormat::Kind;
  const auto format = [](const std::string& json) {
    return parse(with("\"response_format\":" + json)).chat.response_format;
  };
  EXPECT_EQ(format(R"({"type":"text"})").kind, Kind::text);
  EXPECT_EQ(format(R"({"type":"json_object"})").kind, Kind::json_object);
  const auto schema =
      format(R"({"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}})");
  EXPECT_EQ(schema.kind, Kind::json_schema);
  EXPECT_EQ(schema.schema, R"({"type":"object"})");
  EXPECT_EQ(format(R"({"type":"json_object","schema":{"type":"array"}})").schema,
            R"({"type":"array"})");
}

TEST(ChatRequest, ThinkingAndTemplateArgumentsAreRead) {
  EXPECT_EQ(parse(with("")).chat.enable_thinking, std::nullopt);
  EXPECT_EQ(parse(with(R"("reasoning_effort":"none")")).chat.enable_thinking, false);
  const auto high = parse(with(R"("reasoning_effort":"high")")).chat;
  EXPECT_EQ(high.enable_thinking, std::nullopt);
  EXPECT_EQ(high.template_arguments.at("reasoning_effort"), "\"high\"");
  const auto chat = parse(with(
                              R"("reasoning_effort":"none","chat_template_kwargs":
         {"enable_thinking":true,"x":[1],"y":"z"})"))
                        .chat;
  EXPECT_EQ(chat.enable_thinking, true) << "the more specific setting wins";
  EXPECT_EQ(chat.template_arguments,
            (std::map<std::string, std::string>{{"x", "[1]"}, {"y", "\"z\""}}));
}

TEST(ChatRequest, StreamAndSessionFieldsAreRead) {
  const auto request = parse(with(
      R"("stream":true,"stream_options":{"include_usage":true},"return_progress":true,
         "prompt_cache_key":"k","user":"u","metadata":{"user_id":"m"},"n":1,"model":"any")"));
  EXPECT_TRUE(request.stream);
  EXPECT_TRUE(request.extras.include_usage);
  EXPECT_TRUE(request.extras.return_progress);
  EXPECT_EQ(request.session_key, "k");
  EXPECT_EQ(request.user_hint, "m");
}

}  // namespace
}  // namespace samovar
