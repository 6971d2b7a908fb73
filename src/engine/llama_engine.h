// LlamaEngine: the Engine that computes, on libllama. It owns model, context, compute threads and
// all sequences; nothing else in the program talks to libllama's context. Threading as for Engine.
// After an error inside libllama the sequences involved are broken until they are rewound or
// dropped; if a probe shows that the context itself no longer computes, every later call fails.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/engine_options.h"
#include "engine/fingerprint.h"
#include "engine/segments.h"

struct llama_model;

namespace samovar {

class LlamaContext;
class LlamaMemory;
class LlamaSegments;

class LlamaEngine final : public Engine, public SegmentPort {
 public:
  // Loads the model and allocates everything: nothing is allocated later. With options.cells == 0
  // the memory plan chooses.
  static Result<std::unique_ptr<LlamaEngine>> open(const EngineOptions& options);
  ~LlamaEngine() override;

  [[nodiscard]] const ModelInfo& model() const override { return model_; }
  [[nodiscard]] const EngineLimits& limits() const override { return limits_; }

  EngineStatus prefill(SeqId sequence, Position begin, TokenSpan tokens, bool want_output) override;
  EngineStatus decode(std::span<const DecodeStep> steps) override;
  Sampled sample(Sampler& sampler, int output) override;
  Result<std::unique_ptr<Sampler>> make_sampler(const SamplingParams& params,
                                                TokenSpan prompt) override;

  [[nodiscard]] Position length(SeqId sequence) const override;
  Result<SnapshotPtr> snapshot(SeqId sequence) override;
  EngineStatus rewind(SeqId sequence, Position position, const Snapshot* snapshot) override;
  EngineStatus fork(SeqId source, SeqId target, Position position,
                    const Snapshot* snapshot) override;
  void drop(SeqId sequence) override;
  [[nodiscard]] bool healthy() const override { return !dead_; }

  Status export_segment(SeqId sequence, Position begin, Position end, const Room& room) override;
  Status import_segment(SeqId sequence, Position begin, Position end, Bytes segment) override;
  [[nodiscard]] Bytes snapshot_bytes(const Snapshot& snapshot) const override;
  SnapshotPtr make_snapshot(Position position, Bytes bytes) override;
  SnapshotPtr adopt_snapshot(Position position, Buffer bytes) override;

  // What a sequence's bytes depend on (fingerprint.h).
  [[nodiscard]] const StateFormat& state_format() const { return state_format_; }

  [[nodiscard]] std::string piece(Token token, bool show_control) const override;
  [[nodiscard]] bool is_end(Token token) const override;

  // Output i's raw distribution over the vocabulary; valid as outputs are.
  [[nodiscard]] std::span<const float> logits(int output) const;

  // Bytes that libllama holds now: weights, K/V and states, compute buffers. For checking the plan.
  struct Allocated {
    std::uint64_t weights = 0;
    std::uint64_t memory = 0;
    std::uint64_t compute = 0;
  };
  [[nodiscard]] Allocated allocated() const;

  // For chat templates, which read the model's metadata and vocabulary. Immutable.
  [[nodiscard]] llama_model* raw_model() const;

 private:
  explicit LlamaEngine(std::unique_ptr<LlamaContext> context, const EngineOptions& options);

  EngineStatus compute(std::span<const SeqId> sequences);
  EngineStatus after_loss(SeqId sequence);

  // Computes one token in the scratch sequence. False: the context is not to be trusted any more.
  bool probe();
  bool measure_costs();

  std::unique_ptr<LlamaContext> context_;
  std::unique_ptr<LlamaMemory> memory_;
  std::unique_ptr<LlamaSegments> segments_;
  ModelInfo model_;
  EngineLimits limits_;
  StateFormat state_format_;
  std::vector<Token> end_tokens_;
  std::vector<int> output_rows_;  // output -> token of the last batch
  std::vector<SeqId> involved_;   // of the call in progress; kept to avoid allocating
  std::atomic<bool> dead_ = false;
};

}  // namespace samovar
