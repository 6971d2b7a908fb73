// Where the fields of a blob's header lie, for blob_encode.cc and blob_decode.cc only. The table in
// docs/store-format.md says the same in words. Constants and pure functions; any thread.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/little_endian.h"
#include "store/blob_format.h"

namespace samovar::blob_layout {

inline constexpr std::array<std::uint8_t, 8> kMagic = {'S', 'A', 'M', 'O', 'V', 'A', 'R', 0};

inline constexpr std::size_t kVersion = 8;           // u16
inline constexpr std::size_t kKind = 10;             // u16
inline constexpr std::size_t kHeaderBytes = 12;      // u32
inline constexpr std::size_t kModel = 16;            // 32 bytes
inline constexpr std::size_t kIdentity = 48;         // 32 bytes
inline constexpr std::size_t kParent = 80;           // 32 bytes
inline constexpr std::size_t kBegin = 112;           // u32
inline constexpr std::size_t kEnd = 116;             // u32
inline constexpr std::size_t kPayloadBytes = 120;    // u64
inline constexpr std::size_t kChunkBytes = 128;      // u32
inline constexpr std::size_t kChunkCount = 132;      // u32
inline constexpr std::size_t kCodec = 136;           // u8
inline constexpr std::size_t kAnchor = 137;          // u8
inline constexpr std::size_t kFlags = 138;           // u16
inline constexpr std::size_t kLayout = 140;          // u32
inline constexpr std::size_t kSession = 144;         // 16 bytes
inline constexpr std::size_t kCost = 160;            // i64
inline constexpr std::size_t kCreated = 168;         // i64
inline constexpr std::size_t kLabel = 176;           // 64 bytes
inline constexpr std::size_t kReserved = 240;        // zeros
inline constexpr std::size_t kHeaderChecksum = 496;  // 16 bytes
inline constexpr std::size_t kTokens = kBlobFixedBytes;

inline constexpr std::size_t kLabelBytes = kBlobLabelMax + 1;
inline constexpr std::size_t kChecksumBytes = 16;
inline constexpr std::size_t kTokenBytes = 4;

inline constexpr std::uint16_t kFlagCanonical = 1;  // the only flag of version 1
inline constexpr std::uint8_t kCodecNone = 0;       // the only codec of version 1

static_assert(kLabel + kLabelBytes == kReserved);
static_assert(kHeaderChecksum + kChecksumBytes == kBlobFixedBytes);

// Without overflow for any two 32-bit counts.
[[nodiscard]] constexpr std::uint64_t header_bytes(std::uint64_t tokens, std::uint64_t chunks) {
  const std::uint64_t used = kTokens + tokens * kTokenBytes + chunks * kChecksumBytes;
  return (used + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment;
}

[[nodiscard]] constexpr std::uint64_t chunk_count(std::uint64_t payload, std::uint64_t chunk) {
  return payload / chunk + (payload % chunk != 0);
}

// Powers of two, so that chunks never straddle pages.
[[nodiscard]] constexpr bool chunk_size_is_known(std::uint32_t bytes) {
  return bytes >= kBlobChunkBytesMin && bytes <= kBlobChunkBytesMax && (bytes & (bytes - 1)) == 0;
}

[[nodiscard]] inline Checksum load_checksum(const std::uint8_t* from) {
  return {load_le<std::uint64_t>(from), load_le<std::uint64_t>(from + 8)};
}

inline void store_checksum(std::uint8_t* to, const Checksum& value) {
  store_le(to, value.low);
  store_le(to + 8, value.high);
}

}  // namespace samovar::blob_layout
