#include "tests/fuzz/blob_input.h"

#include <algorithm>
#include <cstdlib>

#include "base/little_endian.h"
#include "store/blob_file.h"
#include "tests/support/blobs.h"
#include "tests/support/sim_fs.h"

namespace samovar::fuzz {
namespace {

constexpr std::size_t kPayloadMax = 1 << 20;  // libFuzzer's inputs are smaller
const std::string kPath = "/input";

void require(bool holds) {
  if (!holds) std::abort();
}

void repair_lengths(MutableBytes file) {
  const auto header = load_le<std::uint32_t>(file.data() + 12);
  const auto chunk = load_le<std::uint32_t>(file.data() + 128);
  if (header > file.size() || chunk == 0) return;
  const std::uint64_t payload = file.size() - header;
  store_le(file.data() + 120, payload);
  store_le(file.data() + 132, static_cast<std::uint32_t>((payload + chunk - 1) / chunk));
}

// `header`: its length, which has been checked, as have all others in it.
void repair_identity(MutableBytes file) {
  Identity model;
  Identity parent;
  std::copy_n(file.data() + 16, 32, model.bytes.data());
  std::copy_n(file.data() + 80, 32, parent.bytes.data());
  Tokens tokens(load_le<std::uint32_t>(file.data() + 116) -
                load_le<std::uint32_t>(file.data() + 112));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = load_le<Token>(file.data() + kBlobFixedBytes + 4 * i);
  }
  std::ranges::copy(identity_of(model, parent, tokens).bytes, file.data() + 48);
}

void repair_chunks(MutableBytes file, std::size_t header) {
  const std::size_t tokens =
      load_le<std::uint32_t>(file.data() + 116) - load_le<std::uint32_t>(file.data() + 112);
  const std::size_t chunk = load_le<std::uint32_t>(file.data() + 128);
  std::uint8_t* to = file.data() + kBlobFixedBytes + 4 * tokens;
  std::uint64_t left = load_le<std::uint64_t>(file.data() + 120);
  for (std::size_t at = header; left > 0 && at < file.size(); to += 16) {
    const std::size_t size = std::min<std::uint64_t>({chunk, left, file.size() - at});
    const Checksum sum = checksum(Bytes(file).subspan(at, size));
    store_le(to, sum.low);
    store_le(to + 8, sum.high);
    at += size;
    left -= size;
  }
}

void repair(MutableBytes file, std::uint8_t flags) {
  if (file.size() < kBlobFixedBytes) return;
  if (flags & kRepairLengths) repair_lengths(file);
  const auto header = blob_header_bytes(file);
  if (!header || *header > file.size()) return;
  if (flags & kRepairIdentity) repair_identity(file);
  if (flags & kRepairChunkChecksums) repair_chunks(file, *header);
  if (flags & kRepairHeaderChecksum) testing::seal_header(file.first(*header));
}

void check_encoding(const DecodedBlob& blob, Bytes file) {
  const auto encoded = encode_blob_header(blob.header, blob.chunks, blob.chunk_bytes);
  require(std::ranges::equal(encoded, file.first(blob.header_bytes)));
}

}  // namespace

void read_blob_input(BlobKind kind, Bytes input) {
  if (input.empty() || input.size() > kPayloadMax) return;
  std::vector<std::uint8_t> file(input.begin() + 1, input.end());
  repair(file, input[0]);

  const FakeClock clock;
  SimFs fs(clock);
  fs.write_raw(kPath, file);
  const auto pool = BufferPool::create(kPayloadMax);
  auto into = pool->take(kPayloadMax);
  BlobTimes times;

  const auto header = read_blob_header(fs, kPath);
  const auto verified = verify_blob(fs, kPath);
  BlobExpectation expected = testing::expectation_of(testing::example_segment().header);
  if (header) {
    check_encoding(*header, file);
    expected = testing::expectation_of(header->header);
  }
  expected.kind = kind;
  const auto read = read_blob(fs, kPath, expected, *into, clock, times);
  if (!header) {
    require(!verified && !read);
  } else if (header->header.kind != kind) {
    require(!read);
  } else {
    require(verified.has_value() == read.has_value());
  }
  require(read ? std::ranges::equal(into->bytes(), Bytes(file).subspan(read->header_bytes))
               : into->size() == 0);
}

}  // namespace samovar::fuzz
