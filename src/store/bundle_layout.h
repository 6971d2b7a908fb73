// Where the fields of a bundle's header and records lie, for bundle_write.cc and bundle_read.cc
// only. The tables in docs/store-format.md say the same in words. Constants; any thread.
#pragma once

#include <array>
#include <cstdint>

#include "store/bundle.h"

namespace samovar::bundle_layout {

inline constexpr std::array<std::uint8_t, 8> kMagic = {'S', 'A', 'M', 'O', 'B', 'N', 'D', 'L'};
inline constexpr std::size_t kVersion = 8;   // u16; zeros up to kCreated
inline constexpr std::size_t kCreated = 16;  // i64; zeros up to the end

inline constexpr std::array<std::uint8_t, 4> kBlobTag = {'B', 'L', 'O', 'B'};
inline constexpr std::size_t kNameBytes = 4;  // u32
inline constexpr std::size_t kFileBytes = 8;  // u64

inline constexpr std::array<std::uint8_t, 4> kEndTag = {'E', 'N', 'D', 0};
inline constexpr std::size_t kBlobs = 8;       // u64; zeros before
inline constexpr std::size_t kBlobBytes = 16;  // u64; zeros up to the digest
inline constexpr std::size_t kDigest = 32;     // SHA-256 of all bytes before it

inline constexpr std::size_t kNameMax = 80;  // of a blob: 69 at most

static_assert(kDigest + sizeof(Sha256) == kBundleEndBytes);

}  // namespace samovar::bundle_layout
