// Goal: every part of a Messages request is understood as its documentation says, and what cannot
// be honoured is refused by its name. Method: translations in full, and tables of bodies with the
// field and words expected in the error; each body is also read message by message with a memo,
// which must give the same.
#include "api/messages_request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace samovar {
namespace {

ChatDefaults defaults() {
  ChatDefaults values;
  values.vocab_size = 1000;
  return values;
}

// A conversation as one readable text.
std::string shown(const ChatRequest& chat) {
  std::string text;
  for (const ChatMessage& message : chat.messages) {
    text += std::string(to_string(message.role)) + "(" + message.content + ")";
    if (!message.reasoning.empty()) text += " thinks(" + message.reasoning + ")";
    if (!message.tool_call_id.empty()) text += " for " + message.tool_call_id;
    for (const ToolCall& call : message.tool_calls) {
      text += " calls " + call.id + " " + call.name + call.arguments;
    }
    text += "\n";
  }
  return text;
}

DialectRequest parse(const std::string& body) {
  MessageMemo memo;
  auto request = parse_messages_request(body, defaults());
  EXPECT_TRUE(request.has_value()) << body << "\n" << request.error().describe();
  if (!request) return {};
  for (int round = 0; round < 2; ++round) {  // the second time from memory
    const auto again = parse_messages_request(body, defaults(), &memo);
    EXPECT_TRUE(again.has_value());
    EXPECT_EQ(shown(again->chat), shown(request->chat));
  }
  EXPECT_GT(memo.bytes(), 0u);
  return *request;
}

// A body with one good message and these further fields.
std::string with(const std::string& fields) {
  return R"({"messages":[{"role":"user","content":"hi"}],)" + fields + "}";
}
std::string messages(const std::string& list) { return R"({"messages":[)" + list + "]}"; }

TEST(MessagesRequest, AnAgentsConversation) {
  const DialectRequest request = parse(R"({
    "model": "any", "max_tokens": 300, "stream": true,
    "system": [{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral"}},
               {"type":"text","text":"Be brief."}],
    "messages": [
      {"role":"user","content":[{"type":"text","text":"<reminder>"},{"type":"text","text":"Go"}]},
      {"role":"assistant","content":[
        {"type":"thinking","thinking":"look first","signature":"s"},
        {"type":"text","text":"I look. "},
        {"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a","n":1.0}},
        {"type":"text","text":"Then write."}]},
      {"role":"user","content":[
        {"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"x"},
                                                                 {"type":"text","text":"y"}]},
        {"type":"tool_result","tool_use_id":"toolu_2","content":"no such file","is_error":true},
        {"type":"text","text":"go on"}]}],
    "tools": [{"name":"read","description":"d","input_schema":{"type":"object"},
               "cache_control":{"type":"ephemeral"}}],
    "stop_sequences": ["END"], "temperature": 0.5, "top_k": 7, "top_p": 0.9,
    "metadata": {"user_id": "u1"}, "service_tier": "auto",
    "thinking": {"type":"enabled","budget_tokens":2048}})");
  EXPECT_EQ(shown(request.chat),
            "system(You are an agent.\nBe brief.)\n"
            "user(<reminder>\nGo)\n"
            "assistant(I look. Then write.) thinks(look first) calls toolu_1 "
            "read{\"path\":\"a\",\"n\":1.0}\n"
            "tool(x\ny) for toolu_1\n"
            "tool(Error: no such file) for toolu_2\n"
            "user(go on)\n");
  ASSERT_EQ(request.chat.tools.size(), 1u);
  EXPECT_EQ(request.chat.tools[0].parameters, R"({"type":"object"})");
  EXPECT_EQ(request.max_tokens, 300);
  EXPECT_TRUE(request.stream);
  EXPECT_EQ(request.stop, std::vector<std::string>{"END"});
  EXPECT_EQ(request.sampling.temperature, 0.5);
  EXPECT_EQ(request.sampling.top_k, 7);
  EXPECT_EQ(request.sampling.top_p, 0.9);
  EXPECT_EQ(request.user_hint, "u1");
  EXPECT_EQ(request.session_key, "");
  EXPECT_EQ(request.chat.enable_thinking, true);
  EXPECT_EQ(request.sampling.thinking_budget, 2048);
}

TEST(MessagesRequest, SystemMessagesStayWhereTheyAre) {
  EXPECT_EQ(shown(parse(messages(R"({"role":"user","content":"a"},
                                    {"role":"system","content":"note"},
                                    {"role":"user","content":[]})"))
                      .chat),
            "user(a)\nsystem(note)\nuser()\n");
}

// As a message it would be the last question, before which templates drop the loop's reasoning.
TEST(MessagesRequest, AReminderBesideAToolResultIsNoQuestion) {
  EXPECT_EQ(shown(parse(messages(R"({"role":"user","content":[
                {"type":"tool_result","tool_use_id":"t","content":"x"},
                {"type":"text","text":"<system-reminder>note</system-reminder>"},
                {"type":"text","text":"and you?"}]})"))
                      .chat),
            "tool(x\n\n<system-reminder>note</system-reminder>) for t\nuser(and you?)\n");
}

TEST(MessagesRequest, ErrorsOfToolsCanBeReadInTheText) {
  const auto result = [](const std::string& content) {
    return parse(messages(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t",
                              "is_error":true,"content":)" +
                          content + "}]}"))
        .chat.messages.at(0)
        .content;
  };
  EXPECT_EQ(result(R"("refused")"), "Error: refused");
  EXPECT_EQ(result(R"("Error: refused")"), "Error: refused");
  EXPECT_EQ(result(R"("<tool_use_error>no</tool_use_error>")"),
            "<tool_use_error>no</tool_use_error>");
  EXPECT_EQ(result(R"("<html>502</html>")"), "Error: <html>502</html>");
  EXPECT_EQ(result("null"), "Error: ");
}

TEST(MessagesRequest, ToolChoices) {
  const std::string tools = R"("tools":[{"name":"f"},{"name":"g"}],"tool_choice":)";
  EXPECT_EQ(parse(with(tools + R"({"type":"auto"})")).chat.tool_choice, ToolChoice::automatic);
  EXPECT_EQ(parse(with(tools + R"({"type":"none"})")).chat.tool_choice, ToolChoice::none);
  EXPECT_EQ(parse(with(tools + R"({"type":"any"})")).chat.tool_choice, ToolChoice::required);
  const auto named = parse(with(tools + R"({"type":"tool","name":"g",
                                           "disable_parallel_tool_use":true})"));
  EXPECT_EQ(named.chat.tool_choice, ToolChoice::required);
  EXPECT_EQ(named.chat.tool_choice_name, "g");
  EXPECT_FALSE(named.chat.parallel_tool_calls);
}

TEST(MessagesRequest, ThinkingIsOffUnlessAskedFor) {
  EXPECT_EQ(parse(with(R"("max_tokens":9)")).chat.enable_thinking, false);
  EXPECT_EQ(parse(with(R"("thinking":{"type":"disabled"})")).chat.enable_thinking, false);
  const auto adaptive = parse(with(R"("thinking":{"type":"adaptive"})"));
  EXPECT_EQ(adaptive.chat.enable_thinking, true);
  EXPECT_FALSE(adaptive.sampling.thinking_budget.has_value());
  EXPECT_EQ(parse(with(R"("chat_template_kwargs":{"enable_thinking":true})")).chat.enable_thinking,
            true);
  ChatDefaults owner = defaults();
  owner.enable_thinking = true;
  EXPECT_EQ(parse_messages_request(with(R"("max_tokens":9)"), owner)->chat.enable_thinking, true);
}

TEST(MessagesRequest, FormatsBothSpellings) {
  for (const char* fields :
       {R"("output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}})",
        R"("output_format":{"type":"json_schema","schema":{"type":"object"}})"}) {
    const auto request = parse(with(fields));
    EXPECT_EQ(request.chat.response_format.kind, ResponseFormat::Kind::json_schema);
    EXPECT_EQ(request.chat.response_format.schema, R"({"type":"object"})");
  }
}

TEST(MessagesRequest, WhatAgentsSendAndNeedsNothingIsAccepted) {
  (void)parse(with(R"("context_management":{"edits":[{"type":"clear_thinking_20251015",
                      "keep":"all"}]},"mcp_servers":[],"container":null,"speed":"standard")"));
  (void)parse(messages(R"({"role":"user","content":"a"},
      {"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]},
      {"role":"user","content":"b"})"));
  const auto document = parse(messages(R"({"role":"user","content":[{"type":"document",
      "title":"T","context":"C",
      "source":{"type":"text","media_type":"text/plain","data":"words"}}]})"));
  EXPECT_EQ(shown(document.chat), "user(T\nC\nwords)\n");
}

TEST(MessagesRequest, WhatCannotBeHonouredIsRefusedByName) {
  struct Row {
    std::string body;
    const char* field;
    const char* words;
  };
  const std::string user = R"({"role":"user","content":"a"})";
  const std::vector<Row> table = {
      {"{", "", "not valid JSON"},
      {"[]", "", "object"},
      {"{}", "messages", "missing"},
      {R"({"messages":[]})", "messages", "empty"},
      {R"({"messages":"x"})", "messages", "array"},
      {messages(R"({"role":"tool","content":"x"})"), "messages[0].role", "\"tool\""},
      {messages(R"({"role":"user"})"), "messages[0].content", "missing"},
      {messages(R"({"role":"user","content":1})"), "messages[0].content", "array of blocks"},
      {messages(user + R"(,{"role":"user","content":[{"type":"text"}]})"),
       "messages[1].content[0].text", "missing"},
      {messages(R"({"role":"user","content":[{"type":"image","source":{}}]})"),
       "messages[0].content[0].type", "\"image\""},
      {messages(R"({"role":"user","content":[{"type":"tool_use","id":"a","name":"b"}]})"),
       "messages[0].content[0].type", "tool_use"},
      {messages(R"({"role":"user","content":[{"type":"tool_result","content":"x"}]})"),
       "messages[0].content[0].tool_use_id", "missing"},
      {messages(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[
                    {"type":"image"}]}]})"),
       "messages[0].content[0].content[0].type", "image"},
      {messages(R"({"role":"assistant","content":[{"type":"tool_result"}]},)" + user),
       "messages[0].content[0].type", "tool_result"},
      {messages(R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b",
                    "input":"{}"}]},)" +
                user),
       "messages[0].content[0].input", "object"},
      {messages(user + R"(,{"role":"assistant","content":"{"})"), "messages[1].role",
       "continuing it is not supported"},
      {messages(R"({"role":"user","content":[{"type":"document","citations":{"enabled":true},
                    "source":{"type":"text","data":"d"}}]})"),
       "messages[0].content[0].citations", "not made"},
      {with(R"("system":[{"type":"image"}])"), "system[0].type", "image"},
      {with(R"("max_tokens":0)"), "max_tokens", "0"},
      {with(R"("stop_sequences":"a b")") + "x", "", "not valid JSON"},
      {with(R"("stop_sequences":[1])"), "stop_sequences[0]", "string"},
      {with(R"("tools":[{"type":"bash_20250124","name":"bash"}])"), "tools[0].type",
       "bash_20250124"},
      {with(R"("tools":[{"name":""}])"), "tools[0].name", "empty"},
      {with(R"("tool_choice":{"type":"any"})"), "tool_choice.type", "no tools"},
      {with(R"("tool_choice":{"type":"tool","name":"x"})"), "tool_choice.name", "not among"},
      {with(R"("tool_choice":{"type":"some"})"), "tool_choice.type", "some"},
      {with(R"("thinking":{"type":"enabled"})"), "thinking.budget_tokens", "missing"},
      {with(R"("thinking":{"type":"deep"})"), "thinking.type", "deep"},
      {with(R"("context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]})"),
       "context_management.edits[0].type", "clear_tool_uses"},
      {with(R"("mcp_servers":[{"url":"x"}])"), "mcp_servers", "not supported"},
      {with(R"("container":"c")"), "container", "not supported"},
      {with(R"("thread":{"type":"create"})"), "thread", "not supported"},
      {with(R"("output_config":{"format":{"type":"json_schema"}})"), "output_config.format.schema",
       "missing"},
  };
  MessageMemo memo;
  for (const Row& row : table) {
    for (MessageMemo* used : {static_cast<MessageMemo*>(nullptr), &memo}) {
      const auto request = parse_messages_request(row.body, defaults(), used);
      ASSERT_FALSE(request.has_value()) << row.body;
      EXPECT_EQ(request.error().field, row.field) << row.body;
      EXPECT_NE(request.error().message.find(row.words), std::string::npos)
          << row.body << "\n"
          << request.error().message;
    }
  }
}

}  // namespace
}  // namespace samovar
