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
  // A clock that goes back does not give a new day's budget.
  const std::int64_t today = clock.wall_seconds() / kDaySeconds;
  if (today > day) {
    day = today;
    stats.bytes_written_today = 0;
  }
  stats.bytes_written += bytes;
  stats.bytes_written_today += bytes;
}

bool StoreShared::resting() const {
  const std::scoped_lock hold(mutex);
  return lock == nullptr || clock.now() < retry_at;
}

void StoreShared::note_trouble(const FsError& error) {
  const std::scoped_lock hold(mutex);
  ++stats.write_errors;
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

void StoreShared::forget(const std::vector<BlobKey>& keys) {
  if (keys.empty()) return;
  {
    const std::scoped_lock hold(mutex);
    for (const BlobKey& key : keys) {
      if (index.erase(key)) changes.erased.push_back(key);
    }
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
  });
}

void StoreShared::deal_with(const Fingerprint& model, const BlobKey& key,
                            const BlobReadError& error) {
  log_warning("store: {}; it is not used", error.message);
  const bool bad = error.kind == BlobReadError::Kind::damaged;
  if (bad) {
    if (const auto moved = folder.quarantine(model, key); !moved) {
      log_warning("store: {}", moved.error().message);
    }
  }
  forget({key});
  {
    const std::scoped_lock hold(mutex);
    ++stats.restore_failures;
    ++(bad ? stats.quarantined : stats.unreadable);
  }
  flush_catalog();
}

}  // namespace samovar
