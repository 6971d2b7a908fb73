#include "tests/scripted/scripted_engine.h"

#include <llama.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "chat/vocabulary.h"
#include "engine/logits.h"

namespace samovar::testing {
namespace {

constexpr float kCertain = 1000.0F;  // logits above the next: e^-1000 is nothing, yet finite

class ScriptedSampler final : public Sampler {
 public:
  ScriptedSampler(std::unique_ptr<Sampler> real_sampler, Tokens script)
      : real(std::move(real_sampler)), tokens(std::move(script)) {}

  std::unique_ptr<Sampler> real;
  Tokens tokens;
  std::size_t next = 0;
};

const llama_vocab* vocabulary(const LlamaEngine& engine) {
  return llama_model_get_vocab(engine.raw_model());
}

}  // namespace

ScriptedEngine::ScriptedEngine(LlamaEngine& engine, Script script)
    : engine_(engine), script_(std::move(script)) {
  append_tokens(vocabulary(engine_), "<|im_end|>", end_);
}

Result<std::unique_ptr<Sampler>> ScriptedEngine::make_sampler(const SamplingParams& params,
                                                              TokenSpan prompt) {
  const llama_vocab* vocab = vocabulary(engine_);
  const auto reply = script_.reply_to(token_text(vocab, prompt));
  if (!reply) return std::unexpected(reply.error());
  auto real = engine_.make_sampler(params, prompt);
  if (!real) return real;
  Tokens tokens;
  append_tokens(vocab, *reply, tokens);
  tokens.insert(tokens.end(), end_.begin(), end_.end());
  return std::make_unique<ScriptedSampler>(std::move(*real), std::move(tokens));
}

Sampled ScriptedEngine::sample(Sampler& sampler, int output) {
  auto& scripted = dynamic_cast<ScriptedSampler&>(sampler);
  const Token wanted = scripted.next < scripted.tokens.size() ? scripted.tokens[scripted.next++]
                                                              : scripted.tokens.back();
  const auto row = engine_.logits(output);
  // The engine's own memory, which is not constant; only its callers are not to write there.
  const_cast<float&>(row[static_cast<std::size_t>(wanted)]) =
      *std::ranges::max_element(row) + kCertain;
  Sampled sampled = engine_.sample(*scripted.real, output);
  if (sampled.token != wanted) {
    log_error("the script wants {} ({}), the sampler allows only {} ({})", wanted,
              engine_.piece(wanted, true), sampled.token, engine_.piece(sampled.token, true));
    sampled.token = kBrokenToken;
  }
  return sampled;
}

}  // namespace samovar::testing
