// StoreShared: what the parts of a store have in common, and the small steps they all take: erase
// an entry, note trouble, flush the catalog. Private to src/store; lives as long as the last job on
// an executor. Members below `mutex` are guarded by it; the lock is never held across a disk
// access.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "store/catalog.h"
#include "store/pacer.h"
#include "store/store.h"
#include "store/store_folder.h"

namespace samovar {

// After a file could not be read: when to look at it again.
inline constexpr Micros kScanAgain = 60 * kSecond;

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

  std::mutex quarantine_mutex;  // held while files move there; before `mutex`

  std::mutex wake_mutex;       // held while wake runs, so that it can be taken away
  std::function<void()> wake;  // guarded by wake_mutex

  mutable std::mutex mutex;
  std::condition_variable became_ready;
  StoreIndex index;
  StoreStats stats;
  Catalog::Changes changes;  // not in the catalog yet
  bool flush_posted = false;
  bool scan_posted = false;
  bool scan_again = false;  // at scan_at: there are files that could not be looked at
  Micros scan_at = 0;
  Micros scan_wait = 0;  // before it, the last time
  std::uint64_t quarantined_bytes = 0;
  std::uint64_t refused_bytes = 0;  // on their way there
  std::uint64_t own_bytes = 0;      // catalog, lock, pins
  std::uint64_t other_bytes = 0;    // beside all these: of unknown versions, unreadable
  std::set<BlobKey> unreadable;     // keys that could not be read once
  std::int64_t day = 0;             // of stats.bytes_written_today
  std::unique_ptr<FileLock> lock;
  Micros retry_at = 0;  // writing rests until then
  Micros backoff = 0;   // of the last trouble; 0: none

  // All of these take the mutex.
  void set_ready();
  void count_written(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t written_today();
  [[nodiscard]] std::uint64_t folder_bytes() const;  // what is there, queued files not
  [[nodiscard]] bool resting() const;                // after trouble, and without the lock
  void note_trouble(const FsError& error);           // writing rests for a while, longer each time
  void note_success();
  void call_wake();

  // Published entries are forgotten: they were lost. Their files are the caller's business.
  // Returns how many there were.
  std::uint64_t forget(const std::vector<BlobKey>& keys);
  void give_up(const BlobKey& key);  // the same for one that was not published
  void flush_catalog();

  // What was found bad while reading is dealt with: quarantined, or only forgotten. A file that
  // could not be read is looked for again, once.
  void deal_with(const Fingerprint& model, const BlobKey& key, const BlobReadError& error);

  // An earlier failure to read it was not its fault.
  void was_readable(const BlobKey& key);

  // Quarantines the file of an entry that was forgotten, unless it is being written again. Its
  // bytes were in refused_bytes until now.
  void put_away(const BlobRecord& record, const std::string& why);
  void empty_quarantine();
  void count_quarantine();
  void count_own_files();

 private:
  void begin_day();                                               // under mutex
  void quarantine(const Fingerprint& model, const BlobKey& key);  // under quarantine_mutex
};

}  // namespace samovar
