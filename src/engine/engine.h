// Engine: the only door to model execution. LlamaEngine (llama_engine.h) is the real one and the
// only code that knows libllama; FakeEngine (fake_engine.h) is its twin for simulation.
//
// Mental model. The engine's memory holds `sequences` live conversations that share a pool of
// `cells` attention cells (one cell = the K/V rows of one token; forked sequences share cells) and,
// for hybrid models, one recurrent state per sequence. A sequence is always a gapless run of tokens
// from position 0; the engine tracks its length and refuses a gap. The recurrent state exists only
// at the sequence's end: going back needs a Snapshot taken at exactly the position to return to.
//
// Threading: every method is called from one thread, the engine thread, except `model()`,
// `limits()`, `make_sampler()`, `piece()` and `is_end()`, which touch only what is immutable after
// construction and may be called from any.
//
// Errors: `no_cells` leaves everything as it was. After `failed` the sequences involved are in an
// unknown state: the caller must `rewind` them to a snapshot or `drop` them before anything else.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "core/sampling.h"
#include "core/tokens.h"

namespace samovar {

// What going back to an earlier position takes.
enum class RewindKind {
  anywhere,  // plain attention: any position
  snapshot,  // recurrent layers or a sliding window: only with a Snapshot of that position
};

struct ModelInfo {
  std::string name;          // general.name, else the file's name
  std::string architecture;  // general.architecture, e.g. "qwen35moe"
  std::string description;   // libllama's one-liner, e.g. "qwen35moe 35B.A3B Q4_K - Medium"
  std::uint64_t parameters = 0;
  std::uint64_t file_bytes = 0;
  Position trained_context = 0;  // tokens
  int vocab_size = 0;
  RewindKind rewind = RewindKind::anywhere;
};

struct EngineLimits {
  Position cells = 0;              // tokens that fit in memory, all sequences together
  int sequences = 0;               // live conversations; SeqIds are 0 .. sequences-1
  int ubatch = 0;                  // tokens of one prefill call at most
  std::size_t snapshot_bytes = 0;  // of one Snapshot, about; 0 if rewind == anywhere
  std::size_t token_bytes = 0;     // of one token in a segment, about
};

// The state of a sequence after exactly `position` tokens, in host memory. Opaque and immutable;
// shared by every sequence that has this prefix.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  [[nodiscard]] virtual Position position() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

// Chooses tokens for one reply: chain, penalties, grammar. Owned by the turn; not thread-safe.
class Sampler {
 public:
  virtual ~Sampler() = default;
};

enum class EngineStatus { ok, no_cells, failed };

struct DecodeStep {
  SeqId sequence = 0;
  Position position = 0;  // must be the sequence's length
  Token token = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual const ModelInfo& model() const = 0;
  [[nodiscard]] virtual const EngineLimits& limits() const = 0;

  // --- compute ---

  // Appends `tokens` (1 .. limits().ubatch of them) to the sequence in one engine call. `begin`
  // must be its length. With `want_output`, output 0 holds the distribution after the last token.
  virtual EngineStatus prefill(SeqId sequence, Position begin, TokenSpan tokens,
                               bool want_output) = 0;

  // Appends one token to each of several different sequences in one engine call. Output i belongs
  // to steps[i].
  virtual EngineStatus decode(std::span<const DecodeStep> steps) = 0;

  // Outputs stay valid until the next prefill or decode. A token of -1 says that the distribution
  // is broken (not a number): treat the sequence as after `failed`.
  virtual Sampled sample(Sampler& sampler, int output) = 0;

  // `prompt` feeds the repetition penalties. Fails on a grammar that does not parse.
  virtual Result<std::unique_ptr<Sampler>> make_sampler(const SamplingParams& params,
                                                        TokenSpan prompt) = 0;

  // --- memory ---

  // Tokens the sequence holds; 0 if empty.
  [[nodiscard]] virtual Position length(SeqId sequence) const = 0;

  // A copy of the sequence's state at its present end. nullptr for RewindKind::anywhere.
  virtual Result<SnapshotPtr> snapshot(SeqId sequence) = 0;

  // Cuts the sequence back to its first `position` tokens (<= length). `snapshot` must be of this
  // very prefix at `position`; it may be null only for RewindKind::anywhere or position 0.
  virtual EngineStatus rewind(SeqId sequence, Position position, const Snapshot* snapshot) = 0;

  // Makes the empty sequence `target` share the first `position` tokens of `source` without copying
  // K/V. `snapshot` as for rewind. `source` is unchanged and may be in the middle of a turn.
  virtual EngineStatus fork(SeqId source, SeqId target, Position position,
                            const Snapshot* snapshot) = 0;

  // Empties the sequence and frees the cells nobody shares. Never fails.
  virtual void drop(SeqId sequence) = 0;

  // False once the engine can compute nothing any more; every call fails then. Any thread.
  [[nodiscard]] virtual bool healthy() const { return true; }

  // --- vocabulary ---

  // The token's bytes; may be part of a UTF-8 character. Control tokens ("<|im_end|>") give their
  // text only with `show_control`, else nothing.
  [[nodiscard]] virtual std::string piece(Token token, bool show_control) const = 0;
  [[nodiscard]] virtual bool is_end(Token token) const = 0;  // ends a reply
};

}  // namespace samovar
