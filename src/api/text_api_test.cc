// Goal: plain text goes in and out as the first completions API has it, and what cannot be honoured
// is refused by its name. Method: requests through TextApi over doubles (one token a byte); streams
// and whole answers are compared in full.
#include "api/text_api.h"

#include <gtest/gtest.h>

#include "api/api_doubles.h"

namespace samovar {
namespace {

using test::Json;
using test::sse_data;

class TextApiTest : public testing::Test {
 protected:
  static HttpRequest request(std::string body) {
    HttpRequest made;
    made.method = "POST";
    made.body = std::move(body);
    return made;
  }
  Json complete(const std::string& body) {
    Json json = Json::parse(text_.complete(request(body)).body);
    json.erase("id");
    json.erase("timings");
    return json;
  }
  static TurnText said(std::string bytes) { return {std::move(bytes), {}}; }
  static TurnFinished finished(FinishReason reason = FinishReason::end) {
    return {reason, test::sample_timings()};
  }

  FakeClock clock_;
  test::FakeChat chat_;
  test::FakeTurns turns_;
  test::FakeClient client_;
  ChatDefaults defaults_{.vocab_size = 1000};
  TurnRunner runner_{chat_, turns_, nullptr, clock_, defaults_, {.poll = 0, .headers = 0}};
  TextApi text_{runner_, "served"};
};

TEST_F(TextApiTest, AWholeCompletion) {
  turns_.script = {TurnStarted{}, said("C:ab|"), said("C:c|"), finished(FinishReason::length)};
  EXPECT_EQ(complete(R"({"prompt":"hi","max_tokens":9,"stop":"x","temperature":0})").dump(),
            R"({"object":"text_completion","created":1700000000,"model":"served",)"
            R"("system_fingerprint":"samovar","choices":[{"index":0,"text":"abc","logprobs":null,)"
            R"("finish_reason":"length"}],"usage":{"prompt_tokens":1000,"completion_tokens":41,)"
            R"("total_tokens":1041,"prompt_tokens_details":{"cached_tokens":900}}})");
  EXPECT_EQ(turns_.last.prompt.tokens, (Tokens{'h', 'i'}));
  EXPECT_EQ(turns_.last.max_tokens, 9);
  EXPECT_EQ(turns_.last.stop, std::vector<std::string>{"x"});
  EXPECT_EQ(turns_.last.sampling.temperature, 0);
  EXPECT_TRUE(turns_.last.sampling.grammar.gbnf.empty());
}

TEST_F(TextApiTest, PromptsInEveryForm) {
  turns_.script = {finished()};
  for (const char* prompt : {R"("hi")", R"(["hi"])", "[104,105]", "[[104,105]]"}) {
    (void)complete(R"({"prompt":)" + std::string(prompt) + "}");
    EXPECT_EQ(turns_.last.prompt.tokens, (Tokens{'h', 'i'})) << prompt;
  }
}

TEST_F(TextApiTest, EchoBringsThePromptFirst) {
  turns_.script = {TurnStarted{}, said("C:there|"), finished()};
  EXPECT_EQ(complete(R"({"prompt":"hi ","echo":true})")["choices"][0]["text"], "hi there");
  EXPECT_EQ(complete(R"({"prompt":[104,105],"echo":true})")["choices"][0]["text"], "hithere");
  text_.complete(request(R"({"prompt":"hi ","echo":true,"stream":true})")).stream(client_);
  std::string text;
  for (const std::string& data : sse_data(client_.received)) {
    if (data != "[DONE]") text += Json::parse(data)["choices"][0]["text"].get<std::string>();
  }
  EXPECT_EQ(text, "hi there");
}

TEST_F(TextApiTest, LogprobsInColumns) {
  turns_.script = {TurnText{"C:t4|", {Sampled{4, -0.25F, {{4, -0.25F}, {5, -2.0F}}}}},
                   TurnText{"C:t5|", {Sampled{5, -2.0F, {}}}}, finished()};
  EXPECT_EQ(complete(R"({"prompt":"x","logprobs":2})")["choices"][0]["logprobs"].dump(),
            R"({"tokens":["t4","t5"],"token_logprobs":[-0.25,-2.0],)"
            R"("top_logprobs":[{"t4":-0.25,"t5":-2.0},{}],"text_offset":[0,2]})");
  EXPECT_EQ(turns_.last.sampling.top_logprobs, 2);
}

TEST_F(TextApiTest, AStream) {
  turns_.script = {TurnStarted{}, said("C:a|"), said("C:\"|"), finished()};
  text_.complete(request(R"({"prompt":"x","stream":true,"stream_options":{"include_usage":true}})"))
      .stream(client_);
  const auto data = sse_data(client_.received);
  ASSERT_EQ(data.size(), 5u);
  EXPECT_EQ(Json::parse(data[1])["choices"].dump(),
            R"([{"index":0,"text":"\"","logprobs":null,"finish_reason":null}])");
  EXPECT_EQ(Json::parse(data[1])["object"], "text_completion");
  EXPECT_TRUE(Json::parse(data[1])["usage"].is_null());
  EXPECT_EQ(Json::parse(data[2])["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(Json::parse(data[3])["usage"]["prompt_tokens"], 1000);
  EXPECT_EQ(data[4], "[DONE]");
}

TEST_F(TextApiTest, WhatCannotBeHonouredIsRefusedByName) {
  struct Row {
    const char* body;
    const char* field;
    const char* words;
  };
  const std::vector<Row> table = {
      {"{}", "prompt", "missing"},
      {R"({"prompt":[]})", "prompt", "empty list"},
      {R"({"prompt":["a","b"]})", "prompt", "2 prompts"},
      {R"({"prompt":[1,1000]})", "prompt[1]", "not a token"},
      {R"({"prompt":[1,-1]})", "prompt[1]", "not a token"},
      {R"({"prompt":[1,1.5]})", "prompt[1]", "not a token"},
      {R"({"prompt":[[1,"x"]]})", "prompt[0][1]", "not a token"},
      {R"({"prompt":{"a":1}})", "prompt", "list of token ids"},
      {R"({"prompt":"x","suffix":"y"})", "suffix", "does not fill gaps"},
      {R"({"prompt":"x","n":2})", "n", "one choice"},
      {R"({"prompt":"x","grammar":"root ::= x"})", "grammar", "not supported"},
      {R"({"prompt":"x","response_format":{"type":"json_object"}})", "response_format",
       "chat completions"},
      {R"({"prompt":"x","best_of":2})", "best_of", "one choice"},
      {R"({"prompt":"x","echo":true,"logprobs":1})", "logprobs", "not computed"},
      {R"({"prompt":"x","logprobs":true})", "logprobs", "integer"},
      {R"({"prompt":"x","max_tokens":0})", "max_tokens", "0"},
  };
  for (const Row& row : table) {
    const HttpResponse response = text_.complete(request(row.body));
    EXPECT_EQ(response.status, 400) << row.body;
    const Json error = Json::parse(response.body)["error"];
    EXPECT_EQ(error["param"], row.field) << row.body;
    EXPECT_NE(error["message"].get<std::string>().find(row.words), std::string::npos)
        << row.body << "\n"
        << error["message"];
  }
  EXPECT_EQ(turns_.submitted, 0);
}

TEST_F(TextApiTest, WhatCannotBeSubmittedIsTheFaultOfThePrompt) {
  turns_.error = Error{ErrorKind::invalid_argument, "the prompt is empty", "messages"};
  const Json error = Json::parse(text_.complete(request(R"({"prompt":""})")).body)["error"];
  EXPECT_EQ(error["param"], "prompt");
}

TEST_F(TextApiTest, TokensThereAndBack) {
  EXPECT_EQ(text_.tokenize(request(R"({"content":"hi"})")).body,
            R"({"tokens":[104,105],"count":2})");
  EXPECT_EQ(text_.tokenize(request(R"({"prompt":"h","with_pieces":true})")).body,
            R"({"tokens":[{"id":104,"piece":"t104"}],"count":1})");
  EXPECT_EQ(text_.tokenize(request(R"({"messages":[{"role":"user","content":"x"}]})")).body,
            R"({"tokens":[1,2,3],"count":3})");
  EXPECT_EQ(text_.detokenize(request(R"({"tokens":[104,105]})")).body, R"({"content":"hi"})");
  EXPECT_EQ(text_.detokenize(request(R"({"tokens":[]})")).body, R"({"content":""})");
  for (const char* body : {"{}", R"({"content":1})"}) {
    EXPECT_EQ(text_.tokenize(request(body)).status, 400) << body;
  }
  for (const char* body : {"{}", R"({"tokens":"x"})", R"({"tokens":[1000]})"}) {
    EXPECT_EQ(text_.detokenize(request(body)).status, 400) << body;
  }
  EXPECT_EQ(turns_.submitted, 0);
}

TEST_F(TextApiTest, ApplyTemplateShowsThePrompt) {
  EXPECT_EQ(text_.apply_template(request(R"({"messages":[{"role":"user","content":"x"}]})")).body,
            R"({"prompt":""})");
  EXPECT_EQ(chat_.last.messages.at(0).content, "x");
  EXPECT_EQ(text_.apply_template(request(R"({"messages":[]})")).status, 400);
}

}  // namespace
}  // namespace samovar
