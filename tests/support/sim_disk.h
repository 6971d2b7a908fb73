// SimDisk: the tree of files under a SimFs, once as programs see it and once as the medium holds
// it, and what a crash makes of the difference. Never fails by itself except as a sound file system
// would; knows no handles, faults or time. One thread at a time.
//
// Errors carry the reason only ("No such file or directory"); SimFs says what could not be done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fs/fs.h"

namespace samovar {

struct SimNode;
using SimNodePtr = std::shared_ptr<SimNode>;
using SimEntries = std::map<std::string, SimNodePtr>;

// Does a change of names reach the medium? The halves of a rename within one folder share one fate.
struct SimFate {
  std::optional<bool> survives;      // decided by a sync or a crash
  std::shared_ptr<SimFate> only_if;  // a name that moves to another folder leaves if it arrived
};

struct SimNameChange {
  std::string name;
  SimNodePtr node;  // null: the name goes
  std::shared_ptr<SimFate> fate;
};

struct SimNode {
  bool directory = false;
  std::int64_t modified = 0;
  std::int64_t durable_modified = 0;
  int links = 0;  // live names

  // A file only grows at its end, so what is durable is its beginning.
  std::vector<std::uint8_t> bytes;
  std::size_t durable = 0;
  bool sync_failed =
      false;  // the system has thrown the unsynced bytes away and will not say so again
  std::uint64_t locked = 0;  // SimFs: by which life of the process

  SimEntries live;                      // a folder's names
  SimEntries durable_entries;           // those on the medium
  std::vector<SimNameChange> unsynced;  // what happened since, in order
};

class SimDisk {
 public:
  static constexpr std::size_t kPage = 4096;

  explicit SimDisk(std::uint64_t capacity);

  [[nodiscard]] SimNodePtr find(const std::string& path) const;  // null: not there
  FsResult<SimNodePtr> create(const std::string& path, bool directory, std::int64_t now);
  FsStatus make_directory(const std::string& path, std::int64_t now);  // with its parents
  FsStatus remove(const std::string& path);
  void remove_tree(const std::string& path);
  FsStatus rename(const std::string& from, const std::string& to);

  // Appends what there is room for; how much that was.
  std::size_t append(SimNode& file, Bytes bytes);
  // The same, in the place of what is there.
  std::size_t replace(SimNode& file, Bytes bytes);
  void truncate(SimNode& file, std::size_t size);  // durably
  // Makes the file, with its parents, or replaces it, and all of that durable. Needs no room.
  void write_raw(const std::string& path, Bytes bytes, std::int64_t now);

  static void sync_file(SimNode& file);
  static void sync_names(SimNode& folder);
  void sync_all();

  void crash(std::uint64_t seed);

  [[nodiscard]] std::uint64_t used() const { return used_; }  // whole pages of files with a name
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }

  // All live paths in order, folders with a slash at their end.
  [[nodiscard]] std::vector<std::string> paths() const;

 private:
  struct Place {
    SimNodePtr folder;  // null: not there
    std::string name;
  };
  [[nodiscard]] Place place_of(const std::string& path) const;
  void link(SimNode& folder, const std::string& name, SimNodePtr node,
            std::shared_ptr<SimFate> fate);
  void unlink(SimNode& folder, const std::string& name, std::shared_ptr<SimFate> fate);
  void resize(SimNode& file, std::size_t size);
  void settle_names(SimNode& folder, std::mt19937_64& random, std::set<SimNode*>& seen);

  SimNodePtr root_;
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
};

}  // namespace samovar
