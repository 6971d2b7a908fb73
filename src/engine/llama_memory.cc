#include "engine/llama_memory.h"

#include <fmt/core.h>

#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "base/log.h"

namespace samovar {
namespace {

constexpr llama_state_seq_flags kPartial = LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY;

}  // namespace

LlamaMemory::LlamaMemory(llama_context* context, const MemoryShape& shape, int sequences)
    : context_(context),
      memory_(llama_get_memory(context)),
      shape_(shape),
      scratch_(sequences * (shape.guarded ? 2 : 1)),
      entries_(static_cast<std::size_t>(sequences)) {
  for (int i = 0; i < sequences; ++i) {
    at(i).ids = {i, sequences + i};
  }
}

const LlamaMemory::Entry& LlamaMemory::at(SeqId sequence) const {
  assert(valid(sequence));
  return entries_[static_cast<std::size_t>(sequence)];
}

LlamaMemory::Entry& LlamaMemory::at(SeqId sequence) {
  assert(valid(sequence));
  return entries_[static_cast<std::size_t>(sequence)];
}

std::span<llama_seq_id> LlamaMemory::ids(SeqId sequence) {
  return std::span(at(sequence).ids).first(shape_.guarded ? 2 : 1);
}

Result<SnapshotPtr> LlamaMemory::snapshot(SeqId sequence) {
  if (shape_.rewind == RewindKind::anywhere) {
    return SnapshotPtr();
  }
  const Entry& entry = at(sequence);
  if (entry.broken || entry.length == 0) {
    return fail(ErrorKind::internal,
                fmt::format("sequence {} has no state to take a snapshot of", sequence));
  }
  const std::size_t bytes = llama_state_seq_get_size_ext(context_, sequence, kPartial);
  SnapshotPool::Buffer buffer;
  try {
    buffer = pool_->take(bytes);
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::internal, fmt::format("no memory for a snapshot of {} bytes", bytes),
                "--anchor-memory");
  }
  if (llama_state_seq_get_data_ext(context_, buffer.data.get(), bytes, sequence, kPartial) !=
      bytes) {
    return fail(ErrorKind::internal, fmt::format("no snapshot of sequence {} at {} could be taken",
                                                 sequence, entry.length));
  }
  return std::make_shared<LlamaSnapshot>(pool_, this, entry.length, std::move(buffer), bytes);
}

SnapshotPtr LlamaMemory::make_snapshot(Position position, Bytes bytes) {
  SnapshotPool::Buffer buffer;
  try {
    buffer = pool_->take(bytes.size());
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  std::memcpy(buffer.data.get(), bytes.data(), bytes.size());
  return std::make_shared<LlamaSnapshot>(pool_, this, position, std::move(buffer), bytes.size());
}

SnapshotPtr LlamaMemory::adopt_snapshot(Position position, Buffer bytes) {
  const std::size_t size = bytes.size();
  const std::size_t capacity = bytes.capacity();
  SnapshotPool::Buffer buffer{.data = bytes.release(), .capacity = capacity};
  return std::make_shared<LlamaSnapshot>(pool_, this, position, std::move(buffer), size);
}

const LlamaSnapshot* LlamaMemory::usable(const Snapshot* snapshot, Position position) const {
  const auto* ours = dynamic_cast<const LlamaSnapshot*>(snapshot);
  if (ours == nullptr || ours->owner() != this || ours->position() != position) {
    log_error("refused: position {} needs its own snapshot, got {}", position,
              ours == nullptr ? std::string("none") : fmt::format("that of {}", ours->position()));
    return nullptr;
  }
  return ours;
}

// Replaces recurrent state and window of the sequence. Attention cells stay: those behind the
// snapshot's position must be removed afterwards, or they would be attended to.
bool LlamaMemory::restore(SeqId sequence, const LlamaSnapshot& snapshot) {
  const auto state = snapshot.state();
  return llama_state_seq_set_data_ext(context_, state.data(), state.size(), sequence, kPartial) ==
         state.size();
}

void LlamaMemory::remove_from(SeqId sequence, Position position) {
  for (const llama_seq_id id : ids(sequence)) {
    [[maybe_unused]] const bool removed = llama_memory_seq_rm(memory_, id, position, -1);
    assert(removed);  // a recurrent state at the cut itself, or no recurrent state: cannot refuse
  }
}

LlamaMemory::Outcome LlamaMemory::rewind(SeqId sequence, Position position,
                                         const Snapshot* snapshot) {
  Entry& entry = at(sequence);
  assert(position >= 0 && position <= entry.length);
  if (position == 0) {
    drop(sequence);
    return Outcome::done;
  }
  if (position == entry.length && !entry.broken) {
    return Outcome::done;
  }
  if (shape_.rewind == RewindKind::snapshot) {
    const LlamaSnapshot* state = usable(snapshot, position);
    if (state == nullptr) {
      return Outcome::refused;
    }
    if (!restore(sequence, *state)) {
      drop(sequence);
      return Outcome::lost;
    }
  }
  remove_from(sequence, position);
  entry.length = position;
  entry.broken = false;
  return Outcome::done;
}

LlamaMemory::Outcome LlamaMemory::fork(SeqId source, SeqId target, Position position,
                                       const Snapshot* snapshot) {
  Entry& entry = at(target);
  assert(source != target && entry.length == 0 && !entry.broken);
  assert(position >= 0 && position <= length(source));
  if (position == 0) {
    return Outcome::done;
  }
  const LlamaSnapshot* state = nullptr;
  if (shape_.rewind == RewindKind::snapshot) {
    state = usable(snapshot, position);
    if (state == nullptr) {
      return Outcome::refused;
    }
  }
  for (const llama_seq_id id : ids(target)) {
    llama_memory_seq_cp(memory_, source, id, 0, position);
  }
  // Last: the copy made the target share the source's recurrent state, which is that of another
  // position.
  if (state != nullptr && !restore(target, *state)) {
    drop(target);
    return Outcome::lost;
  }
  entry.length = position;
  return Outcome::done;
}

void LlamaMemory::drop(SeqId sequence) {
  for (const llama_seq_id id : ids(sequence)) {
    llama_memory_seq_rm(memory_, id, -1, -1);
  }
  at(sequence).length = 0;
  at(sequence).broken = false;
}

bool LlamaMemory::really_empty(SeqId sequence) const {
  return llama_memory_seq_pos_max(memory_, sequence) < 0;
}

}  // namespace samovar
