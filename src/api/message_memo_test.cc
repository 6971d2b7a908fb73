// Goal: a request whose messages are parsed one by one, most of them from memory, is the request
// (or the refusal, word for word) that parsing the whole body gives, whatever the body is.
// Method: conversations that grow and change, then thousands of bodies damaged at random places,
// each parsed both ways with one memo throughout; and the cases that are easy to get wrong.
#include "api/message_memo.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "api/chat_request.h"
#include "api/json_outline.h"
#include "base/limits.h"

namespace samovar {
namespace {

using Json = nlohmann::ordered_json;

std::string shown(const ChatMessage& message) {
  std::string text = fmt::format("{}|{}|{}|{}|{}", to_string(message.role), message.content,
                                 message.reasoning, message.tool_call_id, message.name);
  for (const ToolCall& call : message.tool_calls) {
    text += fmt::format("|{}({}){}", call.name, call.arguments, call.id);
  }
  return text + "\n";
}

// Everything of a request or its refusal.
std::string shown(const Result<ChatCompletionRequest>& request) {
  if (!request) {
    const Error& error = request.error();
    return fmt::format("{} {} at {}: {}", static_cast<int>(error.kind), error.message, error.field,
                       error.remedy);
  }
  std::string text;
  for (const ChatMessage& message : request->chat.messages) text += shown(message);
  for (const Tool& tool : request->chat.tools) {
    text += fmt::format("tool {} {} {}\n", tool.name, tool.description, tool.parameters);
  }
  for (const auto& [name, value] : request->chat.template_arguments) text += name + "=" + value;
  for (const std::string& stop : request->stop) text += "stop " + stop;
  return text + fmt::format("{} {} {} {} {} {} {}", static_cast<int>(request->chat.tool_choice),
                            request->chat.tool_choice_name, request->max_tokens.value_or(-7),
                            request->stream, request->sampling.temperature, request->session_key,
                            request->chat.response_format.schema);
}

// Parses both ways; what came out.
std::string parse(const std::string& body, MessageMemo& memo) {
  ChatDefaults defaults;
  defaults.vocab_size = 1000;
  const std::string whole = shown(parse_chat_request(body, defaults));
  EXPECT_EQ(shown(parse_chat_request(body, defaults, &memo)), whole) << body.substr(0, 2000);
  return whole;
}

bool is_by_message(const std::string& body) {
  const auto outline = outline_json(body);
  return outline && outline->has_messages;
}

Json said(const char* role, const std::string& content) {
  return {{"role", role}, {"content", content}};
}

Json conversation(int exchanges) {
  Json body = {{"model", "any"}, {"temperature", 0.5}, {"messages", Json::array()}};
  Json& messages = body["messages"];
  messages.push_back(said("system", "Be \"terse\" \\ and\nplain, [please]: {ok}"));
  for (int i = 0; i < exchanges; ++i) {
    messages.push_back(said("user", fmt::format("question {}, \xC3\xA9 \xF0\x9F\x8D\xB5", i)));
    Json call = said("assistant", "");
    call["reasoning_content"] = "a thought";
    call["tool_calls"] = {{{"id", fmt::format("call{}", i)},
                           {"type", "function"},
                           {"function", {{"name", "look"}, {"arguments", "{\"at\": \"x\"}"}}}}};
    messages.push_back(call);
    Json result = said("tool", "{\"seen\": [1, 2.5, null]}");
    result["tool_call_id"] = fmt::format("call{}", i);
    messages.push_back(result);
    Json answer = {{"role", "assistant"}};
    answer["content"] = {{{"type", "text"}, {"text", "one"}}, {{"type", "text"}, {"text", "two"}}};
    messages.push_back(answer);
  }
  messages.push_back(said("user", "And then?"));
  body["tools"] = {{{"type", "function"},
                    {"function", {{"name", "look"}, {"parameters", {{"type", "object"}}}}}}};
  body["stop"] = {"messages", "END"};
  return body;
}

TEST(MessageMemo, AGrowingConversationIsParsedFromMemoryWithTheSameResult) {
  MessageMemo memo;
  for (int exchanges = 0; exchanges < 12; ++exchanges) {
    for (const int indent : {-1, 2}) {
      const std::string body = conversation(exchanges).dump(indent);
      EXPECT_TRUE(is_by_message(body));
      EXPECT_NE(parse(body, memo).find("And then?"), std::string::npos);
      EXPECT_GT(memo.bytes(), 0u);
    }
  }
  // Known by now: nothing is added.
  const std::size_t bytes = memo.bytes();
  (void)parse(conversation(11).dump(), memo);
  EXPECT_EQ(memo.bytes(), bytes);
}

TEST(MessageMemo, DamagedBodiesAreRefusedAsTheWholeBodyIs) {
  MessageMemo memo;
  std::mt19937 random(41);
  const std::string good = conversation(3).dump(1);
  (void)parse(good, memo);
  const std::vector<std::string> pieces = {"\"",
                                           "\\",
                                           "{",
                                           "}",
                                           "[",
                                           "]",
                                           ",",
                                           ":",
                                           " ",
                                           "\n",
                                           "null",
                                           "1e999",
                                           "\xFF",
                                           "\xC3",
                                           std::string(1, '\0'),
                                           "\"messages\":",
                                           "\"messages\":[]",
                                           "{\"role\":\"user\"}",
                                           "\\u006d",
                                           "\"role\":\"no\",",
                                           "//x\n",
                                           "\xEF\xBB\xBF",
                                           "-",
                                           "1",
                                           "true",
                                           "\"m\\u0065ssages\":[],"};
  int refused = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string body = good;
    for (auto count = 1 + random() % 2; count > 0; --count) {
      const std::size_t at = random() % body.size();
      switch (random() % 4) {
        case 0:
          body.erase(at, 1 + random() % 3);
          break;
        case 1:
          body.resize(at);
          body += pieces[random() % pieces.size()];
          break;
        case 2:
          std::swap(body[at], body[random() % body.size()]);
          break;
        default:
          body.insert(at, pieces[random() % pieces.size()]);
      }
    }
    if (!parse_chat_request(body, {})) ++refused;
    (void)parse(body, memo);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
  EXPECT_GT(refused, 3000);
  EXPECT_LT(refused, 6000) << "some damage does no harm";
}

TEST(MessageMemo, BodiesThatAreEasyToMisreadGiveWhatTheWholeBodyGives) {
  MessageMemo memo;
  const std::string user = R"({"role":"user","content":"hi"})";
  const std::string nul(1, '\0');
  const std::vector<std::string> bodies = {
      "",
      "[]",
      "null",
      "\"messages\"",
      R"({"messages":[]})",
      R"({"messages":null})",
      R"({"messages":[null]})",
      R"({"messages":["x"]})",
      R"({"messages":[[]]})",
      R"({"messages":{"a":[)" + user + "]}}",
      R"([{"messages":[)" + user + "]}]",
      R"({"messages":[)" + user + ",]}",
      R"({"messages":[,)" + user + "]}",
      R"({"messages":[)" + user + user + "]}",
      R"({"messages":[)" + user + "]} x",
      R"({"messages":[)" + user + "]}" + nul + "x",
      "{}" + nul + R"({"messages":[)" + user + "]}",
      R"({"messages":[)" + user + nul + "]}",
      R"({"messages":[)" + user + R"(],"messages":[]})",
      R"({"messages":[],"messages":[)" + user + "]}",
      R"({"messages":[)" + user + R"(],"m\u0065ssages":[]})",
      R"({"m\u0065ssages":[)" + user + "]}",
      R"({"x":"messages","y":[)" + user + "]}",
      R"({"x":"messages":[)" + user + "]}",
      R"({"x":{"messages":[)" + user + "]}}",
      R"({"messages" : [ )" + user + " ] }",
      "\xEF\xBB\xBF"
      R"({"messages":[)" +
          user + "]}",
      R"({"messages":[{"role":"user","content":"a\\"},{"role":"user","content":"\\\"]}"}]})",
      R"({"messages":[{"role":"user","role":"assistant","content":"twice"}]})",
      R"({"messages":[{"role":"user","content":"x","n":1e999}]})",
      R"({"messages":[{"role":"user","content":"x","n":123456789012345678901234567890}]})",
      R"({"messages":[{"role":"user"}]})",
      R"({"messages":[{"role":"robot","content":"x"}],"n":2})",
      R"({"messages":[{"role":"user","content":[{"type":"image_url"}]}]})",
      R"({"messages":[)" + user + R"(],"n":2})",
      R"({"messages":[)" + user + R"(],"functions":[]})",
      R"({"messages":[)" + user + R"(],"temperature":-1})",
      R"({"messages":[{"role":"user","content":")"
      "\xFF"
      R"("}]})",
      R"({"messages":[)" + user +
          R"(],"user":")"
          "\xFF"
          R"("})",
      R"({"messages":[{"role":"user","content":"x","deep":)" + std::string(63, '[') +
          std::string(63, ']') + "}]}",
      R"({"messages":[{"role":"user","content":"x","deep":)" + std::string(60, '[') +
          std::string(60, ']') + "}]}",
  };
  for (int round = 0; round < 2; ++round) {  // the second time from memory
    for (const std::string& body : bodies) (void)parse(body, memo);
  }
}

TEST(MessageMemo, LimitsHoldForTheWholeBody) {
  MessageMemo memo;
  std::string many = R"({"messages":[)";
  for (std::size_t i = 0; i <= limits::messages_max; ++i) {
    many += (i > 0 ? "," : "") + std::string(R"({"role":"user","content":"x"})");
  }
  EXPECT_NE(parse(many + "]}", memo).find("more than the"), std::string::npos);
  std::string members = R"({"messages":[{"role":"user","content":"x")";
  for (int i = 0; i < 11000; ++i) members += fmt::format(",\"{}\":1", i);
  EXPECT_NE(parse(members + "}]}", memo).find("too many members"), std::string::npos);
}

TEST(MessageMemo, AMessageWithAProblemIsNotKept) {
  MessageMemo memo;
  const std::string body = R"({"messages":[{"role":"robot","content":"x"}]})";
  EXPECT_NE(parse(body, memo).find("messages[0].role"), std::string::npos);
  EXPECT_EQ(memo.bytes(), 0u);
  const std::string second =
      R"({"messages":[{"role":"user","content":"x"},{"role":"robot","content":"x"}]})";
  EXPECT_NE(parse(second, memo).find("messages[1].role"), std::string::npos);
}

TEST(MessageMemo, ForgetsTheOldestAndNeverKeepsMoreThanAllowed) {
  MessageMemo memo(100'000);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = fmt::format("{} {}", i, std::string(300, 'x'));
    memo.add(text, std::make_shared<const ParsedMessages>());
    EXPECT_LE(memo.bytes(), 100'000u);
    EXPECT_NE(memo.find(text), nullptr);
  }
  EXPECT_EQ(memo.find(fmt::format("0 {}", std::string(300, 'x'))), nullptr);
  memo.add(std::string(60'000, 'y'), std::make_shared<const ParsedMessages>());
  EXPECT_EQ(memo.find(std::string(60'000, 'y')), nullptr) << "too large to keep";
}

TEST(MessageMemo, ThreadsShareIt) {
  MessageMemo memo(20'000);  // always forgetting
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&memo, number] {
      for (int i = 0; i < 60; ++i) (void)parse(conversation((i + number) % 9).dump(), memo);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace samovar
