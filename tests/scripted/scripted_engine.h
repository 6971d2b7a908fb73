// ScriptedEngine: a LlamaEngine whose model says what a Script wants. All it computes, keeps and
// samples is real: before a token is chosen, the script's next one is made by far the most likely,
// and the real sampler does the rest (grammar, penalties, bans, log probabilities). If it chooses
// another token, the turn fails, and the log says which.
//
// Only what prompts get as their reply is changed, so sequences, snapshots and the store behave as
// with a model that happened to say this. Borrows the engine. Threading as for Engine.
#pragma once

#include <memory>

#include "engine/llama_engine.h"
#include "tests/scripted/script.h"

namespace samovar::testing {

class ScriptedEngine final : public Engine {
 public:
  ScriptedEngine(LlamaEngine& engine, Script script);

  Sampled sample(Sampler& sampler, int output) override;
  // Also fails, as Script does, for a prompt without a rule.
  Result<std::unique_ptr<Sampler>> make_sampler(const SamplingParams& params,
                                                TokenSpan prompt) override;

  // --- as the engine does it ---

  [[nodiscard]] const ModelInfo& model() const override { return engine_.model(); }
  [[nodiscard]] const EngineLimits& limits() const override { return engine_.limits(); }
  EngineStatus prefill(SeqId sequence, Position begin, TokenSpan tokens,
                       bool want_output) override {
    return engine_.prefill(sequence, begin, tokens, want_output);
  }
  EngineStatus decode(std::span<const DecodeStep> steps) override { return engine_.decode(steps); }
  [[nodiscard]] Position length(SeqId sequence) const override { return engine_.length(sequence); }
  Result<SnapshotPtr> snapshot(SeqId sequence) override { return engine_.snapshot(sequence); }
  EngineStatus rewind(SeqId sequence, Position position, const Snapshot* snapshot) override {
    return engine_.rewind(sequence, position, snapshot);
  }
  EngineStatus fork(SeqId source, SeqId target, Position position,
                    const Snapshot* snapshot) override {
    return engine_.fork(source, target, position, snapshot);
  }
  void drop(SeqId sequence) override { engine_.drop(sequence); }
  [[nodiscard]] bool healthy() const override { return engine_.healthy(); }
  [[nodiscard]] std::string piece(Token token, bool show_control) const override {
    return engine_.piece(token, show_control);
  }
  [[nodiscard]] bool is_end(Token token) const override { return engine_.is_end(token); }

 private:
  LlamaEngine& engine_;
  Script script_;
  Tokens end_;  // the script's last token
};

}  // namespace samovar::testing
