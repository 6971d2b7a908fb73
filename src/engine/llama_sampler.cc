#include "engine/llama_sampler.h"

#include <fmt/core.h>
#include <llama-common/common.h>
#include <llama-common/sampling.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <random>
#include <string>
#include <utility>

#include "base/log.h"
#include "engine/logits.h"

namespace samovar {
namespace {

bool has_penalties(const SamplingParams& params) {
  return params.repeat_last_n != 0 &&
         (params.repeat_penalty != 1.0 || params.presence_penalty != 0.0 ||
          params.frequency_penalty != 0.0);
}

bool is_plain_greedy(const SamplingParams& params, const llama_vocab* vocab) {
  std::int32_t suppressed = 0;
  llama_vocab_get_suppress_tokens(vocab, &suppressed);
  return params.temperature <= 0.0 && !has_penalties(params) && params.logit_bias.empty() &&
         !params.ignore_eos && params.grammar.gbnf.empty() && !params.thinking_budget &&
         suppressed == 0;
}

common_grammar_trigger to_common(const GrammarTrigger& trigger) {
  common_grammar_trigger result{};
  result.value = trigger.value;
  result.token = trigger.token;
  switch (trigger.kind) {
    case GrammarTrigger::Kind::token:
      result.type = COMMON_GRAMMAR_TRIGGER_TYPE_TOKEN;
      break;
    case GrammarTrigger::Kind::word:
      result.type = COMMON_GRAMMAR_TRIGGER_TYPE_WORD;
      break;
    case GrammarTrigger::Kind::pattern:
      result.type = COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN;
      break;
    case GrammarTrigger::Kind::pattern_full:
      result.type = COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN_FULL;
      break;
  }
  return result;
}

void set_grammar(const SamplingParams& params, common_params_sampling& common) {
  const Grammar& grammar = params.grammar;
  if (grammar.gbnf.empty()) {
    return;
  }
  common.grammar = {
      grammar.from_tools ? COMMON_GRAMMAR_TYPE_TOOL_CALLS : COMMON_GRAMMAR_TYPE_OUTPUT_FORMAT,
      grammar.gbnf};
  common.grammar_lazy = grammar.lazy;
  common.generation_prompt = params.generation_prompt;
  common.preserved_tokens.insert(grammar.preserved_tokens.begin(), grammar.preserved_tokens.end());
  for (const GrammarTrigger& trigger : grammar.triggers) {
    common.grammar_triggers.push_back(to_common(trigger));
  }
}

// With the tags known, a lazy grammar sleeps while the model thinks: a tool call that it merely
// considers in its reasoning must not bind it. And a budget can end the thinking.
void set_thinking(const SamplingParams& params, const llama_vocab* vocab,
                  common_params_sampling& common) {
  const Grammar& grammar = params.grammar;
  if (grammar.thinking_start.empty() || grammar.thinking_end.empty()) return;
  if (grammar.gbnf.empty() && !params.thinking_budget) return;
  common.reasoning_budget_start = common_tokenize(vocab, grammar.thinking_start, false, true);
  for (const std::string& tag : grammar.thinking_end) {
    common.reasoning_budget_end.push_back(common_tokenize(vocab, tag, false, true));
  }
  if (!params.thinking_budget) return;
  common.reasoning_budget_tokens = std::max(0, *params.thinking_budget);
  common.reasoning_budget_forced = common.reasoning_budget_end.front();
  common.generation_prompt = params.generation_prompt;
}

common_params_sampling to_common(const SamplingParams& params, const llama_vocab* vocab,
                                 std::span<const Token> end_tokens, TokenSpan prompt) {
  common_params_sampling common;
  common.no_perf = true;
  common.seed = params.seed ? *params.seed : std::random_device{}();
  common.temp = static_cast<float>(params.temperature);
  common.top_k = params.top_k;
  common.top_p = static_cast<float>(params.top_p);
  common.min_p = static_cast<float>(params.min_p);
  common.penalty_last_n = params.repeat_last_n >= 0 ? params.repeat_last_n
                                                    : std::max(64, static_cast<int>(prompt.size()));
  common.penalty_repeat = static_cast<float>(params.repeat_penalty);
  common.penalty_present = static_cast<float>(params.presence_penalty);
  common.penalty_freq = static_cast<float>(params.frequency_penalty);
  common.ignore_eos = params.ignore_eos;
  if (params.temperature <= 0.0) {  // the rest of the chain cannot change the outcome
    common.samplers = {COMMON_SAMPLER_TYPE_PENALTIES, COMMON_SAMPLER_TYPE_TOP_K};
    common.top_k = 1;
  }
  for (const auto& [token, bias] : params.logit_bias) {
    common.logit_bias.push_back({token, bias});
  }
  if (params.ignore_eos && params.grammar.gbnf.empty()) {  // a finished grammar allows nothing else
    for (const Token token : end_tokens) {
      common.logit_bias.push_back({token, -INFINITY});
    }
  }
  set_grammar(params, common);
  set_thinking(params, vocab, common);
  return common;
}

Error bad_grammar(const Grammar& grammar, const char* why) {
  return {.kind = ErrorKind::invalid_argument,
          .message = fmt::format("the reply's grammar could not be used: {}", why),
          .field = grammar.from_tools ? "tools" : "response_format",
          .remedy = "Simplify the JSON schema."};
}

// Asked first, because libllama-common leaks its sampler when the grammar does not parse.
bool parses(const std::string& gbnf, const llama_vocab* vocab) {
  llama_sampler* sampler = llama_sampler_init_grammar(vocab, gbnf.c_str(), "root");
  if (sampler == nullptr) {
    return false;
  }
  llama_sampler_free(sampler);
  return true;
}

void feed_penalties(common_sampler* chain, const SamplingParams& params, TokenSpan prompt) {
  if (!has_penalties(params)) {
    return;
  }
  const std::size_t wanted =
      params.repeat_last_n > 0 ? static_cast<std::size_t>(params.repeat_last_n) : prompt.size();
  for (const Token token : prompt.last(std::min(wanted, prompt.size()))) {
    common_sampler_accept(chain, token, /*is_generated=*/false);
  }
}

}  // namespace

void LlamaSampler::Free::operator()(common_sampler* sampler) const { common_sampler_free(sampler); }

LlamaSampler::~LlamaSampler() = default;

Result<std::unique_ptr<LlamaSampler>> LlamaSampler::make(const llama_model& model,
                                                         const SamplingParams& params,
                                                         std::span<const Token> end_tokens,
                                                         TokenSpan prompt) {
  const llama_vocab* vocab = llama_model_get_vocab(&model);
  const int vocab_size = llama_vocab_n_tokens(vocab);
  for (const auto& [token, bias] : params.logit_bias) {
    if (token < 0 || token >= vocab_size) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("token {} is outside the vocabulary of {} tokens", token, vocab_size),
                  "logit_bias");
    }
  }
  ChainPtr chain;
  if (!is_plain_greedy(params, vocab)) {
    const bool constrained = !params.grammar.gbnf.empty();
    // libllama-common aborts the process on this prefix.
    if (params.grammar.gbnf.starts_with("%llguidance")) {
      return std::unexpected(bad_grammar(params.grammar, "llguidance is not built in"));
    }
    if (constrained && !parses(params.grammar.gbnf, vocab)) {
      return std::unexpected(bad_grammar(params.grammar, "it does not parse"));
    }
    try {
      common_params_sampling common = to_common(params, vocab, end_tokens, prompt);
      chain.reset(common_sampler_init(&model, common));
      feed_penalties(chain.get(), params, prompt);
    } catch (const std::exception& error) {
      if (constrained) {
        return std::unexpected(bad_grammar(params.grammar, error.what()));
      }
      return fail(ErrorKind::invalid_argument, error.what(), "repeat_penalty");
    }
  }
  return std::unique_ptr<LlamaSampler>(
      new LlamaSampler(std::move(chain), params.top_logprobs, vocab_size));
}

Token LlamaSampler::choose(llama_context* context, int index) {
  const float* row = llama_get_logits_ith(context, index);
  if (row == nullptr) {
    return kBrokenToken;
  }
  const Token greedy = most_likely({row, static_cast<std::size_t>(vocab_size_)});
  if (chain_ == nullptr || greedy == kBrokenToken) {
    return greedy;
  }
  try {
    const Token token = common_sampler_sample(chain_.get(), context, index);
    // Where biases ban all that the grammar allows, the sampler picks a forbidden token, and the
    // grammar would abort the process over it.
    const llama_token_data_array* left = common_sampler_get_candidates(chain_.get(), false);
    if (left->selected < 0 || !std::isfinite(left->data[left->selected].logit)) {
      log_error("no token is both allowed by the grammar and possible");
      return kBrokenToken;
    }
    common_sampler_accept(chain_.get(), token, /*is_generated=*/true);
    return token;
  } catch (const std::exception& error) {
    log_error("the sampler failed: {}", error.what());
    return kBrokenToken;
  }
}

Sampled LlamaSampler::sample(llama_context* context, int index) {
  Sampled result{.token = choose(context, index), .logprob = 0.0F, .top = {}};
  if (top_logprobs_ && result.token != kBrokenToken) {
    const float* row = llama_get_logits_ith(context, index);
    fill_logprobs({row, static_cast<std::size_t>(vocab_size_)}, *top_logprobs_, result);
  }
  return result;
}

}  // namespace samovar
