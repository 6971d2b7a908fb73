// BufferPool: host memory for bytes on their way to and from the disk, under one budget. Fresh
// pages cost more to fault in than bytes cost to copy, so freed buffers are kept and used again,
// and warm_up() faults pages in before anybody waits for them. Buffers go back to the pool when
// they go out of scope, on any thread; the pool lives as long as its last buffer. Thread-safe; a
// Buffer belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/bytes.h"

namespace samovar {

class BufferPool;

// `size` bytes of uninitialised memory. Movable; empty after a move.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  ~Buffer();

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] Bytes bytes() const { return {data_.get(), size_}; }
  [[nodiscard]] MutableBytes writable() { return {data_.get(), size_}; }
  void resize(std::size_t size);  // <= capacity; contents stay

  // Gives the memory away: the pool counts it no more and will not see it again.
  std::unique_ptr<std::uint8_t[]> release();

 private:
  friend class BufferPool;
  std::unique_ptr<std::uint8_t[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::shared_ptr<BufferPool> pool_;
};

class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  // Bytes of all buffers together, in use or kept.
  static std::shared_ptr<BufferPool> create(std::size_t budget);

  // nullopt: `size` does not fit beside what is in use (or the machine has no memory). Takes the
  // smallest kept buffer that fits and is at most twice as large; others make room if need be. What
  // is in use counts with its capacity.
  std::optional<Buffer> take(std::size_t size);

  // Allocates and touches buffers of `size` bytes until `total` bytes are kept.
  void warm_up(std::size_t size, std::size_t total);

  [[nodiscard]] std::size_t budget() const { return budget_; }
  [[nodiscard]] std::size_t in_use() const;

 private:
  friend class Buffer;
  struct Kept {
    std::unique_ptr<std::uint8_t[]> data;
    std::size_t capacity = 0;
  };
  explicit BufferPool(std::size_t budget) : budget_(budget) {}
  void give(std::unique_ptr<std::uint8_t[]> data, std::size_t capacity);
  void forget(std::size_t capacity);

  const std::size_t budget_;
  mutable std::mutex mutex_;
  std::vector<Kept> kept_;        // guarded by mutex_
  std::size_t kept_bytes_ = 0;    // guarded by mutex_
  std::size_t in_use_bytes_ = 0;  // guarded by mutex_
};

}  // namespace samovar
