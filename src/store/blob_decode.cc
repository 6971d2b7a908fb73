#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "store/blob_layout.h"

namespace samovar {
namespace {

namespace at = blob_layout;

std::unexpected<BlobError> damaged(std::string message) {
  return std::unexpected(BlobError{BlobFault::damaged, std::move(message)});
}

using BlobStatus = std::expected<void, BlobError>;

// The lengths of everything in a file, before any of it is trusted.
struct Lengths {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t payload = 0;
  std::uint32_t chunk = 0;
  std::uint32_t chunks = 0;
  std::uint32_t header = 0;

  [[nodiscard]] std::uint32_t tokens() const { return end - begin; }
};

Lengths load_lengths(const std::uint8_t* from) {
  return {.begin = load_le<std::uint32_t>(from + at::kBegin),
          .end = load_le<std::uint32_t>(from + at::kEnd),
          .payload = load_le<std::uint64_t>(from + at::kPayloadBytes),
          .chunk = load_le<std::uint32_t>(from + at::kChunkBytes),
          .chunks = load_le<std::uint32_t>(from + at::kChunkCount),
          .header = load_le<std::uint32_t>(from + at::kHeaderBytes)};
}

BlobStatus check_lengths(const Lengths& lengths) {
  if (lengths.end > static_cast<std::uint32_t>(std::numeric_limits<Position>::max()) ||
      lengths.begin >= lengths.end) {
    return damaged(fmt::format("the tokens [{}, {}) are no range", lengths.begin, lengths.end));
  }
  if (lengths.tokens() > kBlobTokensMax) {
    return damaged(fmt::format("{} tokens, at most {}", lengths.tokens(), kBlobTokensMax));
  }
  if (lengths.payload > kBlobPayloadMax) {
    return damaged(
        fmt::format("a payload of {} bytes, at most {}", lengths.payload, kBlobPayloadMax));
  }
  if (!at::chunk_size_is_known(lengths.chunk)) {
    return damaged(fmt::format("chunks of {} bytes", lengths.chunk));
  }
  if (lengths.chunks != at::chunk_count(lengths.payload, lengths.chunk)) {
    return damaged(fmt::format("{} chunks of {} bytes for a payload of {}", lengths.chunks,
                               lengths.chunk, lengths.payload));
  }
  if (lengths.header != at::header_bytes(lengths.tokens(), lengths.chunks)) {
    return damaged(fmt::format("a header of {} bytes for {} tokens and {} chunks", lengths.header,
                               lengths.tokens(), lengths.chunks));
  }
  return {};
}

bool all_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

// The checksum covers the header with zeros in its own place.
bool checksum_holds(Bytes bytes) {
  std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  std::fill_n(copy.begin() + at::kHeaderChecksum, at::kChecksumBytes, std::uint8_t{0});
  return checksum(copy) == at::load_checksum(bytes.data() + at::kHeaderChecksum);
}

Identity load_identity(const std::uint8_t* from) {
  Identity identity;
  std::copy_n(from, identity.bytes.size(), identity.bytes.begin());
  return identity;
}

BlobStatus load_label(const std::uint8_t* from, std::string& label) {
  const std::uint8_t* end = std::find(from, from + at::kLabelBytes, 0);
  if (end == from + at::kLabelBytes ||
      !all_zero({end, static_cast<std::size_t>(from + at::kLabelBytes - end)})) {
    return damaged("the label does not end in zeros");
  }
  if (std::any_of(from, end, [](std::uint8_t c) { return c < 0x20 || c == 0x7F; })) {
    return damaged("control characters in the label");
  }
  label.assign(from, end);
  return {};
}

BlobStatus load_enums(const std::uint8_t* from, BlobHeader& header) {
  const auto codec = from[at::kCodec];
  if (codec != at::kCodecNone) {
    return std::unexpected(
        BlobError{BlobFault::unknown_version, fmt::format("codec {} is not known", codec)});
  }
  const auto kind = load_le<std::uint16_t>(from + at::kKind);
  if (kind != static_cast<std::uint16_t>(BlobKind::segment) &&
      kind != static_cast<std::uint16_t>(BlobKind::snapshot)) {
    return damaged(fmt::format("kind {} is not known", kind));
  }
  header.kind = static_cast<BlobKind>(kind);
  const auto anchor = from[at::kAnchor];
  if (anchor < static_cast<std::uint8_t>(AnchorKind::system) ||
      anchor > static_cast<std::uint8_t>(kLastAnchorKind)) {
    return damaged(fmt::format("anchor kind {} is not known", anchor));
  }
  header.anchor = static_cast<AnchorKind>(anchor);
  const auto flags = load_le<std::uint16_t>(from + at::kFlags);
  if ((flags & ~at::kFlagCanonical) != 0) {
    return damaged(fmt::format("flags {:#x} are not known", flags));
  }
  header.canonical = (flags & at::kFlagCanonical) != 0;
  return {};
}

BlobStatus load_fixed(const std::uint8_t* from, BlobHeader& header) {
  if (auto known = load_enums(from, header); !known) return known;
  if (!all_zero({from + at::kReserved, at::kHeaderChecksum - at::kReserved})) {
    return damaged("reserved bytes are not zero");
  }
  header.model = load_identity(from + at::kModel);
  header.identity = load_identity(from + at::kIdentity);
  header.parent = load_identity(from + at::kParent);
  header.begin = load_le<Position>(from + at::kBegin);
  header.end = load_le<Position>(from + at::kEnd);
  header.payload_bytes = load_le<std::uint64_t>(from + at::kPayloadBytes);
  header.layout = load_le<std::uint32_t>(from + at::kLayout);
  std::copy_n(from + at::kSession, header.session.bytes.size(), header.session.bytes.begin());
  header.cost = load_le<std::int64_t>(from + at::kCost);
  header.created = load_le<std::int64_t>(from + at::kCreated);
  if ((header.begin == 0) != header.parent.is_root()) {
    return damaged("only a prefix that begins at token 0 has no parent");
  }
  if (header.cost < 0 || header.created < 0) return damaged("a cost or a time below zero");
  return load_label(from + at::kLabel, header.label);
}

BlobStatus load_tokens(const std::uint8_t* from, BlobHeader& header) {
  header.tokens.resize(static_cast<std::size_t>(header.end - header.begin));
  for (Token& token : header.tokens) {
    token = load_le<Token>(from);
    if (token < 0) return damaged(fmt::format("token id {}", token));
    from += at::kTokenBytes;
  }
  return {};
}

}  // namespace

std::expected<std::size_t, BlobError> blob_header_bytes(Bytes fixed) {
  if (fixed.size() < at::kKind ||
      !std::equal(at::kMagic.begin(), at::kMagic.end(), fixed.begin())) {
    return std::unexpected(BlobError{BlobFault::not_a_blob, "not a file of Samovar's store"});
  }
  const auto version = load_le<std::uint16_t>(fixed.data() + at::kVersion);
  if (version > kBlobVersion) {
    return std::unexpected(
        BlobError{BlobFault::unknown_version,
                  fmt::format("format version {}, written by a newer Samovar", version)});
  }
  if (version != kBlobVersion) return damaged("format version 0");
  if (fixed.size() < kBlobFixedBytes) return damaged("shorter than any header");
  const Lengths lengths = load_lengths(fixed.data());
  if (auto checked = check_lengths(lengths); !checked) return std::unexpected(checked.error());
  return lengths.header;
}

std::expected<DecodedBlob, BlobError> decode_blob_header(Bytes bytes) {
  const auto size = blob_header_bytes(bytes);
  if (!size) return std::unexpected(size.error());
  if (bytes.size() != *size) {
    return damaged(fmt::format("a header of {} bytes, {} are there", *size, bytes.size()));
  }
  if (!checksum_holds(bytes)) return damaged("the header's checksum does not hold");

  DecodedBlob blob;
  const Lengths lengths = load_lengths(bytes.data());
  blob.header_bytes = *size;
  blob.chunk_bytes = lengths.chunk;
  if (auto fixed = load_fixed(bytes.data(), blob.header); !fixed) {
    return std::unexpected(fixed.error());
  }
  if (auto tokens = load_tokens(bytes.data() + at::kTokens, blob.header); !tokens) {
    return std::unexpected(tokens.error());
  }
  std::size_t offset = at::kTokens + lengths.tokens() * at::kTokenBytes;
  blob.chunks.resize(lengths.chunks);
  for (Checksum& chunk : blob.chunks) {
    chunk = at::load_checksum(bytes.data() + offset);
    offset += at::kChecksumBytes;
  }
  if (!all_zero(bytes.subspan(offset))) return damaged("padding is not zero");
  const BlobHeader& header = blob.header;
  if (identity_of(header.model, header.parent, header.tokens) != header.identity) {
    return damaged("the identity is not that of its parent, model and tokens");
  }
  return blob;
}

Bytes DecodedBlob::chunk(Bytes payload, std::size_t index) const {
  const std::size_t begin = index * chunk_bytes;
  return payload.subspan(begin, std::min<std::size_t>(chunk_bytes, payload.size() - begin));
}

}  // namespace samovar
