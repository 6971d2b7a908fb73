// SnapshotPool: host memory for snapshots. A snapshot of a real model is 60 MB or more, and fresh
// pages cost more to fault in than the state costs to copy, so freed buffers are kept and used
// again. Owned by LlamaMemory, shared with the snapshots, which may outlive it. Thread-safe: a
// snapshot may be released on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine/engine.h"

namespace samovar {

class SnapshotPool {
 public:
  struct Buffer {
    std::unique_ptr<std::uint8_t[]> data;
    std::size_t capacity = 0;
  };

  Buffer take(std::size_t bytes);
  void give(Buffer buffer);

 private:
  // Enough for the snapshots that one turn supersedes; more would be memory nobody planned.
  static constexpr std::size_t kept_max = 2;

  std::mutex mutex_;
  std::vector<Buffer> kept_;
};

// The bytes libllama gave for a sequence's PARTIAL state, with what we must remember about them.
class LlamaSnapshot final : public Snapshot {
 public:
  // `owner` identifies the context the snapshot belongs to.
  LlamaSnapshot(std::shared_ptr<SnapshotPool> pool, const void* owner, Position position,
                SnapshotPool::Buffer buffer, std::size_t bytes);
  ~LlamaSnapshot() override;
  LlamaSnapshot(const LlamaSnapshot&) = delete;
  LlamaSnapshot& operator=(const LlamaSnapshot&) = delete;

  [[nodiscard]] Position position() const override { return position_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  [[nodiscard]] const void* owner() const { return owner_; }
  [[nodiscard]] std::span<const std::uint8_t> state() const { return {buffer_.data.get(), bytes_}; }

 private:
  std::shared_ptr<SnapshotPool> pool_;
  const void* owner_;
  Position position_;
  SnapshotPool::Buffer buffer_;
  std::size_t bytes_;
};

}  // namespace samovar
