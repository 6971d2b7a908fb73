// Plain arithmetic over one row of logits: the most likely token, and exact log probabilities.
// Pure functions; no libllama.
#pragma once

#include <span>

#include "core/sampling.h"

namespace samovar {

// Token of Sampled when the distribution was unusable (NaN or infinite logits, or a grammar that
// the sampler lost): the turn must fail, and the sequence must not be continued.
inline constexpr Token kBrokenToken = -1;

// The lowest id among the largest logits, so equal logits never make a difference between runs.
// kBrokenToken if any logit is NaN or the largest one is not finite.
[[nodiscard]] Token most_likely(std::span<const float> logits);

// Sets result.logprob for result.token, and result.top to the `count` most likely tokens in order,
// from the softmax over all logits.
void fill_logprobs(std::span<const float> logits, int count, Sampled& result);

}  // namespace samovar
