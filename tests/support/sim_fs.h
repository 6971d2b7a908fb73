// SimFs: Fs in memory, whose machine can crash, whose disk can fill up, fail and rot. Thread-safe
// with one mutex; must outlive its handles. Time is the FakeClock's; no call waits.
//
// Durability is what POSIX promises and no more. sync() makes a file's bytes durable, not its name;
// sync_directory() makes the names in one folder durable, not the folder's own name. crash(seed)
// decides about everything else: each unsynced page of 4096 bytes is there, is zeros or is torn; a
// file ends anywhere between its durable and its last length; each unsynced creation, rename and
// removal happened or did not, whatever the order (of more than 1024 in one folder, the oldest
// did). A rename is atomic: the new name is there and the old one is not, or nothing happened;
// between two folders, both names may be left, never none. A name that survives shows whatever is
// durable of its file. Folders themselves are renamed only within their folder. A removed file
// needs no room, even while it is open.
//
// A failed sync() loses the unsynced bytes for good, though they can still be read: a second sync()
// succeeds and helps nothing, as on Linux.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "fs/fs.h"
#include "tests/support/sim_disk.h"
#include "tests/support/sim_faults.h"

namespace samovar {

struct SimFsOptions {
  std::uint64_t disk_bytes = std::uint64_t{1} << 40;
  double write_micros_per_byte = 0;
  double read_micros_per_byte = 0;
  Micros sync_micros = 0;  // of files and folders
};

class SimFs final : public Fs {
 public:
  using Op = FsOp;
  // Asked before every operation, outside the mutex: it may call the SimFs, crash() it, or wait.
  // `bytes` is what is to be read or written, otherwise 0. A rename is asked about with its source.
  using Hook =
      std::function<std::optional<FsFault>(Op op, const std::string& path, std::uint64_t bytes)>;

  explicit SimFs(const FakeClock& clock, SimFsOptions options = {});

  FsResult<std::unique_ptr<FileReader>> open(const std::string& path) override;
  FsResult<std::unique_ptr<FileWriter>> create(const std::string& path) override;
  FsStatus rename(const std::string& from, const std::string& to) override;
  FsStatus remove(const std::string& path) override;
  FsStatus touch(const std::string& path) override;
  FsStatus make_directory(const std::string& path) override;
  FsStatus sync_directory(const std::string& path) override;
  FsResult<std::vector<DirEntry>> list(const std::string& path, bool details) override;
  FsResult<DirEntry> stat(const std::string& path) override;
  FsResult<FsSpace> space(const std::string& path) override;
  FsResult<std::unique_ptr<FileLock>> lock(const std::string& path,
                                           const std::string& owner) override;

  // The machine: see above. Locks are released; handles are dead, every later call on them is io.
  void crash(std::uint64_t seed);
  void kill_process();  // the same to locks and handles, but the machine runs on: nothing is lost
  void sync_all();      // everything so far becomes durable

  // Faults. After `after` more calls of `op` the next `times` fail.
  void fail_next(Op op, FsFault fault, std::uint64_t after = 0, std::uint64_t times = 1);
  void shorten_write(std::uint64_t stored, std::uint64_t after = 0);  // stores that much, then full
  void shorten_read(std::uint64_t given, std::uint64_t after = 0);    // as if the file ended there
  void clear_faults();                                                // the hook, too
  void set_hook(Hook hook);
  void set_read_only(bool read_only);
  void set_disk_bytes(std::uint64_t bytes);

  // Behind everybody's back: no hook, no fault, no cost. What is changed is durable at once, except
  // that a crash may bring back what remove_tree took. The file must be there.
  void flip_bit(const std::string& path, std::uint64_t bit);
  void truncate(const std::string& path, std::uint64_t bytes);
  void write_raw(const std::string& path,
                 Bytes bytes);  // makes it, with its parents, or replaces it
  void remove_tree(const std::string& path);

  // What there is. Bytes are those that a program would read, durable or not.
  [[nodiscard]] std::optional<std::vector<std::uint8_t>> read_raw(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> paths() const;  // sorted; folders end with a slash
  [[nodiscard]] std::uint64_t used_bytes() const;        // whole pages

  // What it cost. Failed calls count as calls.
  [[nodiscard]] std::uint64_t calls(Op op) const;
  [[nodiscard]] std::uint64_t written_bytes() const;
  [[nodiscard]] std::uint64_t read_bytes() const;
  [[nodiscard]] Micros spent() const;

 private:
  class Reader;
  class Writer;
  class Lock;
  struct Handle {
    SimNodePtr node;
    std::string path;
    std::uint64_t life;
  };

  FsResult<std::size_t> read(const Handle& file, std::uint64_t offset, MutableBytes into);
  FsStatus write(const Handle& file, Bytes bytes);
  FsStatus sync(const Handle& file);
  void unlock(const Handle& file);

  struct Call {
    Op op;
    const std::string& path;
    std::string to = {};  // of a rename
    const Handle* handle = nullptr;
    std::uint64_t bytes = 0;
  };
  // Runs `body` under the mutex unless hook, fault or mode refuse; completes its error's message.
  template <class Body>
  auto perform(const Call& call, Body body) -> decltype(body());
  std::optional<FsFault> refusal(const Call& call, std::optional<FsFault> by_hook);

  const FakeClock& clock_;
  const SimFsOptions options_;
  mutable std::mutex mutex_;

  // All guarded by mutex_.
  SimDisk disk_;
  SimFaults faults_;
  Hook hook_;
  bool read_only_ = false;
  std::optional<std::uint64_t> part_;  // the running read or write ends after this much
  std::uint64_t life_ = 1;             // a crash begins the next
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0;
  double spent_ = 0;
};

}  // namespace samovar
