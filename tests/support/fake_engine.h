// FakeEngine: the engine's twin for simulation. Its "model" is a hash of everything in a sequence's
// memory, cells and recurrent state alike, so any wrong restore, missing cell or stale state
// changes every later token. Cells are objects of their own, so sharing is counted exactly. Time is
// the fake clock's. Failures and bugs can be injected.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/segments.h"

namespace samovar {

struct FakeEngineOptions {
  RewindKind rewind = RewindKind::snapshot;
  Position cells = 4096;
  int sequences = 4;
  int ubatch = 64;
  std::size_t snapshot_bytes = 1000;
  std::size_t token_bytes = 16;  // of a segment, at least 4
  Micros prefill_call_us = 200;
  Micros prefill_token_us = 50;
  Micros decode_call_us = 1000;
  double failure_rate = 0.0;         // of every call that may fail
  double import_failure_rate = 0.0;  // of imports of segments, beside the others
  bool forks_fail = false;
  bool never_ends = false;  // replies go on until they are stopped
  Micros export_token_us = 0;
  int throws_after_calls = -1;  // the engine call that throws; -1: none
  unsigned seed = 1;

  // Bugs for the canary: the simulation must notice each.
  bool bug_rewind_keeps_state = false;  // the recurrent state is not restored
  bool bug_fork_shares_one_too_few = false;
  bool bug_import_flips_a_token = false;  // a bit that changed after it was verified
  bool bug_restored_state_is_another = false;
};

class FakeEngine final : public Engine, public SegmentPort {
 public:
  static constexpr Token kEnd = 0;      // ends a reply
  static constexpr Token kMessage = 1;  // opens a message
  static constexpr Token kPrimer = 2;   // the second token of the generation primer
  static constexpr Token kWords = 10;   // ordinary tokens are kWords .. kWords + 990

  FakeEngine(FakeEngineOptions options, FakeClock& clock);

  // What the model replies to `prompt`: at most `max` tokens, the end token included.
  [[nodiscard]] static Tokens expected_reply(TokenSpan prompt, std::size_t max);

  [[nodiscard]] Position cells_used() const { return *cells_used_; }
  [[nodiscard]] Tokens tokens_of(SeqId sequence) const;
  [[nodiscard]] int calls() const { return calls_; }

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
  Status export_segment(SeqId sequence, Position begin, Position end, const Room& room) override;
  Status import_segment(SeqId sequence, Position begin, Position end, Bytes segment) override;
  [[nodiscard]] Bytes snapshot_bytes(const Snapshot& snapshot) const override;
  SnapshotPtr make_snapshot(Position position, Bytes bytes) override;

  [[nodiscard]] std::string piece(Token token, bool show_control) const override;
  [[nodiscard]] bool is_end(Token token) const override { return token == kEnd; }

 private:
  using Cell = std::shared_ptr<const Token>;
  struct Sequence {
    std::vector<Cell> cells;
    std::uint64_t state = 0;
    bool broken = false;  // after a failure, until rewound or dropped
  };

  [[nodiscard]] Sequence& at(SeqId sequence);
  [[nodiscard]] bool fails();
  [[nodiscard]] static std::uint64_t output_of(const Sequence& sequence);
  [[nodiscard]] Cell make_cell(Token token) const;  // counted while anybody holds it
  void append(Sequence& sequence, Token token);
  bool restore(Sequence& sequence, Position position, const Snapshot* snapshot);

  FakeEngineOptions options_;
  FakeClock& clock_;
  ModelInfo model_;
  EngineLimits limits_;
  std::shared_ptr<Position> cells_used_ = std::make_shared<Position>(0);
  std::vector<Sequence> sequences_;
  std::vector<std::uint64_t> outputs_;
  std::mt19937 random_;
  int calls_ = 0;
};

}  // namespace samovar
