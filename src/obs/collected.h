// What is asked for when somebody looks at the metrics, instead of being reported all the time: how
// things stand now, and what the parts count themselves. A value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "obs/meter.h"

namespace samovar {

using EvictionCounts = std::array<std::uint64_t, kEvictionCauses.size()>;  // by EvictionCause

// Why a file left the store's folder, or the index of what can be restored.
enum class RemovalCause {
  store_size,   // the store's budget
  disk_full,    // the disk has no room
  superseded,   // newer snapshots of its session have outgrown it
  unmatchable,  // what it hangs on is not there
  damaged,      // put in quarantine
  gone,         // somebody else removed it, `samovar cache purge` for one
};
inline constexpr std::array kRemovalCauses = {"store_size",  "disk_full", "superseded",
                                              "unmatchable", "damaged",   "gone"};

// Kinds of checkpoint files.
enum class FileKind { segment, snapshot };
inline constexpr std::array kFileKinds = {"segment", "snapshot"};

struct CollectedStore {
  bool online = false;
  std::uint64_t bytes = 0;
  std::uint64_t bytes_max = 0;
  std::uint64_t files = 0;
  std::uint64_t queued_bytes = 0;
  // Since the start.
  std::array<std::uint64_t, kFileKinds.size()> files_written = {};  // by FileKind
  std::array<std::uint64_t, kFileKinds.size()> bytes_written = {};
  std::uint64_t files_shed = 0;
  std::uint64_t write_errors = 0;
  std::array<std::uint64_t, kRemovalCauses.size()> files_removed = {};  // by RemovalCause
};

struct Collected {
  std::uint64_t waiting = 0;  // turns
  std::uint64_t restoring = 0;
  std::uint64_t prefilling = 0;
  std::uint64_t decoding = 0;
  std::uint64_t cells_used = 0;
  std::uint64_t cells = 0;
  std::uint64_t sequences_used = 0;
  std::uint64_t sequences = 0;
  std::uint64_t anchors = 0;
  std::uint64_t anchor_bytes = 0;
  std::uint64_t anchor_bytes_max = 0;
  std::uint64_t resident_bytes = 0;  // of the process
  // Since the start.
  EvictionCounts sequences_evicted = {};
  std::uint64_t anchors_dropped = 0;
  std::uint64_t rewarmed_tokens = 0;
  Micros rewarm_time = 0;
  std::optional<CollectedStore> store = {};  // nullopt: there is none
};

}  // namespace samovar
