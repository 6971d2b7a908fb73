#include "engine/llama_segments.h"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace samovar {
namespace {

constexpr llama_state_seq_flags kPartial = LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY;
constexpr llama_state_seq_flags kWhole = 0;

// Each piece is preceded by its size.
using PieceSize = std::uint64_t;

}  // namespace

LlamaSegments::LlamaSegments(llama_context* context, llama_seq_id scratch, Position piece)
    : context_(context), memory_(llama_get_memory(context)), scratch_(scratch), piece_(piece) {
  empty_.resize(llama_state_seq_get_size_ext(context_, scratch_, kPartial));
  empty_.resize(
      llama_state_seq_get_data_ext(context_, empty_.data(), empty_.size(), scratch_, kPartial));
}

void LlamaSegments::clear_scratch() { llama_memory_seq_rm(memory_, scratch_, -1, -1); }

void LlamaSegments::for_each_piece(Position begin, Position end,
                                   const std::function<void(Position, Position)>& visit) const {
  for (Position at = begin; at < end;) {
    const Position next = piece_ > 0 ? std::min(end, (at / piece_ + 1) * piece_) : end;
    visit(at, next);
    at = next;
  }
}

// Makes the scratch sequence hold the range and no recurrent state.
bool LlamaSegments::enter(llama_seq_id source, Position begin, Position end) {
  clear_scratch();
  llama_memory_seq_cp(memory_, source, scratch_, begin, end);
  // On models without recurrent state this sets nothing.
  return llama_state_seq_set_data_ext(context_, empty_.data(), empty_.size(), scratch_, kPartial) !=
         0;
}

Status LlamaSegments::take(llama_seq_id source, Position begin, Position end,
                           const SegmentPort::Room& room) {
  std::size_t total = 0;
  bool entered = true;
  for_each_piece(begin, end, [&](Position at, Position next) {
    entered = entered && enter(source, at, next);
    total += sizeof(PieceSize) + llama_state_seq_get_size_ext(context_, scratch_, kWhole);
  });
  MutableBytes segment = entered ? room(total) : MutableBytes{};
  const bool roomy = segment.size() == total;
  bool taken = entered && roomy;
  const bool one_piece = piece_ == 0 || begin / piece_ == (end - 1) / piece_;
  for_each_piece(begin, end, [&](Position at, Position next) {
    // A single piece is still entered.
    taken = taken && (one_piece || enter(source, at, next));
    if (!taken) {
      return;
    }
    const PieceSize bytes = llama_state_seq_get_size_ext(context_, scratch_, kWhole);
    std::memcpy(segment.data(), &bytes, sizeof(bytes));
    segment = segment.subspan(sizeof(bytes));
    taken =
        llama_state_seq_get_data_ext(context_, segment.data(), bytes, scratch_, kWhole) == bytes;
    segment = segment.subspan(bytes);
  });
  clear_scratch();
  if (taken) {
    return {};
  }
  return fail(
      ErrorKind::internal,
      roomy ? fmt::format("tokens {} to {} of sequence {} could not be read", begin, end, source)
            : fmt::format("no room for a segment of {} bytes", total));
}

Status LlamaSegments::put(std::span<const llama_seq_id> targets, Bytes segment) {
  while (!segment.empty()) {
    PieceSize bytes = 0;
    bool done = segment.size() >= sizeof(bytes);
    if (done) {
      std::memcpy(&bytes, segment.data(), sizeof(bytes));
      segment = segment.subspan(sizeof(bytes));
      done =
          bytes <= segment.size() &&
          llama_state_seq_set_data_ext(context_, segment.data(), bytes, scratch_, kWhole) == bytes;
    }
    if (done) {
      for (const llama_seq_id target : targets) {
        llama_memory_seq_cp(memory_, scratch_, target, -1, -1);
      }
      segment = segment.subspan(bytes);
    }
    clear_scratch();
    if (!done) {
      return fail(ErrorKind::internal, "a segment was refused by the engine");
    }
  }
  return {};
}

}  // namespace samovar
