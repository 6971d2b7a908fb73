// Sessions of a store to a bundle and back. For the command line; one thread, blocks on the disk.
// Errors name the file and say what to do; after one, nothing half-done is left.
#pragma once

#include <string>
#include <vector>

#include "store/bundle.h"
#include "store/store_admin.h"
#include "store/store_family.h"

namespace samovar {

struct ExportReport {
  std::uint64_t blobs = 0;
  std::uint64_t bytes = 0;     // of the bundle
  std::uint64_t left_out = 0;  // of the session, because their chain is broken
  Position tokens = 0;         // of the longest chain
};

// Writes what `target` names, with all it needs, to `file`, which must not exist: of a session all
// its chains, of an entry the chain to it and the snapshot that stands there.
[[nodiscard]] Result<ExportReport> export_bundle(StoreAdmin& admin, const StoreContents& contents,
                                                 const StoreTarget& target,
                                                 const std::string& file);

struct ImportedModel {
  Fingerprint model;
  std::string label;
  std::uint64_t blobs = 0;
  bool known = false;  // the store had blobs of it before
};

struct ImportReport {
  std::uint64_t taken = 0;  // blobs
  std::uint64_t bytes = 0;  // on disk, of them
  std::uint64_t there = 0;  // blobs that the store had already
  std::uint64_t sessions = 0;
  std::vector<ImportedModel> models;
};

// Verifies all of `file` while it writes temporaries, and publishes them (S1) only then. `admin`
// has access `create` or `change`.
[[nodiscard]] Result<ImportReport> import_bundle(StoreAdmin& admin, const StoreContents& contents,
                                                 const std::string& file);

}  // namespace samovar
