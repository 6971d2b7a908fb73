// Blobs for tests of the store's files: small ones, random ones, and tools to forge what the writer
// would never write. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "store/blob_file.h"
#include "store/blob_format.h"

namespace samovar::testing {

struct Blob {
  BlobHeader header;
  std::vector<std::uint8_t> payload;
};

// Always the same: a segment of five tokens with a payload of 48 bytes, see docs/store-format.md.
[[nodiscard]] Blob example_segment();
// The snapshot that stands at its end.
[[nodiscard]] Blob example_snapshot();

// Of a few hundred tokens and `payload_max` bytes at most, valid in every field.
[[nodiscard]] Blob random_blob(std::mt19937_64& random, std::size_t payload_max);

// The whole file.
[[nodiscard]] std::vector<std::uint8_t> file_of(const Blob& blob,
                                                std::uint32_t chunk_bytes = kBlobChunkBytes);

// What a reader that knows the blob would expect.
[[nodiscard]] BlobExpectation expectation_of(const BlobHeader& header);

// Makes the header's checksum right again after its bytes were changed.
void seal_header(MutableBytes header);

}  // namespace samovar::testing
