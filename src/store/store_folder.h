// StoreFolder: the store's folder on disk: which file is where, and what of it is in order.
//
//   <root>/lock                       held by the process that owns the store (S8)
//   <root>/catalog.db (-wal, -shm)    disposable
//   <root>/pins                       pinned prefixes, one identity a line
//   <root>/<model>/<identity>.seg     <model>: the first 16 hex digits of the fingerprint
//   <root>/<model>/<identity>.snap
//   <root>/<model>/<identity>.seg.<n>.tmp    being written; worthless after a crash
//   <root>/quarantine/<name>          found damaged; counts against the budget, removed first
//
// Functions over Fs; they block on the disk and belong on IO threads or in the command line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fs/fs.h"
#include "store/blob_file.h"
#include "store/store_index.h"

namespace samovar {

class StoreFolder {
 public:
  StoreFolder(Fs& fs, std::string root) : fs_(fs), root_(std::move(root)) {}

  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::string lock_path() const { return join_path(root_, "lock"); }
  [[nodiscard]] std::string catalog_path() const { return join_path(root_, "catalog.db"); }
  [[nodiscard]] std::string quarantine_folder() const { return join_path(root_, "quarantine"); }
  [[nodiscard]] std::string model_folder(const Fingerprint& model) const;
  [[nodiscard]] std::string blob_path(const Fingerprint& model, const BlobKey& key) const;

  // The folders that must exist, made if need be. `model` null: only the root's.
  FsStatus prepare(const Fingerprint* model);

  // Moves a damaged file away so that nothing finds it again (S4). Removes it if it cannot be
  // moved.
  FsStatus quarantine(const Fingerprint& model, const BlobKey& key);
  FsStatus quarantine_path(const std::string& path);  // the same, of a file known by its path only

  // Bytes of all files in quarantine; and emptying it. Returns bytes freed.
  FsResult<std::uint64_t> quarantined_bytes();
  FsResult<std::uint64_t> empty_quarantine();

  // Bytes of the catalog, the lock and the pins.
  std::uint64_t own_bytes();

  // What a scan of the folder finds, next to what is known.
  struct Scan {
    std::vector<BlobRecord> found;         // files that `known` does not have, by their headers
    std::vector<BlobKey> missing;          // known ones without a file
    std::vector<std::string> damaged;      // paths whose header does not hold: to quarantine
    std::vector<std::string> temporaries;  // paths; nobody but the lock's owner may remove them
    std::uint64_t unknown_versions = 0;    // files of a newer Samovar: left alone
    std::uint64_t unknown_version_bytes = 0;
    std::uint64_t unreadable = 0;  // files that may be fine, but could not be looked at now
    std::uint64_t unreadable_bytes = 0;
    bool stopped = false;       // early: what was not found may be there
    std::uint64_t foreign = 0;  // files that are no blobs by name: left alone
  };
  // `known(key)`: is it in the index (with that model)? Reads headers of unknown files only. Stops
  // early, with what it has, when `stop()` says so.
  FsResult<Scan> scan(const std::vector<BlobRecord>& known, const std::function<bool()>& stop);

  FsResult<std::vector<Identity>> read_pins();             // empty if there is no such file
  FsStatus write_pins(const std::vector<Identity>& pins);  // atomically

 private:
  Fs& fs_;
  std::string root_;
};

// Is this the name of a model's folder?
[[nodiscard]] bool is_model_folder(std::string_view name);

// A record as a decoded header gives it; last_used = `modified`.
[[nodiscard]] BlobRecord record_of(const DecodedBlob& blob, std::int64_t modified);

}  // namespace samovar
