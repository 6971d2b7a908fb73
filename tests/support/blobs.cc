#include "tests/support/blobs.h"

#include <algorithm>
#include <numeric>

#include "base/little_endian.h"

namespace samovar::testing {
namespace {

template <class Bytes>
void fill(Bytes& bytes, std::mt19937_64& random) {
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
}

}  // namespace

Blob example_segment() {
  Blob blob;
  blob.payload.resize(48);
  std::iota(blob.payload.begin(), blob.payload.end(), std::uint8_t{0x40});
  BlobHeader& header = blob.header;
  header.kind = BlobKind::segment;
  header.model.bytes = sha256(Bytes{});
  header.begin = 0;
  header.end = 5;
  header.tokens = {1, 50, 700, 65536, 151643};
  header.identity = identity_of(header.model, header.parent, header.tokens);
  header.payload_bytes = blob.payload.size();
  header.anchor = AnchorKind::system;
  header.canonical = true;
  header.session.bytes = {0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7,
                          0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF};
  header.cost = 250 * kMillisecond;
  header.created = 1'700'000'000;
  header.label = "tiny-qwen35moe";
  header.layout = 0x11223344;
  return blob;
}

Blob example_snapshot() {
  Blob blob = example_segment();
  blob.header.kind = BlobKind::snapshot;
  blob.header.layout = 0x55667788;
  blob.payload.resize(20);
  blob.header.payload_bytes = blob.payload.size();
  return blob;
}

Blob random_blob(std::mt19937_64& random, std::size_t payload_max) {
  Blob blob;
  blob.payload.resize(random() % (payload_max + 1));
  fill(blob.payload, random);
  BlobHeader& header = blob.header;
  header.kind = random() % 2 ? BlobKind::segment : BlobKind::snapshot;
  fill(header.model.bytes, random);
  fill(header.session.bytes, random);
  if (random() % 4) {
    header.begin = static_cast<Position>(1 + random() % 1'000'000);
    fill(header.parent.bytes, random);
  }
  header.tokens.resize(1 + random() % 1500);
  for (Token& token : header.tokens) token = static_cast<Token>(random() & 0x7FFFFFFF);
  header.end = header.begin + static_cast<Position>(header.tokens.size());
  header.identity = identity_of(header.model, header.parent, header.tokens);
  header.payload_bytes = blob.payload.size();
  header.anchor = static_cast<AnchorKind>(1 + random() % 6);
  header.canonical = random() % 2;
  header.cost = static_cast<Micros>(random() >> 1);
  header.created = static_cast<std::int64_t>(random() >> 1);
  header.label.assign(random() % (kBlobLabelMax + 1), 'a');
  for (char& c : header.label) c = static_cast<char>('!' + random() % 90);
  header.layout = static_cast<std::uint32_t>(random());
  return blob;
}

std::vector<std::uint8_t> file_of(const Blob& blob, std::uint32_t chunk_bytes) {
  std::vector<std::uint8_t> file = encode_blob_header(blob.header, blob.payload, chunk_bytes);
  file.insert(file.end(), blob.payload.begin(), blob.payload.end());
  return file;
}

BlobExpectation expectation_of(const BlobHeader& header) {
  return {.kind = header.kind,
          .model = header.model,
          .identity = header.identity,
          .parent = header.parent,
          .begin = header.begin,
          .end = header.end,
          .tokens = header.tokens,
          .layout = header.layout};
}

void seal_header(MutableBytes header) {
  constexpr std::size_t place = 496;
  std::fill_n(header.begin() + place, 16, std::uint8_t{0});
  const Checksum sum = checksum(header);
  store_le(header.data() + place, sum.low);
  store_le(header.data() + place + 8, sum.high);
}

}  // namespace samovar::testing
