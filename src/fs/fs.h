// Fs: the file system as the store needs it. PosixFs (posix_fs.h) is the real one; SimFs
// (tests/support/sim_fs.h) is its twin in memory, which loses what was not synced when it crashes
// and fails where it is told to. Nothing else in the program opens files of the store, except
// SQLite its own.
//
// Durability, as POSIX has it: a file's bytes are durable after sync(); its name is durable after
// sync_directory() of its folder; rename is atomic: after a crash the new name is there with the
// old file's content, or not at all. Thread-safe, except that one FileWriter belongs to one thread;
// a FileReader may be read by several.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace samovar {

enum class FsFault {
  not_found,
  exists,  // also: a lock that another process holds
  full,    // no space, or a quota
  read_only,
  denied,
  io,  // the device failed
  other,
};

struct FsError {
  FsFault fault = FsFault::other;
  std::string message;  // "cannot write /x/y: No space left on device"
};

template <class T>
using FsResult = std::expected<T, FsError>;
using FsStatus = std::expected<void, FsError>;

class FileReader {
 public:
  virtual ~FileReader() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;  // bytes, when it was opened

  // Reads into.size() bytes at `offset`, or as many as there are before the end of the file.
  virtual FsResult<std::size_t> read_at(std::uint64_t offset, MutableBytes into) = 0;
};

// A new file, written from its beginning. Closed when it goes out of scope. After any failure,
// above all of sync(), the file is worthless: remove it, never sync again.
class FileWriter {
 public:
  virtual ~FileWriter() = default;
  virtual FsStatus write(Bytes bytes) = 0;  // all of them, or an error
  virtual FsStatus sync() = 0;              // fdatasync
};

// Held until it goes out of scope; the system releases it when the process dies.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

struct DirEntry {
  std::string name;
  bool directory = false;
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;  // wall seconds
};

struct FsSpace {
  std::uint64_t free = 0;  // bytes that this user may still write
  std::uint64_t total = 0;
};

class Fs {
 public:
  virtual ~Fs() = default;
  virtual FsResult<std::unique_ptr<FileReader>> open(const std::string& path) = 0;

  // A new file, mode 0600; `exists` if there is one.
  virtual FsResult<std::unique_ptr<FileWriter>> create(const std::string& path) = 0;
  virtual FsStatus rename(const std::string& from, const std::string& to) = 0;
  virtual FsStatus remove(const std::string& path) = 0;  // a file, or an empty folder
  virtual FsStatus touch(const std::string& path) = 0;   // sets its modification time to now

  // With its parents, mode 0700; fine if it exists.
  virtual FsStatus make_directory(const std::string& path) = 0;
  virtual FsStatus sync_directory(const std::string& path) = 0;

  // Entries in no order; `details` false leaves bytes and modified 0, which is much faster.
  virtual FsResult<std::vector<DirEntry>> list(const std::string& path, bool details) = 0;
  virtual FsResult<DirEntry> stat(const std::string& path) = 0;
  virtual FsResult<FsSpace> space(const std::string& path) = 0;

  // Locks a file (made if need be), whose content then says who holds it: `owner`, one line.
  // `exists`: another process does; the message names it.
  virtual FsResult<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                   const std::string& owner) = 0;
};

// "folder/name".
[[nodiscard]] inline std::string join_path(const std::string& folder, const std::string& name) {
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

}  // namespace samovar
