#include "store/store_janitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace samovar {
namespace {

// Below the budget, in percent: where eviction stops once it has begun.
constexpr std::uint64_t kLowWater = 90;

// What a full disk takes from us, in percent of what we have there.
constexpr std::uint64_t kYield = 10;

// After files could not be read time and again: when to look at them at last.
constexpr Micros kScanAgainMax = 3600 * kSecond;

}  // namespace

void StoreJanitor::start(const std::shared_ptr<StoreJanitor>& janitor) {
  const auto& shared = janitor->shared_;
  const auto scan = [janitor] { janitor->scan(); };
  if (!shared->options.catalog) {
    shared->executors.writer.post(scan);
    return;
  }
  shared->executors.catalog.post([janitor, shared, scan] {
    janitor->load();
    shared->executors.writer.post(scan);
  });
}

void StoreJanitor::load() {
  StoreShared& shared = *shared_;
  if (const FsStatus prepared = shared.folder.prepare(nullptr); !prepared) return;
  auto opened = Catalog::open(shared.folder.catalog_path());
  if (!opened) {
    log_warning("store: {}; the index is read from the files", opened.error().describe());
    return;
  }
  shared.catalog = std::move(*opened);
  auto records = shared.catalog->load();
  if (!records) {
    log_warning("store: {}; the index is read from the files", records.error().describe());
    return;
  }
  const auto evicted = shared.catalog->evicted();
  const std::int64_t day = shared.catalog->number("day");
  const std::int64_t written = shared.catalog->number("written");
  // An empty one may be new beside files that are not.
  const bool complete = !shared.catalog->recreated() && !records->empty();
  {
    const std::scoped_lock hold(shared.mutex);
    for (BlobRecord& record : *records) shared.index.add(std::move(record), false);
    for (const EvictedBlob& blob : evicted) shared.index.remember_evicted(blob);
    if (day >= shared.day) {
      shared.day = day;
      shared.stats.bytes_written_today +=
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, written));
    }
  }
  read_pins();
  if (complete) shared.set_ready();
}

void StoreJanitor::read_pins() {
  auto pins = shared_->folder.read_pins();
  if (!pins) return;
  const std::scoped_lock hold(shared_->mutex);
  for (const Identity& pin : *pins) shared_->index.pin(pin);
}

void StoreJanitor::scan() {
  StoreShared& shared = *shared_;
  std::vector<BlobRecord> known;
  {
    const std::scoped_lock hold(shared.mutex);
    shared.scan_posted = shared.scan_again = false;
    for (BlobRecord& record : shared.index.records()) {
      if (shared.index.published({record.kind, record.identity}))
        known.push_back(std::move(record));
    }
  }
  const auto found = shared.folder.scan(known, [&shared] { return shared.closing.load(); });
  if (found) {
    take_in(*found);
  } else if (found.error().fault == FsFault::not_found) {  // nothing there: nothing known is true
    std::vector<BlobKey> gone;
    gone.reserve(known.size());
    for (const BlobRecord& record : known) gone.push_back({record.kind, record.identity});
    count(&StoreStats::gone, shared.forget(gone));
  } else {
    shared.note_trouble(found.error());
    const std::scoped_lock hold(shared.mutex);
    shared.scan_again = true;
    shared.scan_at = shared.retry_at;
  }
  read_pins();
  shared.set_ready();
  make_room(0);
  shared.flush_catalog();
}

void StoreJanitor::take_in(const StoreFolder::Scan& scan) {
  StoreShared& shared = *shared_;
  for (const std::string& path : scan.temporaries) (void)shared.fs.remove(path);
  for (const std::string& path : scan.damaged) {
    log_warning("store: {} is damaged and is put in quarantine", path);
    (void)shared.folder.quarantine_path(path);
  }
  count(&StoreStats::gone, shared.forget(scan.missing));
  std::vector<BlobKey> dead;
  {
    const std::scoped_lock hold(shared.mutex);
    for (const BlobRecord& record : scan.found) {
      if (shared.index.add(record, false)) shared.changes.put.push_back(record);
    }
    // What hangs on a file that was not seen may be fine.
    const bool all_seen = scan.unreadable == 0 && !scan.stopped;
    if (all_seen) dead = shared.index.unreachable();
    shared.scan_again = shared.scan_again || scan.unreadable > 0;
    Micros& wait = shared.scan_wait;
    wait = scan.unreadable == 0 ? 0 : std::clamp(2 * wait, kScanAgain, kScanAgainMax);
    if (scan.unreadable > 0) shared.scan_at = shared.clock.now() + wait;
    shared.stats.unknown_versions = scan.unknown_versions;
    shared.stats.quarantined += scan.damaged.size();
  }
  count(&StoreStats::unmatchable, remove(dead, Why::useless).files);
  if (scan.unknown_versions > 0) {
    log_info("store: {} files of a newer version are left alone", scan.unknown_versions);
  }
  if (scan.unreadable > 0) {
    log_warning("store: {} files cannot be read now; they are looked at again later",
                scan.unreadable);
  }
  shared.count_quarantine();
  shared.count_own_files();
  const std::scoped_lock hold(shared.mutex);
  shared.other_bytes = scan.unknown_version_bytes + scan.unreadable_bytes;
  if (!scan.found.empty() || !scan.missing.empty() || !dead.empty()) {
    log_info("store: {} files taken in, {} forgotten, {} removed that nothing could match",
             scan.found.size(), scan.missing.size(), dead.size());
  }
}

// Forgets entries that no running restore needs, then removes their files. They are no losses: a
// session in memory that was told so would write them again, and they would be evicted again.
// What had to make room is remembered as that.
StoreJanitor::Removed StoreJanitor::remove(const std::vector<BlobKey>& keys, Why why) {
  std::vector<BlobRecord> gone;
  {
    const std::scoped_lock hold(shared_->mutex);
    for (const BlobKey& key : keys) {
      const BlobRecord* record = shared_->index.find(key);
      if (record == nullptr || shared_->index.held(key)) continue;
      gone.push_back(*record);
      shared_->changes.erased.push_back(key);
      if (why == Why::to_make_room) {
        shared_->changes.evicted.push_back(evicted_blob(*record));
        shared_->index.evict(key);
      } else {
        shared_->index.erase(key);
      }
    }
  }
  Removed freed;
  for (const BlobRecord& record : gone) {
    const std::string path =
        shared_->folder.blob_path(record.model, {record.kind, record.identity});
    const FsStatus removed = shared_->fs.remove(path);
    if (removed || removed.error().fault == FsFault::not_found) {
      ++freed.files;
      freed.bytes += on_disk(record.file_bytes);
      continue;
    }
    // Still there, so it still counts.
    log_warning("store: {}", removed.error().message);
    const std::scoped_lock hold(shared_->mutex);
    if (shared_->index.add(record, false)) shared_->changes.put.push_back(record);
  }
  return freed;
}

bool StoreJanitor::make_room(std::uint64_t coming) {
  StoreShared& shared = *shared_;
  if (shared.folder_bytes() + coming <= shared.options.size_max) return true;
  shared.empty_quarantine();  // what is known to be bad goes before what is good
  return free_down_to(shared.options.size_max / 100 * kLowWater, coming, &StoreStats::evicted);
}

// Evicts until `most` bytes are left. True if at least the budget holds.
bool StoreJanitor::free_down_to(std::uint64_t most, std::uint64_t coming,
                                std::uint64_t StoreStats::* evicted) {
  StoreShared& shared = *shared_;
  std::vector<BlobKey> order;
  const std::uint64_t used = shared.folder_bytes() + coming;
  {
    const std::scoped_lock hold(shared.mutex);
    if (used > most) order = shared.index.eviction_order(used - most, shared.clock.wall_seconds());
  }
  const Removed freed = remove(order, Why::to_make_room);
  count(evicted, freed.files);
  shared.flush_catalog();
  const bool fits = shared.folder_bytes() + coming <= shared.options.size_max;
  if (!order.empty()) {
    log_info("store: evicted {} files, {} MiB", freed.files, freed.bytes >> 20);
  }
  if (!fits) {
    log_warning(
        "store: over its budget, and nothing may go (pinned, in use, or of a newer version)");
  }
  return fits;
}

void StoreJanitor::remove_superseded(const Identity& tip) {
  std::vector<BlobKey> outgrown;
  {
    const std::scoped_lock hold(shared_->mutex);
    outgrown = shared_->index.superseded_by(tip, shared_->options.snapshot_spacing);
  }
  if (outgrown.empty()) return;
  count(&StoreStats::superseded, remove(outgrown, Why::useless).files);
}

void StoreJanitor::count(std::uint64_t StoreStats::* figure, std::uint64_t more) {
  const std::scoped_lock hold(shared_->mutex);
  shared_->stats.*figure += more;
}

void StoreJanitor::after_write_error(const FsError& error) {
  StoreShared& shared = *shared_;
  shared.note_trouble(error);
  {
    const std::scoped_lock hold(shared.mutex);
    ++shared.stats.write_errors;
  }
  if (error.fault == FsFault::full) {
    shared.empty_quarantine();
    const std::uint64_t used = shared.folder_bytes();
    free_down_to(used - used / 100 * kYield, 0, &StoreStats::evicted_full_disk);
  }
  if (error.fault == FsFault::not_found) {
    // The locked file went with the folder, and somebody may have made both anew: Store::tend()
    // locks it again before anything more is written (S8).
    std::unique_ptr<FileLock> gone;
    {
      const std::scoped_lock hold(shared.mutex);
      gone = std::move(shared.lock);
    }
    scan();
  }
}

}  // namespace samovar
