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

Result<std::vector<std::uint8_t>> LlamaSegments::take(llama_seq_id source, Position begin,
                                                      Position end) {
  std::vector<std::uint8_t> segment;
  for (Position at = begin; at < end;) {
    const Position next = piece_ > 0 ? std::min(end, (at / piece_ + 1) * piece_) : end;
    const bool taken = take_piece(source, at, next, segment);
    clear_scratch();
    if (!taken) {
      return fail(
          ErrorKind::internal,
          fmt::format("tokens {} to {} of sequence {} could not be read", at, next, source));
    }
    at = next;
  }
  return segment;
}

bool LlamaSegments::take_piece(llama_seq_id source, Position begin, Position end,
                               std::vector<std::uint8_t>& segment) {
  llama_memory_seq_cp(memory_, source, scratch_, begin, end);
  // On models without recurrent state this sets nothing.
  if (llama_state_seq_set_data_ext(context_, empty_.data(), empty_.size(), scratch_, kPartial) ==
      0) {
    return false;
  }
  const PieceSize bytes = llama_state_seq_get_size_ext(context_, scratch_, kWhole);
  const std::size_t offset = segment.size();
  segment.resize(offset + sizeof(bytes) + bytes);
  std::memcpy(segment.data() + offset, &bytes, sizeof(bytes));
  return llama_state_seq_get_data_ext(context_, segment.data() + offset + sizeof(bytes), bytes,
                                      scratch_, kWhole) == bytes;
}

Status LlamaSegments::put(std::span<const llama_seq_id> targets,
                          std::span<const std::uint8_t> segment) {
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
