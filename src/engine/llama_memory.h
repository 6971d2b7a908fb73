// LlamaMemory: which tokens each sequence holds, and every way to change that except computing:
// snapshot, rewind, fork, drop. It keeps the lengths itself, because libllama does not refuse gaps
// for all models (M-RoPE) and reports wrong ends after some errors. Owned by LlamaEngine; engine
// thread only. Failures leave the sequence empty, as said per function.
//
// Guards. A sliding-window cache lets a batch of *any* sequence overwrite cells that lie outside
// their owner's window, even where room for every token was asked for (swa_full). Going back to an
// earlier position would then find holes in the window, silently. Only cells of exactly one
// sequence are overwritten, so each token is entered for two sequences: its own and a guard that
// nothing computes with. It costs one bit per cell, and makes such models as free to cut anywhere
// as plain attention is. (Snapshots of the window would cost up to hundreds of MB each and would
// come back in another cell order, which changes rounding.) Hybrid models cannot use guards (a
// recurrent state belongs to one sequence) and need no guard: their snapshot holds the window too.
#pragma once

#include <llama.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer_pool.h"
#include "base/bytes.h"
#include "base/result.h"
#include "engine/engine.h"
#include "engine/llama_model.h"
#include "engine/snapshot_pool.h"

namespace samovar {

class LlamaMemory {
 public:
  LlamaMemory(llama_context* context, const MemoryShape& shape, int sequences);

  [[nodiscard]] int sequences() const { return static_cast<int>(entries_.size()); }
  [[nodiscard]] SeqId scratch() const { return scratch_; }
  [[nodiscard]] bool valid(SeqId sequence) const { return sequence >= 0 && sequence < sequences(); }

  [[nodiscard]] Position length(SeqId sequence) const { return at(sequence).length; }

  // True between a failed computation and the rewind or drop that repairs it.
  [[nodiscard]] bool broken(SeqId sequence) const { return at(sequence).broken; }
  void mark_broken(SeqId sequence) { at(sequence).broken = true; }
  void appended(SeqId sequence, Position count) { at(sequence).length += count; }

  // libllama's sequence ids for a token of this sequence; stable for the lifetime of this object.
  [[nodiscard]] std::span<llama_seq_id> ids(SeqId sequence);

  Result<SnapshotPtr> snapshot(SeqId sequence);
  SnapshotPtr make_snapshot(Position position, Bytes bytes);
  SnapshotPtr adopt_snapshot(Position position, Buffer bytes);

  enum class Outcome {
    done,
    refused,  // the snapshot is missing or of another position or engine; nothing changed
    lost,     // libllama did not take the snapshot; the sequence was dropped
  };
  Outcome rewind(SeqId sequence, Position position, const Snapshot* snapshot);
  Outcome fork(SeqId source, SeqId target, Position position, const Snapshot* snapshot);
  void drop(SeqId sequence);

  // Removes cells that are not counted in the length: what a failed import left.
  void forget_from(SeqId sequence, Position position) { remove_from(sequence, position); }

  // libllama's sequence is really gone after a failed restore; false would mean a corrupt context.
  [[nodiscard]] bool really_empty(SeqId sequence) const;

 private:
  struct Entry {
    Position length = 0;
    bool broken = false;
    std::array<llama_seq_id, 2> ids{};  // itself, its guard
  };

  [[nodiscard]] const Entry& at(SeqId sequence) const;
  [[nodiscard]] Entry& at(SeqId sequence);
  [[nodiscard]] const LlamaSnapshot* usable(const Snapshot* snapshot, Position position) const;
  bool restore(SeqId sequence, const LlamaSnapshot& snapshot);
  void remove_from(SeqId sequence, Position position);

  llama_context* context_;
  llama_memory_t memory_;
  MemoryShape shape_;
  SeqId scratch_;
  std::vector<Entry> entries_;
  std::shared_ptr<SnapshotPool> pool_ = std::make_shared<SnapshotPool>();
};

}  // namespace samovar
