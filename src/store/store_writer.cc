#include "store/store_writer.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace samovar {
namespace {

// One sync of the folder makes this much durable at most: more would be lost together.
constexpr std::size_t kGroupFiles = 32;
constexpr std::uint64_t kGroupBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kGroupsInBudget = 8;  // at least: a group is given up entirely

BlobKey key_of(const WriteJob& job) { return {job.record.kind, job.record.identity}; }

BlobHeader header_of(const WriteJob& job, const StoreOptions& options) {
  const BlobRecord& record = job.record;
  BlobHeader header;
  header.kind = record.kind;
  header.model = record.model;
  header.identity = record.identity;
  header.parent = record.parent;
  header.begin = record.begin;
  header.end = record.end;
  header.tokens = job.tokens;
  header.payload_bytes = record.payload_bytes;
  header.anchor = record.anchor;
  header.canonical = record.canonical;
  header.session = record.session;
  header.cost = record.cost;
  header.created = record.created;
  header.label = record.label;
  header.layout = options.layout;
  return header;
}

}  // namespace

void StoreWriter::enqueue(WriteJob job) {
  {
    const std::scoped_lock hold(mutex_);
    queued_bytes_ += on_disk(job.record.file_bytes);
    if (job.owner != nullptr) queued_snapshot_bytes_ += job.record.file_bytes;
    jobs_.push_back(std::move(job));
    if (std::exchange(running_, true)) return;
  }
  shared_->executors.writer.post([self = shared_from_this()] { self->run(); });
}

std::uint64_t StoreWriter::queued_bytes() const {
  const std::scoped_lock hold(mutex_);
  return queued_bytes_;
}

std::uint64_t StoreWriter::queued_snapshot_bytes() const {
  const std::scoped_lock hold(mutex_);
  return queued_snapshot_bytes_;
}

bool StoreWriter::wait_idle(Micros deadline) {
  std::unique_lock hold(mutex_);
  return idle_.wait_for(hold, std::chrono::microseconds(deadline), [this] { return !running_; });
}

void StoreWriter::run() {
  for (Group group = take_group(); !group.empty(); group = take_group()) {
    std::uint64_t bytes = 0;
    std::uint64_t snapshots = 0;
    for (const WriteJob& job : group) {
      bytes += on_disk(job.record.file_bytes);
      if (job.owner != nullptr) snapshots += job.record.file_bytes;
    }
    write(std::move(group), bytes);
    const std::scoped_lock hold(mutex_);
    queued_bytes_ -= bytes;
    queued_snapshot_bytes_ -= snapshots;
  }
}

StoreWriter::Group StoreWriter::take_group() {
  Group group;
  const std::scoped_lock hold(mutex_);
  const std::uint64_t most = std::min(kGroupBytes, shared_->options.size_max / kGroupsInBudget);
  std::uint64_t bytes = 0;
  while (!jobs_.empty() && group.size() < kGroupFiles && (bytes < most || group.empty())) {
    bytes += jobs_.front().payload.size();
    group.push_back(std::move(jobs_.front()));
    jobs_.pop_front();
  }
  if (group.empty()) {
    running_ = false;
    idle_.notify_all();
  }
  return group;
}

// A chain is written from its root on: what hangs on something that is not there would be dead.
bool StoreWriter::attachable(const WriteJob& job, const Group& written) const {
  const BlobRecord& record = job.record;
  const bool segment = record.kind == BlobKind::segment;
  const Identity& needs = segment ? record.parent : record.identity;
  if (needs.is_root()) return segment;
  const BlobKey key{BlobKind::segment, needs};
  if (std::ranges::find(written, key, key_of) != written.end()) return true;
  const std::scoped_lock hold(shared_->mutex);
  return shared_->index.published(key);
}

void StoreWriter::write(Group group, std::uint64_t bytes) {
  const bool able = ready_to_write(bytes);
  Group done;
  FsStatus status;
  for (WriteJob& job : group) {
    if (able && status && attachable(job, done)) {
      status = write_temporary(job);
      if (status) {
        done.push_back(std::move(job));
        continue;
      }
    }
    shared_->give_up(key_of(job));
  }
  if (!done.empty()) {
    const FsStatus named = name_files(done);
    if (named) {
      publish(done);
    } else {
      for (const WriteJob& job : done) shared_->give_up(key_of(job));
      if (status) status = named;
    }
  }
  // Some files of the group may be there, and it is an error all the same.
  if (!status) return fell_over(status.error());
  if (!done.empty()) shared_->note_success();
}

// Not while writing rests after an error, not without a folder, not beyond the budget.
bool StoreWriter::ready_to_write(std::uint64_t bytes) {
  if (shared_->resting() || shared_->closing) return false;
  if (!prepared_) {
    if (const FsStatus status = shared_->folder.prepare(&shared_->options.model); !status) {
      janitor_->after_write_error(status.error());
      return false;
    }
    prepared_ = true;
  }
  if (janitor_->make_room(bytes)) return true;
  // Nothing may go: without a rest the same bytes would be handed over again at once.
  shared_->note_trouble({FsFault::full, "the store's budget is taken by what may not go"});
  return false;
}

// Whatever went wrong, the folders may be what is missing.
void StoreWriter::fell_over(const FsError& error) {
  prepared_ = false;
  janitor_->after_write_error(error);
}

FsStatus StoreWriter::write_temporary(const WriteJob& job) {
  const std::string path = temporary_path(job);
  const BlobToWrite blob{.header = header_of(job, shared_->options), .payload = job.payload};
  const auto pace = [this](Micros worked) { shared_->pacer.pace(worked); };
  const Micros began = shared_->clock.now();
  FsStatus status = write_blob(shared_->fs, path, blob, pace, shared_->clock);
  if (!status && status.error().fault == FsFault::exists) {  // of a process that was killed
    (void)shared_->fs.remove(path);
    status = write_blob(shared_->fs, path, blob, pace, shared_->clock);
  }
  shared_->options.meter->file_written(shared_->clock.now() - began);
  return status;
}

std::string StoreWriter::final_path(const WriteJob& job) const {
  return shared_->folder.blob_path(job.record.model, key_of(job));
}

std::string StoreWriter::temporary_path(const WriteJob& job) const {
  return final_path(job) + ".0.tmp";
}

// The names become durable together. If they do not, none of the files is counted on, and those
// that got their names are removed: a name whose folder could not be synced may vanish with the
// power.
FsStatus StoreWriter::name_files(const Group& group) {
  FsStatus status;
  std::vector<std::string> named;
  for (const WriteJob& job : group) {
    if (status) {
      status = shared_->fs.rename(temporary_path(job), final_path(job));
      if (status) named.push_back(final_path(job));
    }
    if (!status) (void)shared_->fs.remove(temporary_path(job));
  }
  if (status) {
    status = shared_->fs.sync_directory(shared_->folder.model_folder(shared_->options.model));
  }
  if (!status) {
    for (const std::string& path : named) (void)shared_->fs.remove(path);
  }
  return status;
}

void StoreWriter::publish(const Group& group) {
  for (const WriteJob& job : group) {
    const BlobKey key = key_of(job);
    const std::scoped_lock hold(shared_->mutex);
    shared_->index.publish(key);
    if (const BlobRecord* record = shared_->index.find(key)) {
      shared_->changes.put.push_back(*record);
    }
    const bool segment = key.kind == BlobKind::segment;
    StoreStats& stats = shared_->stats;
    ++(segment ? stats.segments_written : stats.snapshots_written);
    (segment ? stats.segment_bytes_written : stats.snapshot_bytes_written) += job.record.file_bytes;
  }
  for (const WriteJob& job : group) shared_->count_written(job.record.file_bytes);
  for (const WriteJob& job : group) {
    if (job.record.kind == BlobKind::snapshot) janitor_->remove_superseded(job.record.identity);
  }
  shared_->flush_catalog();
}

}  // namespace samovar
