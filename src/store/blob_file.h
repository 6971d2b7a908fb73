// Blob files: publishing them so that they are complete under their final name or not there at all
// (S1), and reading them so that nothing unverified comes out (S4). On IO threads; every function
// blocks on the disk.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/buffer_pool.h"
#include "fs/fs.h"
#include "store/blob_format.h"

namespace samovar {

// Called after every chunk's worth of work with the time it took, so that a writer can pace itself.
// May be empty.
using Pace = std::function<void(Micros worked)>;

struct BlobToWrite {
  BlobHeader header;
  Bytes payload;
};

// Writes the file `temporary` and syncs it. The caller renames it to its final name and syncs the
// folder, for several files at once. On failure nothing is left behind (if even removing works);
// but a file that was there before is `exists` and stays. The payload is read twice: once for the
// checksums, which stand before it in the file, and once to be written.
[[nodiscard]] FsStatus write_blob(Fs& fs, const std::string& temporary, const BlobToWrite& blob,
                                  const Pace& pace, const Clock& clock = system_clock());

struct BlobReadError {
  enum class Kind {
    missing,          // no such file
    unreadable,       // the disk failed; the file may be fine
    unknown_version,  // written by a newer Samovar
    damaged,          // verified to be wrong, or not what was expected: quarantine it
  };
  Kind kind = Kind::damaged;
  std::string message;  // names the file
};

// Reads and verifies a header only, and that the file is as long as it says.
[[nodiscard]] std::expected<DecodedBlob, BlobReadError> read_blob_header(Fs& fs,
                                                                         const std::string& path);

struct BlobTimes {
  Micros read = 0;
  Micros verify = 0;
};

// What the reader knows it must find; anything else is `damaged`.
struct BlobExpectation {
  BlobKind kind = BlobKind::segment;
  Fingerprint model;
  Identity identity;
  Identity parent;
  Position begin = 0;
  Position end = 0;
  TokenSpan tokens;  // [begin, end)
  std::uint32_t layout = 0;
};

// Reads a whole blob into `into` (resized to the payload) and verifies header, expectation and
// every chunk as it comes. `into` must have the capacity, see the record's payload size: a larger
// payload is `damaged`. On failure `into` is empty. Adds to `times`.
[[nodiscard]] std::expected<DecodedBlob, BlobReadError> read_blob(Fs& fs, const std::string& path,
                                                                  const BlobExpectation& expected,
                                                                  Buffer& into, const Clock& clock,
                                                                  BlobTimes& times);

// Reads a whole blob chunk by chunk through a small buffer of its own and checks everything that
// the file itself says, but not its name: for `cache verify`.
[[nodiscard]] std::expected<DecodedBlob, BlobReadError> verify_blob(Fs& fs,
                                                                    const std::string& path);

}  // namespace samovar
