#include <algorithm>
#include <cassert>

#include "store/blob_layout.h"

namespace samovar {
namespace {

namespace at = blob_layout;

// What fits, cut between two characters of UTF-8, without what would upset a terminal.
std::string label_of(std::string_view text) {
  std::size_t length = std::min(text.size(), kBlobLabelMax);
  if (length < text.size()) {
    while (length > 0 && (static_cast<std::uint8_t>(text[length]) & 0xC0) == 0x80) --length;
  }
  std::string label(text.substr(0, length));
  for (char& c : label) {
    if (static_cast<std::uint8_t>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return label;
}

void assert_consistent(const BlobHeader& header, std::size_t chunks, std::uint32_t chunk_bytes) {
  assert(header.begin >= 0 && header.begin < header.end);
  assert(header.tokens.size() == static_cast<std::size_t>(header.end - header.begin));
  assert(header.tokens.size() <= kBlobTokensMax);
  assert((header.begin == 0) == header.parent.is_root());
  assert(header.payload_bytes <= kBlobPayloadMax);
  assert(at::chunk_size_is_known(chunk_bytes));
  assert(chunks == at::chunk_count(header.payload_bytes, chunk_bytes));
  assert(header.cost >= 0 && header.created >= 0);
  static_cast<void>(header);
  static_cast<void>(chunks);
  static_cast<void>(chunk_bytes);
}

void store_fixed(std::uint8_t* to, const BlobHeader& header) {
  std::copy(at::kMagic.begin(), at::kMagic.end(), to);
  store_le(to + at::kVersion, kBlobVersion);
  store_le(to + at::kKind, static_cast<std::uint16_t>(header.kind));
  std::copy(header.model.bytes.begin(), header.model.bytes.end(), to + at::kModel);
  std::copy(header.identity.bytes.begin(), header.identity.bytes.end(), to + at::kIdentity);
  std::copy(header.parent.bytes.begin(), header.parent.bytes.end(), to + at::kParent);
  store_le(to + at::kBegin, header.begin);
  store_le(to + at::kEnd, header.end);
  store_le(to + at::kPayloadBytes, header.payload_bytes);
  to[at::kCodec] = at::kCodecNone;
  to[at::kAnchor] = static_cast<std::uint8_t>(header.anchor);
  store_le(to + at::kFlags, header.canonical ? at::kFlagCanonical : std::uint16_t{0});
  store_le(to + at::kLayout, header.layout);
  std::copy(header.session.bytes.begin(), header.session.bytes.end(), to + at::kSession);
  store_le(to + at::kCost, header.cost);
  store_le(to + at::kCreated, header.created);
  const std::string label = label_of(header.label);
  std::copy(label.begin(), label.end(), to + at::kLabel);
}

}  // namespace

std::vector<std::uint8_t> encode_blob_header(const BlobHeader& header,
                                             std::span<const Checksum> chunks,
                                             std::uint32_t chunk_bytes) {
  assert_consistent(header, chunks.size(), chunk_bytes);
  std::vector<std::uint8_t> bytes(at::header_bytes(header.tokens.size(), chunks.size()));
  store_fixed(bytes.data(), header);
  store_le(bytes.data() + at::kHeaderBytes, static_cast<std::uint32_t>(bytes.size()));
  store_le(bytes.data() + at::kChunkBytes, chunk_bytes);
  store_le(bytes.data() + at::kChunkCount, static_cast<std::uint32_t>(chunks.size()));
  std::uint8_t* to = bytes.data() + at::kTokens;
  for (const Token token : header.tokens) {
    assert(token >= 0);
    store_le(to, token);
    to += at::kTokenBytes;
  }
  for (const Checksum& chunk : chunks) {
    at::store_checksum(to, chunk);
    to += at::kChecksumBytes;
  }
  at::store_checksum(bytes.data() + at::kHeaderChecksum, checksum(bytes));
  return bytes;
}

std::vector<std::uint8_t> encode_blob_header(const BlobHeader& header, Bytes payload,
                                             std::uint32_t chunk_bytes) {
  assert(header.payload_bytes == payload.size());
  std::vector<Checksum> chunks;
  for (std::size_t begin = 0; begin < payload.size(); begin += chunk_bytes) {
    const std::size_t size = std::min<std::size_t>(chunk_bytes, payload.size() - begin);
    chunks.push_back(checksum(payload.subspan(begin, size)));
  }
  return encode_blob_header(header, chunks, chunk_bytes);
}

std::string blob_name(BlobKind kind, const Identity& identity) {
  return identity.hex() + (kind == BlobKind::segment ? ".seg" : ".snap");
}

std::optional<BlobName> parse_blob_name(std::string_view name) {
  for (const BlobKind kind : {BlobKind::segment, BlobKind::snapshot}) {
    const std::string_view ending = kind == BlobKind::segment ? ".seg" : ".snap";
    if (!name.ends_with(ending)) continue;
    const auto identity = Identity::from_hex(name.substr(0, name.size() - ending.size()));
    if (identity) return BlobName{kind, *identity};
  }
  return std::nullopt;
}

}  // namespace samovar
