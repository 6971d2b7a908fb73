// StoreShared: what the parts of a store have in common, and the small steps they all take: erase an
// entry, note trouble, flush the catalog. Private to src/store; lives as long as the last job on an
// executor. Members below `mutex` are guarded by it; the lock is never held across a disk access.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "store/catalog.h"
#include "store/pacer.h"
#include "store/store.h"
#include "store/store_folder.h"

namespace samovar {

struct StoreShared : std::enable_shared_from_this<StoreShared> {
  StoreShared(Fs& file_system, const Clock& time, StoreOptions what, StoreExecutors where);

  Fs& fs;
  const Clock& clock;
  const StoreOptions options;
  const StoreExecutors executors;
  StoreFolder folder;
  Pacer pacer;
  const std::shared_ptr<BufferPool> write_pool;
  const std::shared_ptr<BufferPool> read_pool;
  std::atomic<bool> ready = false;  // set under mutex
  std::atomic<bool> closing = false;
  std::atomic<std::uint64_t> losses = 0;

  // catalog thread only
  std::unique_ptr<Catalog> catalog;

  std::mutex wake_mutex;       // held while wake runs, so that it can be taken away
  std::function<void()> wake;  // guarded by wake_mutex

  mutable std::mutex mutex;
  std::condition_variable became_ready;
  StoreIndex index;
  StoreStats stats;
  Catalog::Changes changes;  // not in the catalog yet
  bool flush_posted = false;
  bool scan_posted = false;
  Micros scanned_at = 0;
  std::uint64_t other_bytes = 0;  // in the folder, beside the index: quarantine, catalog, unknown
  std::int64_t day = 0;           // of stats.bytes_written_today
  std::unique_ptr<FileLock> lock;
  Micros retry_at = 0;  // writing rests until then
  Micros backoff = 0;   // of the last trouble; 0: none

  // All of these take the mutex.
  void set_ready();
  void count_written(std::uint64_t bytes);
  [[nodiscard]] bool resting() const;  // after trouble, and without the lock
  void note_trouble(const FsError& error);  // writing rests for a while, longer each time
  void note_success();
  void call_wake();

  // Entries are forgotten; their files are the caller's business. Counts as a loss.
  void forget(const std::vector<BlobKey>& keys);
  void flush_catalog();

  // What was found bad while reading is dealt with: quarantined, or only forgotten.
  void deal_with(const Fingerprint& model, const BlobKey& key, const BlobReadError& error);
};

}  // namespace samovar
