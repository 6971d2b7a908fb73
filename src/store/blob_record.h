// BlobRecord: one file of the store as the index and the catalog know it, its name, and its size on
// disk. Values; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "core/anchor_kind.h"
#include "core/tokens.h"
#include "store/blob_format.h"
#include "store/identity.h"

namespace samovar {

// One file: what its header says and how it has been used. What the catalog keeps.
struct BlobRecord {
  BlobKind kind = BlobKind::segment;
  Fingerprint model;
  Identity identity;
  Identity parent;
  Position begin = 0;
  Position end = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t file_bytes = 0;  // header included
  AnchorKind anchor = AnchorKind::message;
  bool canonical = false;
  SessionId session;
  Micros cost = 0;             // engine time to compute [begin, end) again
  std::int64_t created = 0;    // wall seconds
  std::int64_t last_used = 0;  // wall seconds
  std::uint32_t uses = 0;      // restores
  std::string label;

  bool operator==(const BlobRecord&) const = default;
};

struct BlobKey {
  BlobKind kind = BlobKind::segment;
  Identity identity;
  bool operator==(const BlobKey&) const = default;
  auto operator<=>(const BlobKey&) const = default;
};

// Can such a blob exist? Not: one of an empty range, or one whose parent is not where it begins.
[[nodiscard]] inline bool possible(const BlobRecord& record) {
  return record.begin >= 0 && record.end > record.begin && !record.identity.is_root() &&
         record.parent.is_root() == (record.begin == 0) && record.parent != record.identity;
}

// A size on disk: rounded up to blocks of 4096 bytes.
[[nodiscard]] constexpr std::uint64_t on_disk(std::uint64_t bytes) {
  return (bytes + 4095) / 4096 * 4096;
}

}  // namespace samovar
