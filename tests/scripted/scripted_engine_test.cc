// Goal: the scripted engine says its script through the real sampler, and leaves all else alone.
#include "tests/scripted/scripted_engine.h"

#include <llama.h>

#include "chat/vocabulary.h"
#include "engine/engine_testing.h"

namespace samovar::testing {
namespace {

constexpr const char* kPrompt =
    "<|im_start|>user\nWhat time is it?<|im_end|>\n<|im_start|>assistant\n<think>\n";
constexpr const char* kReply =
    "A clock.\n</think>\n\n<tool_call>\n<function=clock>\n</function>\n</tool_call>";

class ScriptedEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    real_ = open_or_fail(small_options(SAMOVAR_MODELS "/tiny-qwen35moe.gguf"));
    ASSERT_NE(real_, nullptr);
    append_tokens(llama_model_get_vocab(real_->raw_model()), kPrompt, prompt_);
  }

  static Script script() {
    return *Script::parse(R"({"rules": [{"last": "time", "reply":
        "A clock.\n</think>\n\n<tool_call>\n<function=clock>\n</function>\n</tool_call>"}]})");
  }

  // What is said after the prompt, with its end; at most 100 tokens, up to the first broken one.
  std::vector<Sampled> say(ScriptedEngine& engine, const SamplingParams& params) {
    std::vector<Sampled> said;
    auto sampler = engine.make_sampler(params, prompt_);
    if (!sampler) {
      ADD_FAILURE() << sampler.error().describe();
      return said;
    }
    EXPECT_EQ(engine.prefill(0, 0, prompt_, true), EngineStatus::ok);
    while (said.size() < 100) {
      said.push_back(engine.sample(**sampler, 0));
      const Token token = said.back().token;
      if (token == kBrokenToken || engine.is_end(token)) break;
      const DecodeStep step{0, engine.length(0), token};
      EXPECT_EQ(engine.decode({&step, 1}), EngineStatus::ok);
    }
    engine.drop(0);
    return said;
  }

  static std::string text(const ScriptedEngine& engine, const std::vector<Sampled>& said) {
    std::string text;
    for (const Sampled& sampled : said) text += engine.piece(sampled.token, true);
    return text;
  }

  std::unique_ptr<LlamaEngine> real_;
  Tokens prompt_;
};

TEST_F(ScriptedEngineTest, SaysItsScriptHoweverItIsSampled) {
  ScriptedEngine engine(*real_, script());
  std::string whole = kReply;
  whole += "<|im_end|>";
  SamplingParams hot{.temperature = 2.0, .top_k = 0, .top_p = 1.0, .min_p = 0.0, .seed = 1};
  hot.repeat_penalty = 1.5;
  hot.presence_penalty = 2.0;
  for (const SamplingParams& params : {SamplingParams{}, SamplingParams{.temperature = 0.0}, hot}) {
    EXPECT_EQ(text(engine, say(engine, params)), whole);
  }
}

TEST_F(ScriptedEngineTest, LogProbabilitiesAreFinite) {
  ScriptedEngine engine(*real_, script());
  const auto said = say(engine, {.temperature = 0.0, .top_logprobs = 3});
  ASSERT_FALSE(said.empty());
  for (const Sampled& sampled : said) {
    EXPECT_NEAR(sampled.logprob, 0.0F, 1e-3F);
    ASSERT_EQ(sampled.top.size(), 3U);
    EXPECT_EQ(sampled.top[0].token, sampled.token);
    EXPECT_TRUE(std::isfinite(sampled.top[2].logprob));
    EXPECT_LT(sampled.top[2].logprob, -100.0F);
  }
}

// Goal: what the request forbids stays forbidden, and the turn fails over it instead of saying
// something else.
TEST_F(ScriptedEngineTest, WhatTheSamplerRefusesBreaksTheReply) {
  ScriptedEngine engine(*real_, script());
  SamplingParams bound{.temperature = 0.0};
  bound.grammar.gbnf = "root ::= \"yes\" | \"no\"";
  const auto said = say(engine, bound);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].token, kBrokenToken);

  const auto endless = say(engine, {.temperature = 0.0, .ignore_eos = true});
  ASSERT_FALSE(endless.empty());
  EXPECT_EQ(endless.back().token, kBrokenToken);
  EXPECT_EQ(text(engine, endless), kReply);
}

TEST_F(ScriptedEngineTest, APromptWithoutARuleIsRefused) {
  ScriptedEngine engine(*real_, *Script::parse(R"({"rules": [{"last": "x", "reply": "y"}]})"));
  const auto sampler = engine.make_sampler({}, prompt_);
  ASSERT_FALSE(sampler.has_value());
  EXPECT_NE(sampler.error().message.find("What time is it?"), std::string::npos);
}

}  // namespace
}  // namespace samovar::testing
