// Goal: every field that means something arrives in its place, and everything that cannot be
// honoured is refused with the field's path and a remedy. Method: one table of good bodies with
// what they must become, one of bad bodies; the parser with a memo must say the same as the one
// without.
#include "api/responses_request.h"

#include <gtest/gtest.h>

#include <map>

#include "api/api_doubles.h"
#include "api/message_memo.h"

namespace samovar {
namespace {

using test::Json;

// Stored items by name.
class FakeHistory final : public ResponseHistory {
 public:
  [[nodiscard]] Result<std::vector<Items>> conversation(const std::string& id) const override {
    auto found = find(conversations, id);
    if (!found) return std::unexpected(found.error());
    return std::vector<Items>{*found};
  }
  [[nodiscard]] Result<std::shared_ptr<const Json>> item(const std::string& id) const override {
    return find(items, id);
  }
  std::map<std::string, Json> conversations;
  std::map<std::string, Json> items;

 private:
  static Result<std::shared_ptr<const Json>> find(const std::map<std::string, Json>& from,
                                                  const std::string& id) {
    const auto found = from.find(id);
    if (found == from.end())
      return fail(ErrorKind::not_found, "no \"" + id + "\"", "id", "send it");
    return std::make_shared<const Json>(found->second);
  }
};

Result<ResponsesRequest> parse(const std::string& body, const ResponseHistory* history = nullptr,
                               MessageMemo* memo = nullptr) {
  return parse_responses_request(body, {}, history, memo);
}

// The conversation as one line a message.
std::string told(const ChatRequest& chat) {
  std::string out;
  for (const ChatMessage& message : chat.messages) {
    out += to_string(message.role) + (":" + message.content);
    if (!message.reasoning.empty()) out += " (" + message.reasoning + ")";
    for (const ToolCall& call : message.tool_calls) {
      out += " " + call.id + "=" + call.name + call.arguments;
    }
    if (!message.tool_call_id.empty()) out += " <" + message.tool_call_id;
    out += "\n";
  }
  return out;
}

TEST(ResponsesRequest, InputBecomesAConversation) {
  struct Row {
    const char* body;
    const char* messages;
  };
  const std::string own = encode_reasoning("my thoughts");
  const std::vector<Row> table = {
      {R"({"input":"hi"})", "user:hi\n"},
      {R"({"input":"hi","instructions":"Obey"})", "system:Obey\nuser:hi\n"},
      {R"({"input":[{"role":"user","content":"a"},{"type":"message","role":"assistant","id":"msg_1",
           "status":"completed","content":[{"type":"output_text","text":"b","annotations":[]}]},
           {"role":"user","content":[{"type":"input_text","text":"c"},{"type":"input_text",
           "text":"d"}]}]})",
       "user:a\nassistant:b\nuser:c\nd\n"},
      // What stands before the conversation is one system message.
      {R"({"instructions":"A","input":[{"role":"developer","content":"B"},
           {"role":"system","content":[{"type":"input_text","text":"C"}]},{"role":"user",
           "content":"u"},
           {"role":"developer","content":"later"}]})",
       "system:A\n\nB\n\nC\nuser:u\ndeveloper:later\n"},
      {R"({"input":[{"role":"developer","content":"B"},{"role":"user","content":"u"}]})",
       "developer:B\nuser:u\n"},
      // The items of one reply are one message again.
      {R"({"input":[{"role":"user","content":"u"},
           {"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text",
           "text":"why"}]},
           {"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]},
           {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"},
           {"type":"function_call","call_id":"c2","name":"g","arguments":""},
           {"type":"function_call_output","call_id":"c1","output":"one"},
           {"type":"function_call_output","call_id":"c2","output":[{"type":"input_text",
           "text":"error: no"}]}]})",
       "user:u\nassistant:so (why) c1=f{\"a\":1} c2=g{}\ntool:one <c1\ntool:error: no <c2\n"},
      // A reply after a reply is another one; a call belongs to the one before it.
      {R"({"input":[{"role":"assistant","content":"one"},{"role":"assistant","content":"two"},
           {"type":"reasoning","summary":[{"type":"summary_text","text":"r"}]},
           {"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
           {"type":"function_call_output","call_id":"c","output":""}]})",
       "assistant:one\nassistant:two\nassistant: (r) c=f{}\ntool: <c\n"},
      // Reasoning: its text, else what this server wrote, else the summary.
      {R"({"input":[{"role":"user","content":"u"},{"type":"reasoning",
           "summary":[{"type":"summary_text","text":"short"}],
           "content":[{"type":"reasoning_text","text":"long"}],"encrypted_content":"gAAA"}]})",
       "user:u\nassistant: (long)\n"},
      {R"({"input":[{"role":"user","content":"u"},{"type":"reasoning","summary":[]}]})",
       "user:u\n"},
  };
  for (const Row& row : table) {
    const auto request = parse(row.body);
    ASSERT_TRUE(request) << row.body << request.error().describe();
    EXPECT_EQ(told(request->chat), row.messages);
    EXPECT_TRUE(request->left_out.empty());
  }
  const auto own_words =
      parse(R"({"input":[{"role":"user","content":"u"},{"type":"reasoning","summary":[
      {"type":"summary_text","text":"short"}],"encrypted_content":")" +
            own + "\"}]}");
  ASSERT_TRUE(own_words);
  EXPECT_EQ(told(own_words->chat), "user:u\nassistant: (my thoughts)\n");
}

TEST(ResponsesRequest, WhatIsLeftOutIsSaid) {
  const auto request = parse(R"({"input":[{"role":"user","content":"u"},
      {"type":"reasoning","summary":[{"type":"summary_text","text":"short"}],
           "encrypted_content":"gAAAx"}],
      "text":{"verbosity":"low"},
      "tools":[{"type":"function","name":"f"},{"type":"web_search","external_web_access":false},
      {"type":"custom","name":"apply_patch","format":{"type":"grammar"}},{"type":"local_shell"},
      {"type":"namespace","name":"n","tools":[]},{"type":"web_search_preview_2025_03_11"}]})");
  ASSERT_TRUE(request) << request.error().describe();
  EXPECT_EQ(request->left_out,
            (std::vector<std::string>{
                "tools[1] (web_search)", "tools[2] (custom)", "tools[3] (local_shell)",
                "tools[4] (namespace)", "tools[5] (web_search_preview_2025_03_11)",
                "text.verbosity (low)", "input[1].encrypted_content (of another server)"}));
  EXPECT_EQ(told(request->chat), "user:u\nassistant: (short)\n");
  ASSERT_EQ(request->chat.tools.size(), 1U);
  const Json settings = Json::parse("{" + request->settings + "}");
  EXPECT_EQ(settings["tools"].size(), 1U);
  EXPECT_EQ(settings["left_out"][0], "tools[1] (web_search)");
}

TEST(ResponsesRequest, EveryFieldArrives) {
  const auto request = parse(R"({"model":"any","input":"u","stream":true,"store":false,
      "max_output_tokens":7,"temperature":0.5,"top_p":0.25,"top_k":3,"seed":4,"stop":"end",
      "top_logprobs":2,"include":["message.output_text.logprobs","reasoning.encrypted_content"],
      "reasoning":{"effort":"high","summary":"auto"},"prompt_cache_key":"key","user":"me",
      "metadata":{"user_id":"you","x":"y"},"parallel_tool_calls":false,"truncation":"disabled",
      "service_tier":"flex","text":{"format":{"type":"json_schema","name":"n","strict":true,
      "schema":{"type":"object"}},"verbosity":"medium"},
      "tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},
           "strict":true}],
      "tool_choice":{"type":"function","name":"f"}})");
  ASSERT_TRUE(request) << request.error().describe();
  EXPECT_TRUE(request->stream);
  EXPECT_FALSE(request->store);
  EXPECT_EQ(request->max_tokens, 7);
  EXPECT_EQ(request->sampling.temperature, 0.5);
  EXPECT_EQ(request->sampling.top_p, 0.25);
  EXPECT_EQ(request->sampling.top_k, 3);
  EXPECT_EQ(request->sampling.seed, 4U);
  EXPECT_EQ(request->sampling.top_logprobs, 2);
  EXPECT_TRUE(request->logprobs);
  EXPECT_EQ(request->stop, std::vector<std::string>{"end"});
  EXPECT_TRUE(request->reasoning.summary);
  EXPECT_TRUE(request->reasoning.encrypted);
  EXPECT_EQ(request->chat.template_arguments.at("reasoning_effort"), "\"high\"");
  EXPECT_EQ(request->session_key, "key");
  EXPECT_EQ(request->user_hint, "you");
  EXPECT_FALSE(request->chat.parallel_tool_calls);
  EXPECT_EQ(request->chat.response_format.kind, ResponseFormat::Kind::json_schema);
  EXPECT_EQ(request->chat.response_format.schema, R"({"type":"object"})");
  EXPECT_EQ(request->chat.tools.at(0).description, "d");
  EXPECT_EQ(request->chat.tools[0].parameters, R"({"type":"object"})");
  EXPECT_EQ(request->chat.tool_choice, ToolChoice::required);
  EXPECT_EQ(request->chat.tool_choice_name, "f");
  const Json settings = Json::parse("{" + request->settings + "}");
  EXPECT_EQ(settings["metadata"]["x"], "y");
  EXPECT_EQ(settings["text"]["format"]["name"], "n");
  EXPECT_EQ(settings["tool_choice"]["name"], "f");
  EXPECT_EQ(settings["reasoning"]["effort"], "high");
  EXPECT_EQ(settings["max_output_tokens"], 7);
  EXPECT_FALSE(settings.contains("left_out"));
}

TEST(ResponsesRequest, Defaults) {
  const auto request = parse(R"({"input":"u"})");
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->store) << "as OpenAI does";
  EXPECT_FALSE(request->stream);
  EXPECT_FALSE(request->background);
  EXPECT_EQ(request->max_tokens, std::nullopt);
  EXPECT_EQ(request->sampling.top_logprobs, std::nullopt);
  EXPECT_EQ(request->chat.enable_thinking, std::nullopt);
  EXPECT_FALSE(request->reasoning.summary);
  ChatDefaults owner;
  owner.store_responses = false;
  EXPECT_FALSE(parse_responses_request(R"({"input":"u"})", owner, nullptr)->store);
  EXPECT_TRUE(parse_responses_request(R"({"input":"u","store":true})", owner, nullptr)->store);
  for (const char* effort : {"none", "minimal"}) {
    const auto off =
        parse(R"({"input":"u","reasoning":{"effort":")" + std::string(effort) + "\"}}");
    EXPECT_EQ(off->chat.enable_thinking, false) << effort;
    EXPECT_FALSE(off->chat.template_arguments.contains("reasoning_effort"));
  }
}

TEST(ResponsesRequest, AllowedTools) {
  const std::string head = R"({"input":"u","tools":[{"type":"function","name":"f"},
      {"type":"function","name":"g"},{"type":"function","name":"h"}],"tool_choice":)";
  const auto names = [](const ResponsesRequest& request) {
    std::string all;
    for (const Tool& tool : request.chat.tools) all += tool.name;
    return all;
  };
  const auto two = parse(head + R"({"type":"allowed_tools","mode":"required","tools":[
      {"type":"function","name":"h"},{"type":"function","name":"f"}]}})");
  ASSERT_TRUE(two);
  EXPECT_EQ(names(*two), "fh");
  EXPECT_EQ(two->chat.tool_choice, ToolChoice::required);
  EXPECT_EQ(two->chat.tool_choice_name, "");
  const auto one = parse(head + R"({"type":"allowed_tools","mode":"required","tools":[
      {"type":"function","name":"g"}]}})");
  ASSERT_TRUE(one);
  EXPECT_EQ(names(*one), "fgh") << "the prompt stays what it was";
  EXPECT_EQ(one->chat.tool_choice_name, "g");
  const auto may = parse(head + R"({"type":"allowed_tools","mode":"auto","tools":[
      {"type":"function","name":"g"}]}})");
  EXPECT_EQ(names(*may), "g");
  EXPECT_EQ(may->chat.tool_choice, ToolChoice::automatic);
}

TEST(ResponsesRequest, WhatCannotBeHonouredIsRefusedByName) {
  struct Row {
    const char* body;
    const char* field;
    const char* words;
  };
  const std::vector<Row> table = {
      {R"({})", "input", "missing"},
      {R"({"input":[]})", "input", "empty"},
      {R"({"input":5})", "input", "a string or an array"},
      {R"({"input":["x"]})", "input[0]", "must be an object"},
      {R"({"input":[{"type":"web_search_call","id":"ws"}]})", "input[0].type", "web_search_call"},
      {R"({"input":[{"role":"user","content":[{"type":"input_image","image_url":"x"}]}]})",
       "input[0].content[0].type", "input_image"},
      {R"({"input":[{"role":"tool","content":"x"}]})", "input[0].role", "function_call_output"},
      {R"({"input":[{"role":"king","content":"x"}]})", "input[0].role", "no role"},
      {R"({"input":[{"role":"user"}]})", "input[0].content", "missing"},
      {R"({"input":[{"content":"x"}]})", "input[0].role", "missing"},
      {R"({"input":[{"type":"function_call","name":"f","arguments":"{}"}]})", "input[0].call_id",
       "missing"},
      {R"({"input":[{"type":"function_call","call_id":"c","name":"f","arguments":{}}]})",
       "input[0].arguments", "a string"},
      {R"({"input":[{"type":"function_call_output","call_id":"c"}]})", "input[0].output",
       "missing"},
      {R"({"input":[{"type":"function_call_output","call_id":"c",
           "output":[{"type":"input_image"}]}]})",
       "input[0].output[0].type", "input_image"},
      {R"({"input":[{"type":"reasoning","summary":[{"type":"text","text":"x"}]}]})",
       "input[0].summary[0].type", "summary_text"},
      {R"({"input":[{"type":"item_reference","id":"msg_1"}]})", "input[0].id", "no stored items"},
      {R"({"input":[{"id":"msg_1"}]})", "input[0].id", "no stored items"},
      {R"({"input":"u","previous_response_id":"resp_1"})", "previous_response_id", "no responses"},
      {R"({"input":"u","conversation":"c"})", "conversation", "previous_response_id"},
      {R"({"input":"u","prompt":{"id":"p"}})", "prompt", "instructions"},
      {R"({"input":"u","context_management":[]})", "context_management", "leave"},
      {R"({"input":"u","truncation":"auto"})", "truncation", "disabled"},
      {R"({"input":"u","background":true,"store":false})", "background", "\"store\": true"},
      {R"({"input":"u","max_output_tokens":0})", "max_output_tokens", "outside 1"},
      {R"({"input":"u","top_logprobs":21})", "top_logprobs", "outside 0"},
      {R"({"input":"u","include":["everything"]})", "include[0]", "not known"},
      {R"({"input":"u","include":[7]})", "include[0]", "not known"},
      {R"({"input":"u","reasoning":{"summary":"long"}})", "reasoning.summary", "concise"},
      {R"({"input":"u","text":{"format":{"type":"xml"}}})", "text.format.type", "json_schema"},
      {R"({"input":"u","text":{"format":{"type":"json_schema"}}})", "text.format.schema",
       "missing"},
      {R"({"input":"u","metadata":{"a":1}})", "metadata.a", "a string"},
      {R"({"input":"u","temperature":"hot"})", "temperature", "a number"},
      {R"({"input":"u","store":"yes"})", "store", "true or false"},
      {R"({"input":"u","tools":[{"type":"file_search"}]})", "tools[0].type", "file_search"},
      {R"({"input":"u","tools":[{"type":"mcp"}]})", "tools[0].type", "mcp"},
      {R"({"input":"u","tools":[{"type":"function"}]})", "tools[0].name", "missing"},
      {R"({"input":"u","tools":[{"name":"f"}]})", "tools[0].type", "missing"},
      {R"({"input":"u","tool_choice":"required"})", "tool_choice", "no tools"},
      {R"({"input":"u","tools":[{"type":"web_search"}],"tool_choice":"required"})", "tool_choice",
       "no tools"},
      {R"({"input":"u","tool_choice":{"type":"web_search"}})", "tool_choice.type", "web_search"},
      {R"({"input":"u","tool_choice":{"type":"function","name":"f"}})", "tool_choice.name",
       "not among"},
      {R"({"input":"u","tool_choice":{"type":"allowed_tools","mode":"auto","tools":[]}})",
       "tool_choice.tools", "names no tool"},
      {R"({"input":"u","tool_choice":{"type":"allowed_tools","mode":"auto",
           "tools":[{"name":"f"}]}})",
       "tool_choice.tools[0].name", "not among"},
      {R"({"input":"u","tool_choice":{"type":"allowed_tools","mode":"never",
           "tools":[{"name":"f"}]}})",
       "tool_choice.mode", "auto or required"},
      {R"([1])", "", "must be a JSON object"},
  };
  for (const Row& row : table) {
    for (const bool with_memo : {false, true}) {
      MessageMemo memo;
      const auto request = parse(row.body, nullptr, with_memo ? &memo : nullptr);
      ASSERT_FALSE(request) << row.body;
      EXPECT_EQ(request.error().kind, ErrorKind::invalid_argument);
      EXPECT_EQ(request.error().field, row.field) << row.body;
      EXPECT_NE(request.error().describe().find(row.words), std::string::npos)
          << row.body << request.error().describe();
    }
  }
}

TEST(ResponsesRequest, EarlierResponsesAndReferences) {
  FakeHistory history;
  history.conversations["resp_1"] = Json::parse(R"([{"type":"message","role":"user","content":"q"},
      {"id":"msg_1_0","type":"message","role":"assistant","content":[{"type":"output_text",
           "text":"a"}]}])");
  history.items["fc_1"] = Json::parse(
      R"({"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":"{}"})");
  const auto next =
      parse(R"({"input":"u","previous_response_id":"resp_1","instructions":"now"})", &history);
  ASSERT_TRUE(next) << next.error().describe();
  EXPECT_EQ(told(next->chat), "system:now\nuser:q\nassistant:a\nuser:u\n");
  EXPECT_EQ(next->previous, "resp_1");
  for (const char* reference : {R"({"type":"item_reference","id":"fc_1"})", R"({"id":"fc_1"})"}) {
    const auto called =
        parse(R"({"input":[{"role":"user","content":"u"},)" + std::string(reference) +
                  R"(,{"type":"function_call_output","call_id":"c","output":"o"}]})",
              &history);
    ASSERT_TRUE(called) << called.error().describe();
    EXPECT_EQ(told(called->chat), "user:u\nassistant: c=f{}\ntool:o <c\n");
  }
  const auto gone = parse(R"({"input":"u","previous_response_id":"resp_2"})", &history);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().field, "previous_response_id");
  EXPECT_EQ(parse(R"({"input":[{"type":"item_reference","id":"x"}]})", &history).error().field,
            "input[0].id");
}

TEST(ResponsesRequest, AGrowingInputIsParsedByItsNewItems) {
  MessageMemo memo;
  std::string items = R"({"role":"developer","content":"D"},{"role":"user","content":"u"})";
  for (int turn = 0; turn < 4; ++turn) {
    const std::string body = R"({"instructions":"I","input":[)" + items + R"(],"stream":true})";
    const auto with = parse(body, nullptr, &memo);
    const auto without = parse(body);
    ASSERT_TRUE(with && without);
    EXPECT_EQ(told(with->chat), told(without->chat));
    EXPECT_EQ(with->settings, without->settings);
    const std::size_t known = memo.bytes();
    EXPECT_GT(known, 0U);
    (void)parse(body, nullptr, &memo);
    EXPECT_EQ(memo.bytes(), known) << "nothing new";
    items += R"(,{"type":"reasoning","content":[{"type":"reasoning_text","text":"r"}],"summary":[]},
        {"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
        {"type":"function_call_output","call_id":"c","output":"o"},{"role":"user",
           "content":"more"})";
  }
}

}  // namespace
}  // namespace samovar
