#include "engine/snapshot_pool.h"

#include <utility>

namespace samovar {
namespace {

// Sizes of one model differ by a few bytes only; rounding makes buffers interchangeable.
constexpr std::size_t kGrain = std::size_t{64} << 10;

}  // namespace

SnapshotPool::Buffer SnapshotPool::take(std::size_t bytes) {
  const std::size_t capacity = (bytes + kGrain - 1) / kGrain * kGrain;
  {
    const std::lock_guard lock(mutex_);
    for (Buffer& buffer : kept_) {
      if (buffer.capacity >= capacity && buffer.capacity <= capacity + capacity / 4) {
        std::swap(buffer, kept_.back());
        Buffer found = std::move(kept_.back());
        kept_.pop_back();
        return found;
      }
    }
  }
  return {std::make_unique_for_overwrite<std::uint8_t[]>(capacity), capacity};
}

void SnapshotPool::give(Buffer buffer) {
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= kept_max) {
    kept_.erase(kept_.begin());  // the oldest: sizes that are no longer asked for must not stay
  }
  kept_.push_back(std::move(buffer));
}

LlamaSnapshot::LlamaSnapshot(std::shared_ptr<SnapshotPool> pool, const void* owner,
                             Position position, SnapshotPool::Buffer buffer, std::size_t bytes)
    : pool_(std::move(pool)),
      owner_(owner),
      position_(position),
      buffer_(std::move(buffer)),
      bytes_(bytes) {}

LlamaSnapshot::~LlamaSnapshot() { pool_->give(std::move(buffer_)); }

}  // namespace samovar
