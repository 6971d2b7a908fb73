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
  std::uint64_t bytes_written = 0;  // of files that were published
  std::uint64_t bytes_written_today = 0;
  std::uint64_t queued_bytes = 0;
  std::uint64_t shed = 0;  // files that were given up: behind, over budget, or orphaned by an error

  std::uint64_t restores = 0;
  std::uint64_t restore_failures = 0;
  std::uint64_t bytes_read = 0;

  std::uint64_t evicted = 0;
  std::uint64_t superseded = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t unknown_versions = 0;
  std::uint64_t write_errors = 0;
};

}  // namespace samovar
