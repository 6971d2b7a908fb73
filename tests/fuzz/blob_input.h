// What the two targets for blob files share. An input is one byte of flags and a file; the flags
// say what of the file to put right before it is read, so that fuzzing reaches what lies behind a
// checksum or a hash that no mutation would ever hit. Pure functions; any thread.
#pragma once

#include "base/bytes.h"
#include "store/blob_format.h"

namespace samovar::fuzz {

enum RepairFlag : std::uint8_t {
  kRepairHeaderChecksum = 1,
  kRepairIdentity = 2,
  kRepairChunkChecksums = 4,
  kRepairLengths = 8,  // payload bytes and chunk count, from the file's length
};

// Reads the input every way there is and aborts if two of them disagree, or if a header that was
// accepted is not the one encoding of what it says.
void read_blob_input(BlobKind kind, Bytes input);

}  // namespace samovar::fuzz
