// StoreStats: what the store holds and has done since it was opened. A value; every number a count
// or bytes.
#pragma once

#include <cstdint>
#include <string>

namespace samovar {

struct StoreStats {
  bool online = false;
  std::string trouble;  // why it does not write now; empty: nothing

  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;  // on disk, quarantine included
  std::uint64_t size_max = 0;

  std::uint64_t segments_written = 0;
  std::uint64_t snapshots_written = 0;
  std::uint64_t bytes_written = 0;           // of files that were published
  std::uint64_t segment_bytes_written = 0;   // of them
  std::uint64_t snapshot_bytes_written = 0;  // likewise
  std::uint64_t bytes_written_today = 0;
  std::uint64_t queued_bytes = 0;
  std::uint64_t shed = 0;  // files that were given up: behind, over budget, or orphaned by an error

  std::uint64_t restores = 0;
  std::uint64_t restore_failures = 0;
  std::uint64_t bytes_read = 0;

  // Files that left, each by one cause.
  std::uint64_t evicted = 0;            // the store's budget
  std::uint64_t evicted_full_disk = 0;  // the disk had no room
  std::uint64_t superseded = 0;         // newer snapshots of the session have outgrown them
  std::uint64_t unmatchable = 0;        // what they hang on is not there
  std::uint64_t quarantined = 0;        // damaged
  std::uint64_t gone = 0;               // removed by somebody else

  std::uint64_t unreadable = 0;
  std::uint64_t unknown_versions = 0;
  std::uint64_t write_errors = 0;
};

}  // namespace samovar
