// The bytes of a blob file: a header that describes it, then the engine's opaque payload. The
// format is specified to the byte in docs/store-format.md; blob_encode.cc and blob_decode.cc are
// its only implementation.
//
// A segment holds the attention K/V rows of the tokens [begin, end) of a prefix; a snapshot holds
// the recurrent state after exactly `end` tokens, and names by `begin` and `parent` the segment it
// stands at the end of. Both carry the token ids [begin, end) and the identity of the prefix [0,
// end). Pure functions over bytes; any thread. Nothing read from a file is trusted: lengths are
// checked before anything is allocated.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/hash.h"
#include "core/anchor_kind.h"
#include "core/tokens.h"
#include "store/identity.h"

namespace samovar {

enum class BlobKind : std::uint16_t { segment = 1, snapshot = 2 };

inline constexpr std::uint16_t kBlobVersion = 1;
inline constexpr std::size_t kBlobFixedBytes = 512;           // of the header, before token ids
inline constexpr std::size_t kBlobAlignment = 4096;           // of the payload's offset
inline constexpr std::uint32_t kBlobChunkBytes = 1 << 20;     // one checksum each; as written
inline constexpr std::uint32_t kBlobChunkBytesMin = 1 << 12;  // as read: powers of two
inline constexpr std::uint32_t kBlobChunkBytesMax = 1 << 24;
inline constexpr std::uint32_t kBlobTokensMax = 1 << 20;
inline constexpr std::uint64_t kBlobPayloadMax = std::uint64_t{1} << 36;
inline constexpr std::size_t kBlobLabelMax = 63;  // bytes

struct BlobHeader {
  BlobKind kind = BlobKind::segment;
  Fingerprint model;
  Identity identity;
  Identity parent;
  Position begin = 0;
  Position end = 0;
  Tokens tokens;                            // end - begin of them
  std::uint64_t payload_bytes = 0;          // as the engine gave them
  AnchorKind anchor = AnchorKind::message;  // what kind of place `end` is
  bool canonical = false;  // computed by prefill at canonical cuts only: equals a cold run's bits
  SessionId session;
  Micros cost = 0;           // engine time it would take to compute [begin, end) again, about
  std::int64_t created = 0;  // wall seconds
  std::string label;         // the model's name, for people: no control characters

  // How the payload is laid out in the engine, repeated here so that a mismatch is refused even if
  // a fingerprint should lie: see engine/fingerprint.h for what is in it.
  std::uint32_t layout = 0;

  bool operator==(const BlobHeader&) const = default;
};

enum class BlobFault {
  not_a_blob,       // no magic
  unknown_version,  // a newer Samovar's, or of an unknown codec: left alone, counted
  damaged,          // checksum, lengths or fields do not hold
};

struct BlobError {
  BlobFault fault = BlobFault::damaged;
  std::string message;
};

// Header bytes, a multiple of kBlobAlignment: fixed part, token ids, chunk checksums, padding.
// The file is these followed by `payload`, and nothing else. The header must keep the limits above
// and its lengths must agree (asserted); the label is cut to what fits.
[[nodiscard]] std::vector<std::uint8_t> encode_blob_header(
    const BlobHeader& header, Bytes payload, std::uint32_t chunk_bytes = kBlobChunkBytes);
// The same for checksums taken before, for a writer that spreads the work.
[[nodiscard]] std::vector<std::uint8_t> encode_blob_header(const BlobHeader& header,
                                                           std::span<const Checksum> chunks,
                                                           std::uint32_t chunk_bytes);

// Of a file's first kBlobFixedBytes (fewer, if it is shorter): how many bytes its header has.
// Checks magic, version and the lengths, so that it is safe to allocate; nothing else.
[[nodiscard]] std::expected<std::size_t, BlobError> blob_header_bytes(Bytes fixed);

struct DecodedBlob {
  BlobHeader header;
  std::size_t header_bytes = 0;  // where the payload begins
  std::uint32_t chunk_bytes = 0;
  std::vector<Checksum> chunks;

  [[nodiscard]] std::uint64_t file_bytes() const { return header_bytes + header.payload_bytes; }
  [[nodiscard]] Bytes chunk(Bytes payload, std::size_t index) const;
};

// `bytes`: the whole header. Verifies its checksum, every length, and that the identity is that of
// parent, model and tokens.
[[nodiscard]] std::expected<DecodedBlob, BlobError> decode_blob_header(Bytes bytes);

// "<identity>.seg" or "<identity>.snap", and back.
[[nodiscard]] std::string blob_name(BlobKind kind, const Identity& identity);
struct BlobName {
  BlobKind kind = BlobKind::segment;
  Identity identity;
};
[[nodiscard]] std::optional<BlobName> parse_blob_name(std::string_view name);

}  // namespace samovar
