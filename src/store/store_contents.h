// StoreContents: what a look at a store's folder found, for the command line: a value, and pure
// functions that count it. Any thread; nothing fails.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "fs/fs.h"
#include "store/blob_record.h"
#include "store/identity.h"

namespace samovar {

struct FileCount {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  // on disk
  void add(std::uint64_t file_bytes) {
    ++files;
    bytes += on_disk(file_bytes);
  }
};

struct StoreContents {
  std::vector<BlobRecord> records;  // in no order
  std::vector<Identity> pins;
  std::vector<std::string> damaged;      // paths whose header does not hold
  std::vector<std::string> temporaries;  // paths
  FileCount temporary;
  FileCount quarantined;
  FileCount unknown_versions;
  std::uint64_t foreign = 0;        // files that are none of ours
  std::uint64_t catalog_bytes = 0;  // 0: there is none
  FsSpace space;
  bool from_catalog = false;  // else from the files' headers: uses are unknown
  std::string owner;          // who holds the lock, if that was asked and somebody else does
};

// What one session wrote for one model.
struct SessionSummary {
  SessionId session;  // zeros: unknown
  Fingerprint model;
  std::string label;
  Position tokens = 0;  // its longest checkpoint
  std::uint64_t segments = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t bytes = 0;  // on disk
  std::int64_t last_used = 0;
  bool pinned = false;  // something of it is
};
[[nodiscard]] std::vector<SessionSummary> summarise_sessions(
    const StoreContents& contents);  // the one used last comes first

struct ModelSummary {
  Fingerprint model;
  std::string label;
  std::uint64_t sessions = 0;
  std::uint64_t segments = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t bytes = 0;  // on disk
  std::int64_t last_used = 0;
};
[[nodiscard]] std::vector<ModelSummary> summarise_models(
    const StoreContents& contents);  // the largest comes first

// What nothing can match (S5): blobs whose chain is broken.
[[nodiscard]] std::vector<BlobKey> unreachable_blobs(const StoreContents& contents);
// What must go so that the rest, with files of unknown versions, has at most `bytes` (S6).
[[nodiscard]] std::vector<BlobKey> blobs_to_evict(const StoreContents& contents,
                                                  std::uint64_t bytes, std::int64_t now);
// Bytes that count against a budget once quarantine and temporaries are gone.
[[nodiscard]] std::uint64_t bytes_that_count(const StoreContents& contents);

// The nodes that pins keep: those pinned, and all before them.
using NodeSet = std::unordered_set<Identity, IdentityHash>;
[[nodiscard]] NodeSet pinned_nodes(const StoreContents& contents);

}  // namespace samovar
