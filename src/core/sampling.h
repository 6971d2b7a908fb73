// How the next token is chosen, and what a reply must obey. Plain values; the engine turns them
// into its own sampler. Defaults are llama-server's, so that a client sees the same behaviour here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/tokens.h"

namespace samovar {

// A lazy grammar starts to bind when one of these appears in the reply.
struct GrammarTrigger {
  enum class Kind { token, word, pattern, pattern_full };
  Kind kind = Kind::word;
  std::string value;
  Token token = -1;  // for Kind::token
};

struct Grammar {
  std::string gbnf;  // empty: unconstrained
  bool lazy = false;
  bool from_tools = false;  // from tool definitions (true) or from response_format (false)
  std::vector<GrammarTrigger> triggers;
  std::vector<Token> preserved_tokens;  // special tokens the grammar must see as text

  // The template's reasoning tags ("<think>"): a lazy grammar is not triggered between them. Empty:
  // none.
  std::string thinking_start = {};
  std::vector<std::string> thinking_end = {};
};

struct SamplingParams {
  double temperature = 0.8;  // 0: greedy
  int top_k = 40;            // 0: off
  double top_p = 0.95;
  double min_p = 0.05;
  double repeat_penalty = 1.0;
  int repeat_last_n = 64;
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  std::optional<std::uint32_t> seed;                // nullopt: a random one
  std::vector<std::pair<Token, float>> logit_bias;  // -inf bans a token
  bool ignore_eos = false;

  // Log probabilities of the raw distribution: nullopt none, 0 the chosen token only, n also the n
  // most likely ones.
  std::optional<int> top_logprobs;

  // Tokens of reasoning at most; then its end tag (grammar.thinking_end) is forced. nullopt: as
  // many as the model likes.
  std::optional<int> thinking_budget;

  Grammar grammar;
  std::string generation_prompt;  // the primer's text, which the grammar must be advanced past
};

struct TokenLogprob {
  Token token = 0;
  float logprob = 0.0F;  // natural logarithm
};

struct Sampled {
  Token token = 0;
  // Filled if top_logprobs was set.
  float logprob = 0.0F;
  std::vector<TokenLogprob> top;
};

}  // namespace samovar
