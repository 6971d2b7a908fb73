// StoreWriter: the queue of frozen bytes, and the job that makes files of them (S1). Files are
// written in groups, in the order they were queued: temporaries, their syncs, the renames, one sync
// of the folder, then the index; so a chain never has a hole that was not there when it began. A
// file whose parent did not make it is given up. Jobs run on the writer executor; enqueue() is
// called by the engine thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "store/store_janitor.h"
#include "store/store_shared.h"

namespace samovar {

struct WriteJob {
  BlobRecord record;                  // pending in the index
  Tokens tokens;                      // [begin, end)
  Buffer buffer;                      // a segment's bytes, or
  std::shared_ptr<const void> owner;  // what keeps a snapshot's alive
  Bytes payload;
  bool urgent = false;
};

class StoreWriter : public std::enable_shared_from_this<StoreWriter> {
 public:
  StoreWriter(std::shared_ptr<StoreShared> shared, std::shared_ptr<StoreJanitor> janitor)
      : shared_(std::move(shared)), janitor_(std::move(janitor)) {}

  void enqueue(WriteJob job);
  [[nodiscard]] std::uint64_t queued_bytes() const;
  [[nodiscard]] std::uint64_t queued_snapshot_bytes() const;

  // Waits until everything queued was written or given up. True if it was, within `deadline`.
  bool wait_idle(Micros deadline);

 private:
  using Group = std::vector<WriteJob>;

  void run();
  Group take_group();
  void write(Group group, std::uint64_t bytes);
  bool ready_to_write(std::uint64_t bytes);
  void fell_over(const FsError& error);
  [[nodiscard]] bool attachable(const WriteJob& job, const Group& written) const;
  FsStatus write_temporary(const WriteJob& job);
  [[nodiscard]] std::string final_path(const WriteJob& job) const;
  [[nodiscard]] std::string temporary_path(const WriteJob& job) const;
  FsStatus name_files(const Group& group);
  void publish(const Group& group);

  const std::shared_ptr<StoreShared> shared_;
  const std::shared_ptr<StoreJanitor> janitor_;
  bool prepared_ = false;  // writer executor only: the folders are there

  mutable std::mutex mutex_;
  std::condition_variable idle_;
  std::deque<WriteJob> jobs_;                // guarded by mutex_
  std::uint64_t queued_bytes_ = 0;           // guarded by mutex_; of the group being written too
  std::uint64_t queued_snapshot_bytes_ = 0;  // guarded by mutex_; likewise
  bool running_ = false;                     // guarded by mutex_
};

}  // namespace samovar
