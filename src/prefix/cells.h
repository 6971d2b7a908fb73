// CellLedger: which attention cells each sequence holds, counted exactly although forked sequences
// share them. The engine cannot be asked for this, and admission must not guess.
//
// A sequence is a list of runs; a run is a number of consecutive cells, shared by every sequence
// that was forked while it held them. Used by the engine thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/tokens.h"

namespace samovar {

class CellLedger {
 public:
  CellLedger(int sequences, Position cells);

  [[nodiscard]] Position total() const { return total_; }
  [[nodiscard]] Position used() const { return used_; }
  [[nodiscard]] Position free() const { return total_ - used_; }
  [[nodiscard]] Position length(SeqId sequence) const;

  // The sequence's cells from its first token on. Equal `run`: the same cells, wherever they are
  // met. Only for telling them apart: the pointer may dangle after the next change.
  struct Held {
    const void* run = nullptr;
    Position size = 0;
  };
  [[nodiscard]] std::vector<Held> held(SeqId sequence) const;

  // Cells that would become free if the sequences of `dropped` were emptied and `cut` (not one of
  // them; -1: none) were cut at `position`.
  [[nodiscard]] Position freed_by(std::span<const SeqId> dropped, SeqId cut = -1,
                                  Position position = 0) const;

  void append(SeqId sequence, Position count);
  void truncate(SeqId sequence, Position position);
  void fork(SeqId source, SeqId target, Position position);  // target must be empty

 private:
  struct Run {
    Position size = 0;
    int holders = 0;
  };
  using RunPtr = std::shared_ptr<Run>;

  // Makes a run boundary at `position` of the sequence, in every sequence that shares the run.
  // Returns the index of the first run at or after it.
  std::size_t split(SeqId sequence, Position position);

  std::vector<std::vector<RunPtr>> sequences_;
  Position total_ = 0;
  Position used_ = 0;
};

}  // namespace samovar
