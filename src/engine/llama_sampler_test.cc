// Goal: SamplingParams mean what they say. Method: real (tiny, random) models, whose distributions
// are odd but full; replies are compared with what the logits allow.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "engine/engine_testing.h"

namespace samovar::testing {
namespace {

class LlamaSamplerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(tiny_models().empty()) << "run `make models`";
    EngineOptions options = small_options(tiny_models().front());
    options.sequences = 2;
    options.parallel = 1;
    engine_ = open_or_fail(options);
    ASSERT_NE(engine_, nullptr);
  }

  std::unique_ptr<Sampler> sampler(const SamplingParams& params, TokenSpan prompt = {}) {
    auto made = engine_->make_sampler(params, prompt);
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().describe());
    return made ? std::move(*made) : nullptr;
  }

  // Tokens of a reply to `prompt`; stops after the end token.
  Tokens reply(const SamplingParams& params, int count, const Tokens& prompt) {
    engine_->drop(0);
    EXPECT_EQ(feed(*engine_, 0, prompt), EngineStatus::ok);
    const auto made = sampler(params, prompt);
    Tokens tokens;
    for (int i = 0; i < count && made != nullptr; ++i) {
      const Sampled sampled = engine_->sample(*made, 0);
      tokens.push_back(sampled.token);
      if (sampled.token < 0 || engine_->is_end(sampled.token)) {
        break;
      }
      const DecodeStep step{0, engine_->length(0), sampled.token};
      EXPECT_EQ(engine_->decode({&step, 1}), EngineStatus::ok);
    }
    return tokens;
  }

  std::string text(const Tokens& tokens) {
    std::string joined;
    for (const Token token : tokens) {
      joined += engine_->piece(token, false);
    }
    return joined;
  }

  Token greedy_after(const Tokens& prompt) {
    engine_->drop(1);
    EXPECT_EQ(feed(*engine_, 1, prompt), EngineStatus::ok);
    const Token token = most_likely(engine_->logits(0));
    engine_->drop(1);
    return token;
  }

  std::unique_ptr<LlamaEngine> engine_;
  Tokens prompt_ = some_tokens(1, 60);
};

SamplingParams greedy() {
  SamplingParams params;
  params.temperature = 0.0;
  return params;
}

TEST_F(LlamaSamplerTest, TemperatureZeroIsTheMostLikelyTokenWithOrWithoutAChain) {
  const Token best = greedy_after(prompt_);
  EXPECT_EQ(reply(greedy(), 1, prompt_), Tokens{best});
  SamplingParams chained = greedy();
  chained.logit_bias = {
      {best == 5 ? 6 : 5, -1.0F}};  // too small to matter, but it takes the long way
  EXPECT_EQ(reply(chained, 8, prompt_), reply(greedy(), 8, prompt_));
}

TEST_F(LlamaSamplerTest, ASeedReproducesAReplyAndAnotherSeedDoesNot) {
  SamplingParams params;
  params.temperature = 1.5;
  params.top_k = 0;
  params.top_p = 1.0;
  params.min_p = 0.0;
  params.ignore_eos = true;
  params.seed = 42;
  const Tokens first = reply(params, 12, prompt_);
  EXPECT_EQ(reply(params, 12, prompt_), first);
  params.seed = 43;
  EXPECT_NE(reply(params, 12, prompt_), first);
  params.seed = std::nullopt;
  EXPECT_NE(reply(params, 12, prompt_), reply(params, 12, prompt_));
}

TEST_F(LlamaSamplerTest, ABiasOfMinusInfinityBansAndALargeOneForces) {
  const Token best = greedy_after(prompt_);
  SamplingParams params = greedy();
  params.logit_bias = {{best, -std::numeric_limits<float>::infinity()}};
  EXPECT_NE(reply(params, 1, prompt_).at(0), best);
  const Token wanted = best == 777 ? 778 : 777;
  params.logit_bias = {{wanted, 1000.0F}};
  EXPECT_EQ(reply(params, 1, prompt_).at(0), wanted);
}

TEST_F(LlamaSamplerTest, PenaltiesCountTheEndOfThePrompt) {
  Tokens prompt = prompt_;
  const Token best = greedy_after(prompt);
  SamplingParams params = greedy();
  params.presence_penalty = 2.0;
  params.repeat_penalty = 1000.0;
  params.repeat_last_n = 16;
  prompt.insert(prompt.begin() + 50, best);  // within the last 16, and the best after it may differ
  const Token now = greedy_after(prompt);
  Tokens seen(prompt.end() - 16, prompt.end());
  const Token chosen = reply(params, 1, prompt).at(0);
  EXPECT_EQ(std::ranges::count(seen, chosen), 0);
  if (std::ranges::count(seen, now) == 0) {
    EXPECT_EQ(chosen, now);
  }
}

TEST_F(LlamaSamplerTest, RepeatPenaltyAvoidsRepetition) {
  SamplingParams params = greedy();
  params.repeat_penalty = 1e6;
  params.repeat_last_n = 64;
  params.ignore_eos = true;
  const Tokens tokens = reply(params, 30, prompt_);
  EXPECT_EQ(std::set<Token>(tokens.begin(), tokens.end()).size(), 30U);
}

TEST_F(LlamaSamplerTest, IgnoreEosNeverEnds) {
  SamplingParams params;
  params.temperature = 3.0;
  params.top_k = 0;
  params.top_p = 1.0;
  params.min_p = 0.0;
  params.seed = 1;
  params.ignore_eos = true;
  EXPECT_EQ(reply(params, 60, prompt_).size(), 60U);
}

TEST_F(LlamaSamplerTest, AGrammarIsObeyedAndEndsTheReply) {
  for (const double temperature : {0.0, 1.0}) {
    SamplingParams params;
    params.temperature = temperature;
    params.seed = 3;
    params.grammar.gbnf = R"(root ::= "{\"answer\": " ("true" | "false") "}")";
    const Tokens tokens = reply(params, 60, prompt_);
    ASSERT_FALSE(tokens.empty());
    EXPECT_TRUE(engine_->is_end(tokens.back()));
    const std::string answer = text(tokens);
    EXPECT_TRUE(answer == R"({"answer": true})" || answer == R"({"answer": false})") << answer;
  }
}

TEST_F(LlamaSamplerTest, ALazyGrammarBindsFromItsTrigger) {
  SamplingParams params = greedy();
  params.grammar.gbnf = R"(root ::= "<go>" "yes")";
  params.grammar.lazy = true;
  params.grammar.from_tools = true;
  params.grammar.triggers = {{.kind = GrammarTrigger::Kind::word, .value = "<go>", .token = -1}};
  EXPECT_EQ(reply(params, 8, prompt_), reply(greedy(), 8, prompt_)) << "not triggered";
}

TEST_F(LlamaSamplerTest, AGrammarWhoseTokensAreAllBannedIsAnErrorNotACrash) {
  SamplingParams params = greedy();
  params.grammar.gbnf = R"(root ::= "x")";
  for (Token token = 0; token < engine_->model().vocab_size; ++token) {
    if (engine_->piece(token, false) == "x") {
      params.logit_bias.emplace_back(token, -std::numeric_limits<float>::infinity());
    }
  }
  ASSERT_FALSE(params.logit_bias.empty());
  EXPECT_EQ(reply(params, 3, prompt_), Tokens{kBrokenToken});
}

TEST_F(LlamaSamplerTest, ABadGrammarNamesTheField) {
  SamplingParams params;
  params.grammar.gbnf = "root ::= (((";
  auto made = engine_->make_sampler(params, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(made.error().field, "response_format");
  params.grammar.from_tools = true;
  params.grammar.gbnf = "%llguidance {}";
  made = engine_->make_sampler(params, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().field, "tools");
}

TEST_F(LlamaSamplerTest, ABiasOutsideTheVocabularyIsRefused) {
  SamplingParams params;
  params.logit_bias = {{engine_->model().vocab_size, 1.0F}};
  const auto made = engine_->make_sampler(params, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().field, "logit_bias");
}

TEST_F(LlamaSamplerTest, LogprobsAreThoseOfTheRawDistribution) {
  ASSERT_EQ(feed(*engine_, 0, prompt_), EngineStatus::ok);
  SamplingParams params = greedy();
  params.top_logprobs = 5;
  const auto made = sampler(params, prompt_);
  const Sampled sampled = engine_->sample(*made, 0);
  ASSERT_EQ(sampled.top.size(), 5U);
  EXPECT_EQ(sampled.top[0].token, sampled.token);
  EXPECT_FLOAT_EQ(sampled.top[0].logprob, sampled.logprob);
  EXPECT_LT(sampled.logprob, 0.0F);
  const auto row = engine_->logits(0);
  EXPECT_NEAR(sampled.top[0].logprob - sampled.top[4].logprob,
              row[static_cast<std::size_t>(sampled.top[0].token)] -
                  row[static_cast<std::size_t>(sampled.top[4].token)],
              1e-3);
}

}  // namespace
// After as many tokens of thinking as there may be the end tag is forced, whatever the model would
// say, and what follows is free again.
TEST_F(LlamaSamplerTest, AThinkingBudgetEndsTheThinking) {
  const Tokens prompt = {5, 6, 7};
  SamplingParams params;
  params.temperature = 0;
  params.grammar.thinking_start = "<think>";
  params.grammar.thinking_end = {"</think>"};
  params.generation_prompt = "<think>";  // the primer has begun the thinking
  for (const int budget : {0, 3}) {
    params.thinking_budget = budget;
    const std::string said = text(reply(params, 24, prompt));
    const std::size_t end = said.find("</think>");
    ASSERT_NE(end, std::string::npos) << said;
    EXPECT_EQ(said.find("</think>", end + 1), std::string::npos) << "forced once: " << said;
    EXPECT_EQ(end == 0, budget == 0) << said;
  }
  params.thinking_budget = std::nullopt;
  EXPECT_EQ(text(reply(params, 24, prompt)).find("</think>"), std::string::npos);
}

}  // namespace samovar::testing
