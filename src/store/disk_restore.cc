// The restore from disk: reads are posted a few parts ahead, into buffers that were taken before,
// so that a reader never waits for memory while it holds a thread.
#include "store/disk_restore.h"

#include <algorithm>
#include <utility>

namespace samovar {
namespace {

// Parts that are read or wait to be taken at once.
constexpr std::size_t kAhead = 4;

}  // namespace

struct DiskRestore::Slot {
  Buffer buffer;
  bool arrived = false;  // guarded by Work::mutex
};

// Shared with the jobs that read. Members below `mutex` are guarded by it.
struct DiskRestore::Work {
  std::shared_ptr<StoreShared> shared;
  Tokens tokens;
  std::vector<BlobRecord> parts;  // the chain's, in order
  std::vector<Slot> slots;        // one for each; a reader fills the one it was given
  std::atomic<bool> cancelled = false;

  std::mutex mutex;
  std::string error;
  RestoreFault fault = RestoreFault::damaged;  // with error
  RestoreFigures figures;
};

namespace {

RestoreFault fault_of(const BlobReadError& error) {
  switch (error.kind) {
    case BlobReadError::Kind::missing:
      return RestoreFault::missing;
    case BlobReadError::Kind::unreadable:
    case BlobReadError::Kind::unknown_version:
      return RestoreFault::unreadable;
    case BlobReadError::Kind::damaged:
      return RestoreFault::damaged;
  }
  return RestoreFault::damaged;
}

}  // namespace

DiskRestore::DiskRestore(std::shared_ptr<StoreShared> shared, StoredChain chain, TokenSpan tokens)
    : shared_(std::move(shared)), chain_(std::move(chain)), work_(std::make_shared<Work>()) {
  work_->shared = shared_;
  work_->tokens.assign(tokens.begin(), tokens.begin() + chain_.position);
  work_->parts = chain_.segments;
  if (chain_.snapshot) work_->parts.push_back(*chain_.snapshot);
  work_->slots.resize(work_->parts.size());
  const auto keys = chain_.keys();
  const std::scoped_lock hold(shared_->mutex);
  for (const BlobKey& key : keys) {
    if (!shared_->index.published(key)) lost_ = "a part was evicted meanwhile";
  }
  if (lost_.empty()) {
    shared_->index.hold(keys);
    held_ = true;
  }
}

DiskRestore::~DiskRestore() {
  work_->cancelled = true;
  let_go();
}

void DiskRestore::let_go() {
  if (!std::exchange(held_, false)) return;
  const std::scoped_lock hold(shared_->mutex);
  shared_->index.release(chain_.keys());
}

void DiskRestore::count_failure() {
  if (std::exchange(counted_, true)) return;
  const std::scoped_lock hold(shared_->mutex);
  ++shared_->stats.restore_failures;
}

StoreRestore::State DiskRestore::state() {
  if (!lost_.empty()) {
    count_failure();
    return State::failed;
  }
  if (taken_ == work_->parts.size()) return State::done;
  post_reads();
  const std::scoped_lock hold(work_->mutex);
  if (!work_->error.empty()) {
    lost_ = work_->error;
    fault_ = work_->fault;
  }
  if (!lost_.empty()) {
    count_failure();
    return State::failed;
  }
  return work_->slots[taken_].arrived ? State::ready : State::waiting;
}

// Buffers are taken here, on the engine thread, part by part in order: what waits for memory waits
// for parts before it to be consumed, never the other way round. Only the snapshot is read early.
void DiskRestore::post_reads() {
  const std::size_t last = work_->parts.size() - 1;
  while (posted_ <= last && posted_ - taken_ < kAhead) {
    const bool early = posted_ == last && snapshot_posted_;
    if (!early && !post(posted_)) {
      const bool hopeless = posted_ == taken_ && shared_->read_pool->in_use() == 0;
      if (hopeless) {
        lost_ = "a part is larger than the buffers for reading";
        fault_ = RestoreFault::too_large;
      }
      return;
    }
    if (++posted_ == 1 && chain_.snapshot && snapshot_may_be_early()) snapshot_posted_ = post(last);
  }
}

// The snapshot is taken last and is often the largest part: read beside the segments, it does not
// make everybody wait at the end. All early ones together leave half of the memory to segments,
// which are consumed in order, so that one always gets on.
bool DiskRestore::snapshot_may_be_early() const {
  const std::size_t budget = shared_->read_pool->budget();
  const auto fits = [budget](const BlobRecord& part) { return part.payload_bytes <= budget / 4; };
  return std::ranges::all_of(chain_.segments, fits) &&
         shared_->read_pool->in_use() + chain_.snapshot->payload_bytes <= budget / 2;
}

// False: no memory now.
bool DiskRestore::post(std::size_t part) {
  auto buffer = shared_->read_pool->take(work_->parts[part].payload_bytes);
  if (!buffer) return false;
  work_->slots[part].buffer = std::move(*buffer);
  shared_->executors.readers.post([work = work_, part] { read(*work, part); });
  return true;
}

// On a reader.
void DiskRestore::read(Work& work, std::size_t part) {
  StoreShared& shared = *work.shared;
  const BlobRecord& record = work.parts[part];
  Slot& slot = work.slots[part];
  if (work.cancelled) return;
  const auto size = static_cast<std::size_t>(record.end - record.begin);
  const BlobExpectation expected{
      .kind = record.kind,
      .model = record.model,
      .identity = record.identity,
      .parent = record.parent,
      .begin = record.begin,
      .end = record.end,
      .tokens = TokenSpan(work.tokens).subspan(static_cast<std::size_t>(record.begin), size),
      .layout = shared.options.layout};
  const BlobKey key{record.kind, record.identity};
  BlobTimes times;
  const auto blob = read_blob(shared.fs, shared.folder.blob_path(record.model, key), expected,
                              slot.buffer, shared.clock, times);
  if (!blob && work.cancelled) return;  // its files may have been evicted meanwhile
  if (!blob) {
    shared.deal_with(record.model, key, blob.error());
  } else {
    shared.was_readable(key);
  }
  {
    const std::scoped_lock hold(work.mutex);
    if (blob) {
      work.figures.read += times.read;
      work.figures.verify += times.verify;
      slot.arrived = true;
    } else if (work.error.empty()) {
      work.error = blob.error().message;
      work.fault = fault_of(blob.error());
    }
  }
  shared.call_wake();
}

RestoredPart DiskRestore::take() {
  RestoredPart part;
  const BlobRecord& record = work_->parts[taken_];
  Slot& slot = work_->slots[taken_++];
  part.snapshot = record.kind == BlobKind::snapshot;
  part.begin = record.begin;
  part.end = record.end;
  part.anchor = record.anchor;
  part.canonical = record.canonical;
  const std::scoped_lock hold(work_->mutex);
  part.bytes = std::move(slot.buffer);
  work_->figures.bytes += record.payload_bytes;
  return part;
}

void DiskRestore::succeeded() {
  const std::int64_t now = shared_->clock.wall_seconds();
  const auto keys = chain_.keys();
  {
    const std::scoped_lock hold(shared_->mutex);
    shared_->index.used(keys, now);
    for (const BlobKey& key : keys) shared_->changes.used.emplace_back(key, now);
    ++shared_->stats.restores;
    shared_->stats.bytes_read += chain_.bytes;
  }
  let_go();
  shared_->flush_catalog();
  // The file's time is what survives the catalog.
  const BlobKey last = keys.back();
  shared_->executors.writer.post([shared = shared_, last] {
    (void)shared->fs.touch(shared->folder.blob_path(shared->options.model, last));
  });
}

void DiskRestore::refused() {
  const BlobRecord& record = work_->parts[taken_ - 1];
  const BlobKey key{record.kind, record.identity};
  lost_ = "the engine refused a part";
  count_failure();
  let_go();
  shared_->forget({key});
  {
    const std::scoped_lock hold(shared_->mutex);
    shared_->refused_bytes += on_disk(record.file_bytes);
  }
  shared_->executors.writer.post(
      [shared = shared_, record] { shared->put_away(record, "was refused by the engine"); });
}

RestoreFigures DiskRestore::figures() const {
  const std::scoped_lock hold(work_->mutex);
  return work_->figures;
}

}  // namespace samovar
