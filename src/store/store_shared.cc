#include "store/store_shared.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace samovar {
namespace {

constexpr Micros kBackoffMin = 2 * kSecond;
constexpr Micros kBackoffMax = 300 * kSecond;
constexpr std::int64_t kDaySeconds = 86'400;

}  // namespace

StoreShared::StoreShared(Fs& file_system, const Clock& time, StoreOptions what,
                         StoreExecutors where)
    : fs(file_system),
      clock(time),
      options(std::move(what)),
      executors(where),
      folder(file_system, options.folder),
      write_pool(BufferPool::create(options.buffer_bytes / 2)),
      read_pool(BufferPool::create(options.buffer_bytes / 2)) {
  stats.size_max = options.size_max;
}

void StoreShared::set_ready() {
  {
    const std::scoped_lock hold(mutex);
    ready = true;
  }
  became_ready.notify_all();
}

void StoreShared::count_written(std::uint64_t bytes) {
  const std::scoped_lock hold(mutex);
  begin_day();
  stats.bytes_written += bytes;
  stats.bytes_written_today += bytes;
}

// A clock that goes back gives no new budget, and the next day by its new time does.
void StoreShared::begin_day() {
  const std::int64_t today = clock.wall_seconds() / kDaySeconds;
  if (today > day) stats.bytes_written_today = 0;
  day = today;
}

std::uint64_t StoreShared::written_today() {
  const std::scoped_lock hold(mutex);
  begin_day();
  return stats.bytes_written_today;
}

std::uint64_t StoreShared::folder_bytes() const {
  const std::scoped_lock hold(mutex);
  return index.bytes() - index.pending_bytes() + quarantined_bytes + refused_bytes + own_bytes +
         other_bytes;
}

bool StoreShared::resting() const {
  const std::scoped_lock hold(mutex);
  return lock == nullptr || clock.now() < retry_at;
}

void StoreShared::note_trouble(const FsError& error) {
  const std::scoped_lock hold(mutex);
  const bool news = stats.online || stats.trouble != error.message;
  backoff = backoff == 0 ? kBackoffMin : std::min(2 * backoff, kBackoffMax);
  retry_at = clock.now() + backoff;
  stats.online = false;
  stats.trouble = error.message;
  if (news) {
    log_warning("store: {}; sessions stay in memory only, writing is tried again in {} s",
                error.message, backoff / kSecond);
  }
}

void StoreShared::note_success() {
  const std::scoped_lock hold(mutex);
  if (!stats.online && !stats.trouble.empty()) log_info("store: writes again");
  stats.online = true;
  stats.trouble.clear();
  backoff = 0;
  retry_at = 0;
}

void StoreShared::call_wake() {
  const std::scoped_lock hold(wake_mutex);
  if (wake) wake();
}

std::uint64_t StoreShared::forget(const std::vector<BlobKey>& keys) {
  if (keys.empty()) return 0;
  std::uint64_t forgotten = 0;
  {
    const std::scoped_lock hold(mutex);
    for (const BlobKey& key : keys) {
      // One that is pending is being written anew, and is not what was lost.
      if (!index.published(key) || !index.erase(key)) continue;
      changes.erased.push_back(key);
      ++forgotten;
    }
  }
  ++losses;
  return forgotten;
}

void StoreShared::give_up(const BlobKey& key) {
  {
    const std::scoped_lock hold(mutex);
    if (!index.published(key)) index.erase(key);
    ++stats.shed;
  }
  ++losses;
}

void StoreShared::flush_catalog() {
  if (!options.catalog) return;
  {
    const std::scoped_lock hold(mutex);
    if (changes.empty() || flush_posted) return;
    flush_posted = true;
  }
  executors.catalog.post([self = shared_from_this()] {
    Catalog::Changes batch;
    std::int64_t written = 0;
    std::int64_t today = 0;
    {
      const std::scoped_lock hold(self->mutex);
      batch = std::exchange(self->changes, {});
      self->flush_posted = false;
      written = static_cast<std::int64_t>(self->stats.bytes_written_today);
      today = self->day;
    }
    if (self->catalog == nullptr) return;  // it is made again from the files at the next start
    auto status = self->catalog->apply(batch);
    if (status) status = self->catalog->set_number("day", today);
    if (status) status = self->catalog->set_number("written", written);
    if (!status) log_debug("store: catalog: {}", status.error().message);
    self->count_own_files();
  });
}

void StoreShared::deal_with(const Fingerprint& model, const BlobKey& key,
                            const BlobReadError& error) {
  const std::scoped_lock one(quarantine_mutex);
  bool bad = error.kind == BlobReadError::Kind::damaged;
  {
    const std::scoped_lock hold(mutex);
    if (!index.published(key)) return;  // another restore came before, or it is written anew
    if (error.kind == BlobReadError::Kind::missing) ++stats.gone;
    if (error.kind == BlobReadError::Kind::unreadable) {
      bad = !unreadable.insert(key).second;  // never tried a third time (S4)
      ++stats.unreadable;
      scan_again = true;
      scan_at = clock.now() + kScanAgain;
    }
  }
  log_warning("store: {}; it is not used", error.message);
  if (bad) quarantine(model, key);
  forget({key});
  flush_catalog();
}

void StoreShared::was_readable(const BlobKey& key) {
  const std::scoped_lock hold(mutex);
  unreadable.erase(key);
}

void StoreShared::put_away(const BlobRecord& record, const std::string& why) {
  const BlobKey key{record.kind, record.identity};
  const std::scoped_lock one(quarantine_mutex);
  {
    const std::scoped_lock hold(mutex);
    refused_bytes -= on_disk(record.file_bytes);
    if (index.find(key) != nullptr) return;
  }
  log_warning("store: {} {}; it is not used", folder.blob_path(record.model, key), why);
  quarantine(record.model, key);
  flush_catalog();
}

void StoreShared::quarantine(const Fingerprint& model, const BlobKey& key) {
  if (const auto moved = folder.quarantine(model, key); !moved) {
    log_warning("store: {}", moved.error().message);
  }
  count_quarantine();
  const std::scoped_lock hold(mutex);
  ++stats.quarantined;
}

void StoreShared::count_quarantine() {
  const auto bytes = folder.quarantined_bytes();
  const std::scoped_lock hold(mutex);
  if (bytes) quarantined_bytes = *bytes;
}

// Not all sizes of the catalog while it is being written are seen; the next change counts it again.
void StoreShared::count_own_files() {
  const std::uint64_t bytes = folder.own_bytes();
  const std::scoped_lock hold(mutex);
  own_bytes = bytes;
}

void StoreShared::empty_quarantine() {
  const std::scoped_lock one(quarantine_mutex);
  (void)folder.empty_quarantine();
  count_quarantine();
}

}  // namespace samovar
