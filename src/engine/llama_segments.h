// LlamaSegments: segments through libllama's scratch sequence.
//
// Export: the range is entered for the scratch sequence too (no K/V is copied), and the scratch
// sequence's state is taken. A hybrid's state would carry the whole recurrent state with every
// range, so that part is detached first by giving the scratch sequence an *empty* recurrent state.
// Import is the way back. A window cache leaves out what lies outside the window of the range's
// last token: ranges of such models are exported in pieces no longer than the window. Owned by
// LlamaEngine; engine thread only.
#pragma once

#include <llama.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "core/tokens.h"
#include "engine/segments.h"

namespace samovar {

class LlamaSegments {
 public:
  // `piece`: tokens in one blob at most, 0: any number; pieces end at multiples of it. The scratch
  // sequence must be empty now and between calls.
  LlamaSegments(llama_context* context, llama_seq_id scratch, Position piece);

  Status take(llama_seq_id source, Position begin, Position end, const SegmentPort::Room& room);

  // Enters the segment's cells for each of `targets`.
  Status put(std::span<const llama_seq_id> targets, Bytes segment);

 private:
  // The range in pieces: [at, next) of each.
  void for_each_piece(Position begin, Position end,
                      const std::function<void(Position, Position)>& visit) const;
  bool enter(llama_seq_id source, Position begin, Position end);
  void clear_scratch();

  llama_context* context_;
  llama_memory_t memory_;
  llama_seq_id scratch_;
  Position piece_;
  std::vector<std::uint8_t> empty_;  // PARTIAL state of a sequence without tokens
};

}  // namespace samovar
