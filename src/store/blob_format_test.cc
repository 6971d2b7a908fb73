// Goal: a header says exactly what was written or is refused; the bytes never change unnoticed.
// Method: pinned bytes, round trips of random blobs, every bit flipped, every length cut, and
// forged headers whose checksum is right.
#include "store/blob_format.h"

#include <gtest/gtest.h>

#include "base/little_endian.h"
#include "tests/support/blobs.h"

namespace samovar {
namespace {

using testing::Blob;
using testing::example_segment;
using testing::example_snapshot;
using testing::file_of;
using testing::random_blob;
using testing::seal_header;

std::vector<std::uint8_t> header_of(const Blob& blob) {
  return encode_blob_header(blob.header, blob.payload);
}

BlobError error_of(Bytes header) {
  const auto decoded = decode_blob_header(header);
  EXPECT_FALSE(decoded);
  return decoded ? BlobError{} : decoded.error();
}

TEST(BlobFormat, BytesAreThoseOfVersion1) {
  EXPECT_EQ(Identity{sha256(file_of(example_segment()))}.hex(),
            "ca61862bc283c347aa3936704ef7d3893bd51f135fc3b349b894e3f6a2eee160");
  EXPECT_EQ(Identity{sha256(file_of(example_snapshot()))}.hex(),
            "dcf68078ba92aa1443b55ee7c0bd498e2497138307f79695e0f6fdc7deafa0c6");
}

TEST(BlobFormat, RoundTrips) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t chunk = kBlobChunkBytesMin << random() % 4;
    const Blob blob = random_blob(random, 40'000);
    const auto bytes = encode_blob_header(blob.header, blob.payload, chunk);
    EXPECT_EQ(bytes, encode_blob_header(blob.header, blob.payload, chunk));
    EXPECT_EQ(bytes.size() % kBlobAlignment, 0U);
    EXPECT_EQ(blob_header_bytes(Bytes(bytes).first(kBlobFixedBytes)), bytes.size());
    const auto decoded = decode_blob_header(bytes);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->header, blob.header);
    EXPECT_EQ(decoded->header_bytes, bytes.size());
    EXPECT_EQ(decoded->chunk_bytes, chunk);
    EXPECT_EQ(decoded->file_bytes(), bytes.size() + blob.payload.size());
    std::size_t covered = 0;
    for (std::size_t i = 0; i < decoded->chunks.size(); ++i) {
      const Bytes piece = decoded->chunk(blob.payload, i);
      EXPECT_EQ(piece.data(), blob.payload.data() + covered);
      EXPECT_EQ(checksum(piece), decoded->chunks[i]);
      covered += piece.size();
    }
    EXPECT_EQ(covered, blob.payload.size());
  }
}

TEST(BlobFormat, RefusesEverySingleBitFlip) {
  const auto good = header_of(example_segment());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    ASSERT_FALSE(decode_blob_header(bad)) << "bit " << bit;
  }
}

TEST(BlobFormat, RefusesEveryTruncationAndEveryExtension) {
  auto bytes = header_of(example_segment());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(decode_blob_header(Bytes(bytes).first(size))) << size << " bytes";
  }
  bytes.push_back(0);
  EXPECT_FALSE(decode_blob_header(bytes));
}

TEST(BlobFormat, LeavesNewerVersionsAloneByMagicAndVersionOnly) {
  std::vector<std::uint8_t> newer(12, 0xEE);
  const auto good = header_of(example_segment());
  std::copy_n(good.begin(), 8, newer.begin());
  newer[8] = 2;
  newer[9] = 0;
  EXPECT_EQ(blob_header_bytes(newer).error().fault, BlobFault::unknown_version);
  EXPECT_EQ(error_of(newer).fault, BlobFault::unknown_version);
  newer[8] = 0;
  EXPECT_EQ(error_of(newer).fault, BlobFault::damaged);
  newer[0] = 'T';
  EXPECT_EQ(error_of(newer).fault, BlobFault::not_a_blob);
  EXPECT_EQ(error_of({}).fault, BlobFault::not_a_blob);
}

TEST(BlobFormat, LeavesUnknownCodecsAloneOnceTheChecksumHolds) {
  auto bytes = header_of(example_segment());
  bytes[136] = 7;
  EXPECT_EQ(error_of(bytes).fault, BlobFault::damaged);
  seal_header(bytes);
  EXPECT_EQ(error_of(bytes).fault, BlobFault::unknown_version);
  EXPECT_EQ(error_of(bytes).message, "codec 7 is not known");
}

TEST(BlobFormat, RefusesForgedFieldsThoughTheChecksumHolds) {
  struct Forgery {
    std::size_t offset;
    std::uint64_t value;
    std::size_t bytes;
    const char* message;
  };
  const Forgery forgeries[] = {
      {10, 3, 2, "kind 3 is not known"},
      {10, 0, 2, "kind 0 is not known"},
      {12, 8192, 4, "a header of 8192 bytes for 5 tokens and 1 chunks"},
      {12, 0, 4, "a header of 0 bytes for 5 tokens and 1 chunks"},
      {16, 1, 1, "the identity is not that of its parent, model and tokens"},
      {48, 1, 1, "the identity is not that of its parent, model and tokens"},
      {80, 1, 1, "only a prefix that begins at token 0 has no parent"},
      {112, 5, 4, "the tokens [5, 5) are no range"},
      {112, 0xFFFFFFFF, 4, "the tokens [4294967295, 5) are no range"},
      {116, 0x80000000, 4, "the tokens [0, 2147483648) are no range"},
      {116, 0x7FFFFFFF, 4, "2147483647 tokens, at most 1048576"},
      {116, 6, 4, "the identity is not that of its parent, model and tokens"},
      {120, 0xFFFFFFFFFFFFFFFF, 8, "a payload of 18446744073709551615 bytes, at most 68719476736"},
      {120, (1 << 20) + 1, 8, "1 chunks of 1048576 bytes for a payload of 1048577"},
      {120, 0, 8, "1 chunks of 1048576 bytes for a payload of 0"},
      {128, 0, 4, "chunks of 0 bytes"},
      {128, 12288, 4, "chunks of 12288 bytes"},
      {128, 1 << 25, 4, "chunks of 33554432 bytes"},
      {132, 0, 4, "0 chunks of 1048576 bytes for a payload of 48"},
      {132, 0xFFFFFFFF, 4, "4294967295 chunks of 1048576 bytes for a payload of 48"},
      {137, 0, 1, "anchor kind 0 is not known"},
      {137, 7, 1, "anchor kind 7 is not known"},
      {138, 3, 2, "flags 0x3 are not known"},
      {167, 0x80, 1, "a cost or a time below zero"},
      {175, 0x80, 1, "a cost or a time below zero"},
      {177, 27, 1, "control characters in the label"},
      {178, 0, 1, "the label does not end in zeros"},
      {239, 'x', 1, "the label does not end in zeros"},
      {240, 1, 1, "reserved bytes are not zero"},
      {495, 1, 1, "reserved bytes are not zero"},
      {515, 0x80, 1, "token id -2147483647"},
      {516, 51, 1, "the identity is not that of its parent, model and tokens"},
      {548, 1, 1, "padding is not zero"},
      {4095, 1, 1, "padding is not zero"},
  };
  const auto good = header_of(example_segment());
  for (const Forgery& forgery : forgeries) {
    auto bad = good;
    for (std::size_t i = 0; i < forgery.bytes; ++i) {
      bad[forgery.offset + i] = static_cast<std::uint8_t>(forgery.value >> 8 * i);
    }
    seal_header(bad);
    EXPECT_EQ(error_of(bad).fault, BlobFault::damaged) << forgery.message;
    EXPECT_EQ(error_of(bad).message, forgery.message);
  }
}

TEST(BlobFormat, RefusesAParentThatIsNotTheRootsAtToken0) {
  auto bytes = header_of(example_segment());
  store_le(bytes.data() + 112, std::int32_t{10});
  store_le(bytes.data() + 116, std::int32_t{15});
  seal_header(bytes);
  EXPECT_EQ(error_of(bytes).message, "only a prefix that begins at token 0 has no parent");
}

TEST(BlobFormat, CutsLabelsBetweenCharactersAndTakesTheirTeethOut) {
  Blob blob = example_segment();
  blob.header.label.assign(62, 'a').append("\xC3\xA9");
  EXPECT_EQ(decode_blob_header(header_of(blob))->header.label, std::string(62, 'a'));
  blob.header.label.assign(61, 'a').append("\xC3\xA9");
  EXPECT_EQ(decode_blob_header(header_of(blob))->header.label, blob.header.label);
  blob.header.label = "a\x1B[2J\n\x7F";
  EXPECT_EQ(decode_blob_header(header_of(blob))->header.label, "a?[2J??");
}

TEST(BlobFormat, HoldsTheLargestBlobs) {
  Blob blob;
  BlobHeader& header = blob.header;
  header.tokens.assign(kBlobTokensMax, 7);
  header.end = kBlobTokensMax;
  header.identity = identity_of(header.model, header.parent, header.tokens);
  header.payload_bytes = kBlobPayloadMax;
  const std::vector<Checksum> chunks(kBlobPayloadMax / kBlobChunkBytes, Checksum{1, 2});
  const auto bytes = encode_blob_header(header, chunks, kBlobChunkBytes);
  const auto decoded = decode_blob_header(bytes);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->header, header);
  EXPECT_EQ(decoded->chunks, chunks);
}

TEST(BlobName, IsOneToOne) {
  const Identity identity = example_segment().header.identity;
  const std::string segment = blob_name(BlobKind::segment, identity);
  EXPECT_EQ(segment, identity.hex() + ".seg");
  EXPECT_EQ(blob_name(BlobKind::snapshot, identity), identity.hex() + ".snap");
  for (const BlobKind kind : {BlobKind::segment, BlobKind::snapshot}) {
    const auto name = parse_blob_name(blob_name(kind, identity));
    ASSERT_TRUE(name);
    EXPECT_EQ(name->kind, kind);
    EXPECT_EQ(name->identity, identity);
  }
  for (const std::string& bad : {std::string(), std::string(".seg"), segment + ".1.tmp",
                                 segment.substr(1), "0" + segment, identity.hex() + ".SEG"}) {
    EXPECT_FALSE(parse_blob_name(bad)) << bad;
  }
}

}  // namespace
}  // namespace samovar
