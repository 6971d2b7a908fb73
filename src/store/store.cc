#include "store/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "store/blob_layout.h"
#include "store/disk_restore.h"
#include "store/store_janitor.h"
#include "store/store_shared.h"
#include "store/store_writer.h"

namespace samovar {
namespace {

// From this part of the day's budget on, in percent, only what leaves memory is written.
constexpr std::uint64_t kBudgetSparing = 80;

std::string owner_line() { return fmt::format("process {}", getpid()); }

}  // namespace

struct Store::Parts {
  Parts(Fs& fs, const Clock& clock, StoreOptions options, StoreExecutors executors)
      : shared(std::make_shared<StoreShared>(fs, clock, std::move(options), executors)),
        janitor(std::make_shared<StoreJanitor>(shared)),
        writer(std::make_shared<StoreWriter>(shared, janitor)) {}

  // Makes the folder, locks it, and starts to load the index.
  FsStatus come_to_life() {
    FsStatus status = shared->folder.prepare(nullptr);
    // `exists` means another process; this is something in the folder's place.
    if (!status && status.error().fault == FsFault::exists) status.error().fault = FsFault::other;
    if (status) {
      auto lock = shared->fs.lock(shared->folder.lock_path(), owner_line());
      if (!lock) {
        status = std::unexpected(lock.error());
      } else {
        const std::scoped_lock hold(shared->mutex);
        shared->lock = std::move(*lock);
      }
    }
    {
      const std::scoped_lock hold(shared->mutex);
      shared->scan_posted = false;
    }
    if (!status) return status;
    shared->note_success();
    StoreJanitor::start(janitor);
    return {};
  }

  std::shared_ptr<StoreShared> shared;
  std::shared_ptr<StoreJanitor> janitor;
  std::shared_ptr<StoreWriter> writer;
};

Store::Store(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}

namespace {

// Faults in what the first restore and the first writes need, before anybody waits for them.
void warm_up(StoreShared& shared) {
  constexpr std::size_t kParts = 4;
  const std::size_t segment = shared.options.segment_bytes;
  const std::size_t snapshot = shared.options.snapshot_bytes;
  shared.read_pool->warm_up(segment, kParts * segment);
  shared.read_pool->warm_up(snapshot, kParts * segment + snapshot);
  shared.write_pool->warm_up(segment, kParts * segment);
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(Fs& fs, const Clock& clock, StoreOptions options,
                                           StoreExecutors executors) {
  auto parts = std::make_shared<Parts>(fs, clock, std::move(options), executors);
  const FsStatus alive = parts->come_to_life();
  if (!alive && alive.error().fault == FsFault::exists) {
    return fail(ErrorKind::unavailable, alive.error().message, "--store-dir",
                "Give each server a folder of its own, or use --no-store");
  }
  if (!alive) parts->shared->note_trouble(alive.error());
  executors.readers.post([shared = parts->shared] { warm_up(*shared); });
  return std::unique_ptr<Store>(new Store(std::move(parts)));
}

Store::~Store() { close(); }

void Store::close() { parts_->shared->closing = true; }

bool Store::ready() const { return parts_->shared->ready; }

bool Store::wait_ready(Micros deadline) const {
  StoreShared& shared = *parts_->shared;
  std::unique_lock hold(shared.mutex);
  return shared.became_ready.wait_for(hold, std::chrono::microseconds(deadline),
                                      [&shared] { return shared.ready.load(); });
}

void Store::set_wake(std::function<void()> wake) {
  const std::scoped_lock hold(parts_->shared->wake_mutex);
  parts_->shared->wake = std::move(wake);
}

std::optional<StoredChain> Store::longest(TokenSpan tokens, Position limit) const {
  const StoreShared& shared = *parts_->shared;
  if (!shared.ready) return std::nullopt;
  const std::scoped_lock hold(shared.mutex);
  const std::size_t part_max = shared.read_pool->budget();
  while (true) {
    auto chain =
        shared.index.longest(shared.options.model, tokens, limit, shared.options.needs_snapshot);
    if (!chain) return std::nullopt;
    // A part that no buffer can take (written with larger ones) ends what can be brought back.
    const auto large = std::ranges::find_if(
        chain->segments, [&](const BlobRecord& part) { return part.payload_bytes > part_max; });
    if (large != chain->segments.end()) {
      limit = large->begin;
    } else if (chain->snapshot && chain->snapshot->payload_bytes > part_max) {
      limit = chain->position - 1;
    } else {
      return chain;
    }
  }
}

Position Store::evicted(TokenSpan tokens, Position limit) const {
  const StoreShared& shared = *parts_->shared;
  const std::scoped_lock hold(shared.mutex);
  return shared.index.evicted(shared.options.model, tokens, limit, shared.options.needs_snapshot);
}

std::unique_ptr<StoreRestore> Store::restore(StoredChain chain, TokenSpan tokens) {
  return std::make_unique<DiskRestore>(parts_->shared, std::move(chain), tokens);
}

bool Store::accepts(bool urgent) const {
  StoreShared& shared = *parts_->shared;
  {
    const std::scoped_lock hold(shared.mutex);
    const bool alive = shared.ready && shared.lock != nullptr;
    if (!alive || shared.clock.now() < shared.retry_at) return false;
  }
  const std::uint64_t budget = shared.options.writes_per_day;
  const std::uint64_t allowed = urgent ? budget : budget / 100 * kBudgetSparing;
  return budget == 0 || shared.written_today() + parts_->writer->queued_bytes() < allowed;
}

StoredCover Store::cover(TokenSpan tokens) const {
  const std::scoped_lock hold(parts_->shared->mutex);
  return parts_->shared->index.cover(parts_->shared->options.model, tokens);
}

std::optional<Identity> Store::node_at(TokenSpan tokens, Position position) const {
  const std::scoped_lock hold(parts_->shared->mutex);
  return parts_->shared->index.node_at(parts_->shared->options.model, tokens, position);
}

bool Store::has_snapshot(const Identity& node) const {
  const std::scoped_lock hold(parts_->shared->mutex);
  return parts_->shared->index.find({BlobKind::snapshot, node}) != nullptr;
}

std::optional<Buffer> Store::buffer(std::size_t bytes) {
  return parts_->shared->write_pool->take(bytes);
}

namespace {

BlobRecord make_record(const StoreShared& shared, BlobKind kind, const StoreOrigin& origin) {
  BlobRecord record;
  record.kind = kind;
  record.model = shared.options.model;
  record.session = origin.session;
  record.cost = origin.cost;
  record.canonical = origin.canonical;
  record.created = shared.clock.wall_seconds();
  record.last_used = record.created;
  record.label = shared.options.label;
  return record;
}

// What the file will take, header included.
std::uint64_t file_bytes(const BlobRecord& record) {
  const auto tokens = static_cast<std::uint64_t>(record.end - record.begin);
  return blob_layout::header_bytes(
             tokens, blob_layout::chunk_count(record.payload_bytes, kBlobChunkBytes)) +
         record.payload_bytes;
}

}  // namespace

std::optional<Identity> Store::write_segment(const Identity& parent, Position begin,
                                             TokenSpan tokens, Buffer payload,
                                             const StoreOrigin& origin) {
  if (!accepts(origin.urgent)) return std::nullopt;
  StoreShared& shared = *parts_->shared;
  WriteJob job;
  job.record = make_record(shared, BlobKind::segment, origin);
  job.record.parent = parent;
  job.record.identity = identity_of(shared.options.model, parent, tokens);
  job.record.begin = begin;
  job.record.end = begin + static_cast<Position>(tokens.size());
  job.record.payload_bytes = payload.size();
  job.record.file_bytes = file_bytes(job.record);
  job.tokens.assign(tokens.begin(), tokens.end());
  job.buffer = std::move(payload);
  job.payload = job.buffer.bytes();
  const Identity identity = job.record.identity;
  {
    const std::scoped_lock hold(shared.mutex);
    if (!shared.index.add(job.record, true)) return identity;  // somebody else's, the same bytes
  }
  parts_->writer->enqueue(std::move(job));
  return identity;
}

bool Store::write_snapshot(const Identity& node, TokenSpan tokens,
                           std::shared_ptr<const void> owner, Bytes bytes, AnchorKind anchor,
                           const StoreOrigin& origin) {
  if (!accepts(origin.urgent)) return false;
  StoreShared& shared = *parts_->shared;
  if (bytes.size() > shared.read_pool->budget()) return false;  // it could never be read (S5)
  // Queued snapshots are memory beyond the anchors' budget: one, or as much as for segments.
  const std::uint64_t queued = parts_->writer->queued_snapshot_bytes();
  if (queued > 0 && queued + bytes.size() > shared.write_pool->budget()) return false;
  WriteJob job;
  job.record = make_record(shared, BlobKind::snapshot, origin);
  {
    const std::scoped_lock hold(shared.mutex);
    const BlobRecord* segment = shared.index.find({BlobKind::segment, node});
    if (segment == nullptr) return false;
    job.record.identity = node;
    job.record.parent = segment->parent;
    job.record.begin = segment->begin;
    job.record.end = segment->end;
    job.record.anchor = anchor;
    job.record.cost = 0;  // the segments' costs say what a checkpoint saves
    job.record.payload_bytes = bytes.size();
    job.record.file_bytes = file_bytes(job.record);
    if (!shared.index.add(job.record, true)) return true;
  }
  const auto length = static_cast<std::size_t>(job.record.end - job.record.begin);
  const TokenSpan own = tokens.subspan(static_cast<std::size_t>(job.record.begin), length);
  job.tokens.assign(own.begin(), own.end());
  job.owner = std::move(owner);
  job.payload = bytes;
  parts_->writer->enqueue(std::move(job));
  return true;
}

void Store::set_busy(bool busy) { parts_->shared->pacer.set_busy(busy); }

std::uint64_t Store::losses() const { return parts_->shared->losses; }

void Store::tend() {
  StoreShared& shared = *parts_->shared;
  {
    const std::scoped_lock hold(shared.mutex);
    const Micros now = shared.clock.now();
    const bool scan = shared.scan_again && now >= shared.scan_at;
    const bool dead = shared.lock == nullptr;
    if (shared.scan_posted || now < shared.retry_at || !(dead || scan)) return;
    shared.scan_posted = true;
    if (!dead) {
      shared.executors.writer.post([janitor = parts_->janitor] { janitor->scan(); });
      return;
    }
  }
  // The folder could not be used when the server started, or went away.
  shared.executors.writer.post([parts = parts_] {
    if (const FsStatus alive = parts->come_to_life(); !alive) {
      parts->shared->note_trouble(alive.error());
    }
  });
}

bool Store::drain(Micros deadline) {
  StoreShared& shared = *parts_->shared;
  shared.pacer.hurry();
  const bool written = parts_->writer->wait_idle(deadline);
  shared.flush_catalog();
  return written;
}

StoreStats Store::stats() const {
  const StoreShared& shared = *parts_->shared;
  const std::uint64_t queued = parts_->writer->queued_bytes();
  const std::uint64_t bytes = shared.folder_bytes();
  const std::scoped_lock hold(shared.mutex);
  StoreStats stats = shared.stats;
  stats.entries = shared.index.entries();
  stats.bytes = bytes;
  stats.queued_bytes = queued;
  return stats;
}

StorePicture Store::picture() const {
  const StoreShared& shared = *parts_->shared;
  std::vector<CopiedPlace> copies;
  {
    const std::scoped_lock hold(shared.mutex);
    copies = shared.index.copy();
  }
  return make_picture(copies, shared.options.model, shared.options.needs_snapshot,
                      shared.clock.wall_seconds());
}

const StoreOptions& Store::options() const { return parts_->shared->options; }

}  // namespace samovar
