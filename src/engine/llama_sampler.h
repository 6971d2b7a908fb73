// LlamaSampler: SamplingParams as a libllama-common sampler, with two shortcuts of our own: greedy
// without constraints is one pass over the logits, and broken logits are noticed before any sampler
// sees them. Made by LlamaEngine, owned by the turn, used on the engine thread only.
// libllama-common throws; nothing leaves this file as an exception.
#pragma once

#include <llama.h>

#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "core/sampling.h"
#include "engine/engine.h"

struct common_sampler;

namespace samovar {

class LlamaSampler final : public Sampler {
 public:
  // Fails on a grammar that does not parse or penalties out of range. `end_tokens` are what
  // ignore_eos bans. `prompt` feeds the penalties.
  static Result<std::unique_ptr<LlamaSampler>> make(const llama_model& model,
                                                    const SamplingParams& params,
                                                    std::span<const Token> end_tokens,
                                                    TokenSpan prompt);
  ~LlamaSampler() override;

  // `index` is the token's place in the last batch. Result.token is kBrokenToken if nothing can be
  // chosen.
  Sampled sample(llama_context* context, int index);

 private:
  struct Free {
    void operator()(common_sampler* sampler) const;
  };
  using ChainPtr = std::unique_ptr<common_sampler, Free>;

  LlamaSampler(ChainPtr chain, std::optional<int> top_logprobs, int vocab_size)
      : chain_(std::move(chain)), top_logprobs_(top_logprobs), vocab_size_(vocab_size) {}

  [[nodiscard]] Token choose(llama_context* context, int index);

  ChainPtr chain_;  // null: plain greedy
  std::optional<int> top_logprobs_;
  int vocab_size_;
};

}  // namespace samovar
