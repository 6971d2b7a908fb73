#include "base/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

namespace samovar {
namespace {

constexpr std::size_t kPage = 4096;

// A kept buffer may be this many times as large as what it is taken for: more would keep memory
// from others for nothing.
constexpr std::size_t kWaste = 2;

// Large pages where the system gives them: fewer faults, faster copies.
void ask_for_large_pages([[maybe_unused]] std::uint8_t* data, [[maybe_unused]] std::size_t size) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kLarge = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (begin + kLarge - 1) / kLarge * kLarge;
  const std::uintptr_t last = (begin + size) / kLarge * kLarge;
  if (first < last) madvise(data + (first - begin), last - first, MADV_HUGEPAGE);
#endif
}

std::unique_ptr<std::uint8_t[]> allocate(std::size_t size) {
  std::unique_ptr<std::uint8_t[]> data(new (std::nothrow) std::uint8_t[size]);
  if (data) ask_for_large_pages(data.get(), size);
  return data;
}

}  // namespace

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::move(other.data_)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)),
      pool_(std::move(other.pool_)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  Buffer taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  std::swap(capacity_, taken.capacity_);
  std::swap(pool_, taken.pool_);
  return *this;
}

Buffer::~Buffer() {
  if (data_) pool_->give(std::move(data_), capacity_);
}

void Buffer::resize(std::size_t size) {
  assert(size <= capacity_);
  size_ = size;
}

std::unique_ptr<std::uint8_t[]> Buffer::release() {
  if (data_) pool_->forget(capacity_);
  size_ = capacity_ = 0;
  pool_ = nullptr;
  return std::move(data_);
}

std::shared_ptr<BufferPool> BufferPool::create(std::size_t budget) {
  return std::shared_ptr<BufferPool>(new BufferPool(budget));
}

std::optional<Buffer> BufferPool::take(std::size_t size) {
  Kept found;
  std::vector<Kept> dropped;  // freed after the lock: returning pages takes the system a while
  {
    const std::lock_guard lock(mutex_);
    if (size > budget_ - in_use_bytes_) return std::nullopt;
    auto best = kept_.end();
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
      if (kept->capacity < size || kept->capacity / kWaste > size) continue;
      if (best == kept_.end() || kept->capacity < best->capacity) best = kept;
    }
    if (best != kept_.end()) {
      found = std::move(*best);
      kept_.erase(best);
      kept_bytes_ -= found.capacity;
    } else {
      found.capacity = size;
      while (kept_bytes_ > budget_ - in_use_bytes_ - size) {
        kept_bytes_ -= kept_.front().capacity;
        dropped.push_back(std::move(kept_.front()));
        kept_.erase(kept_.begin());
      }
    }
    in_use_bytes_ += found.capacity;
  }
  dropped.clear();
  if (!found.data) found.data = allocate(size);
  if (!found.data) {
    const std::lock_guard lock(mutex_);
    in_use_bytes_ -= size;
    return std::nullopt;
  }
  Buffer buffer;
  buffer.data_ = std::move(found.data);
  buffer.size_ = size;
  buffer.capacity_ = found.capacity;
  buffer.pool_ = shared_from_this();
  return buffer;
}

void BufferPool::warm_up(std::size_t size, std::size_t total) {
  while (size > 0) {
    {
      const std::lock_guard lock(mutex_);
      if (kept_bytes_ >= total || size > budget_ - in_use_bytes_ - kept_bytes_) return;
      in_use_bytes_ += size;
    }
    std::unique_ptr<std::uint8_t[]> data = allocate(size);
    if (!data) {
      const std::lock_guard lock(mutex_);
      in_use_bytes_ -= size;
      return;
    }
    for (std::size_t i = 0; i < size; i += kPage) data[i] = 0;
    give(std::move(data), size);
  }
}

std::size_t BufferPool::in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_bytes_;
}

void BufferPool::forget(std::size_t capacity) {
  const std::lock_guard lock(mutex_);
  in_use_bytes_ -= capacity;
}

void BufferPool::give(std::unique_ptr<std::uint8_t[]> data, std::size_t capacity) {
  const std::lock_guard lock(mutex_);
  in_use_bytes_ -= capacity;
  kept_bytes_ += capacity;
  kept_.push_back({.data = std::move(data), .capacity = capacity});
}

}  // namespace samovar
