// DiskRestore: a StoreRestore that reads from the store's folder. Private to src/store. While it
// lives its files are held: eviction passes them by.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/store_shared.h"

namespace samovar {

class DiskRestore final : public StoreRestore {
 public:
  DiskRestore(std::shared_ptr<StoreShared> shared, StoredChain chain, TokenSpan tokens);
  ~DiskRestore() override;
  DiskRestore(const DiskRestore&) = delete;
  DiskRestore& operator=(const DiskRestore&) = delete;

  State state() override;
  RestoredPart take() override;
  void succeeded() override;
  void refused() override;
  [[nodiscard]] const StoredChain& chain() const override { return chain_; }
  [[nodiscard]] std::string error() const override { return lost_; }
  [[nodiscard]] RestoreFault fault() const override { return fault_; }
  [[nodiscard]] RestoreFigures figures() const override;

 private:
  struct Work;
  struct Slot;

  void post_reads();
  bool post(std::size_t part);
  [[nodiscard]] bool snapshot_may_be_early() const;
  static void read(Work& work, std::size_t part);
  void let_go();
  void count_failure();

  const std::shared_ptr<StoreShared> shared_;
  const StoredChain chain_;
  const std::shared_ptr<Work> work_;
  std::size_t posted_ = 0;        // parts whose reads were posted, from the first
  bool snapshot_posted_ = false;  // the last one's too, early
  std::size_t taken_ = 0;
  bool held_ = false;
  bool counted_ = false;  // as a failure
  std::string lost_;
  RestoreFault fault_ = RestoreFault::evicted;  // with lost_
};

}  // namespace samovar
