// Goal: what is written is read back, byte for byte; anything else is refused and named; nothing
// unverified comes out (S4).
// Method: real and simulated file systems, files changed in every region, wrong expectations. What
// failing disks do is in blob_faults_test.cc.
#include "store/blob_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fs/posix_fs.h"
#include "tests/support/blobs.h"
#include "tests/support/sim_fs.h"
#include "tests/support/temporary_folder.h"

namespace samovar {
namespace {

using testing::Blob;
using testing::example_segment;
using testing::expectation_of;
using testing::file_of;
using Kind = BlobReadError::Kind;

constexpr std::size_t kBuffer = 4 << 20;

class Reader {
 public:
  std::expected<DecodedBlob, BlobReadError> read(Fs& fs, const std::string& path,
                                                 const BlobExpectation& expected) {
    return read_blob(fs, path, expected, buffer_, system_clock(), times_);
  }
  Bytes payload() const { return buffer_.bytes(); }

 private:
  Buffer buffer_ = std::move(*BufferPool::create(kBuffer)->take(kBuffer));
  BlobTimes times_;
};

Blob large_blob() {
  Blob blob = example_segment();
  blob.payload.resize(2 * kBlobChunkBytes + 12'345);
  std::mt19937_64 random(3);
  for (std::uint8_t& byte : blob.payload) byte = static_cast<std::uint8_t>(random());
  blob.header.payload_bytes = blob.payload.size();
  return blob;
}

void expect_round_trip(Fs& fs, const std::string& folder) {
  const std::string path = join_path(folder, "blob.tmp");
  for (const Blob& blob : {example_segment(), testing::example_snapshot(), large_blob()}) {
    const auto written = write_blob(fs, path, {blob.header, blob.payload}, {});
    ASSERT_TRUE(written) << written.error().message;
    Reader reader;
    const auto read = reader.read(fs, path, expectation_of(blob.header));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->header, blob.header);
    EXPECT_TRUE(std::ranges::equal(reader.payload(), blob.payload));
    EXPECT_EQ(fs.stat(path)->bytes, read->file_bytes());
    EXPECT_EQ(read_blob_header(fs, path)->header, blob.header);
    EXPECT_EQ(verify_blob(fs, path)->header, blob.header);
    ASSERT_TRUE(fs.remove(path));
  }
}

TEST(BlobFile, RoundTripsOnTheSimulatedFileSystem) {
  const FakeClock clock;
  SimFs fs(clock);
  expect_round_trip(fs, "/");
}

TEST(BlobFile, RoundTripsOnTheRealFileSystem) {
  const testing::TemporaryFolder folder;
  PosixFs fs;
  expect_round_trip(fs, folder.path());
  Reader reader;
  const std::string path = folder.at("none.seg");
  EXPECT_EQ(reader.read(fs, path, expectation_of(example_segment().header)).error().kind,
            Kind::missing);
}

TEST(BlobFile, WritesThePinnedBytes) {
  const FakeClock clock;
  SimFs fs(clock);
  const Blob blob = example_segment();
  ASSERT_TRUE(write_blob(fs, "/a", {blob.header, blob.payload}, {}));
  EXPECT_EQ(fs.read_raw("/a"), file_of(blob));
}

TEST(BlobFile, WriterPacesItselfAfterEveryChunk) {
  const FakeClock clock;
  SimFs fs(clock);
  const Blob blob = large_blob();
  int calls = 0;
  ASSERT_TRUE(write_blob(
      fs, "/a", {blob.header, blob.payload},
      [&](Micros worked) {
        EXPECT_EQ(worked, 0);
        ++calls;
      },
      clock));
  EXPECT_EQ(calls, 3 + 1 + 3);  // checksums, header, payload
}

TEST(BlobFile, LeavesAFileThatIsThereAlone) {
  const FakeClock clock;
  SimFs fs(clock);
  const std::vector<std::uint8_t> old(3, 7);
  fs.write_raw("/a", old);
  const Blob blob = example_segment();
  const auto status = write_blob(fs, "/a", {blob.header, blob.payload}, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().fault, FsFault::exists);
  EXPECT_EQ(fs.read_raw("/a"), old);
}

TEST(BlobFile, RefusesBytesChangedAnywhere) {
  const FakeClock clock;
  SimFs fs(clock);
  std::mt19937_64 random(5);
  Blob blob = example_segment();
  blob.payload.assign(9'000, 0x33);
  blob.header.payload_bytes = blob.payload.size();
  const auto good = file_of(blob, kBlobChunkBytesMin);
  for (std::size_t at = 0; at < good.size(); at += 1 + random() % 16) {
    auto bad = good;
    bad[at] ^= static_cast<std::uint8_t>(1 << random() % 8);
    fs.write_raw("/a", bad);
    Reader reader;
    const auto read = reader.read(fs, "/a", expectation_of(blob.header));
    ASSERT_FALSE(read) << "byte " << at;
    EXPECT_TRUE(read.error().kind == Kind::damaged ||
                (read.error().kind == Kind::unknown_version && (at == 8 || at == 9)))
        << "byte " << at;
    EXPECT_TRUE(read.error().message.starts_with("/a: ")) << read.error().message;
    EXPECT_TRUE(reader.payload().empty());
    EXPECT_FALSE(verify_blob(fs, "/a"));
    EXPECT_EQ(read_blob_header(fs, "/a").has_value(), at >= kBlobAlignment);
  }
}

TEST(BlobFile, SaysWhichBytesOfThePayloadAreWrong) {
  const FakeClock clock;
  SimFs fs(clock);
  Blob blob = example_segment();
  blob.payload.assign(9'000, 0x33);
  blob.header.payload_bytes = blob.payload.size();
  auto bad = file_of(blob, kBlobChunkBytesMin);
  bad[kBlobAlignment + 8'500] ^= 1;
  fs.write_raw("/a", bad);
  EXPECT_EQ(verify_blob(fs, "/a").error().message,
            "/a: bytes [8192, 9000) of the payload are not those written");
}

TEST(BlobFile, RefusesEveryOtherLength) {
  const FakeClock clock;
  SimFs fs(clock);
  const Blob blob = example_segment();
  const auto good = file_of(blob);
  for (std::size_t size = 0; size < good.size(); size += size < 520 ? 1 : 7) {
    fs.write_raw("/a", Bytes(good).first(size));
    Reader reader;
    const auto read = reader.read(fs, "/a", expectation_of(blob.header));
    ASSERT_FALSE(read) << size << " bytes";
    EXPECT_EQ(read.error().kind, Kind::damaged) << size << " bytes";
    EXPECT_EQ(read_blob_header(fs, "/a").error().message, read.error().message);
  }
  fs.write_raw("/a", Bytes(good).first(600));
  EXPECT_EQ(verify_blob(fs, "/a").error().message,
            "/a: 600 bytes long, its header says at least 4096");
  fs.write_raw("/a", Bytes(good).first(4100));
  EXPECT_EQ(verify_blob(fs, "/a").error().message,
            "/a: 4100 bytes long, its header says at least 4144");
  auto longer = good;
  longer.push_back(0);
  fs.write_raw("/a", longer);
  EXPECT_EQ(verify_blob(fs, "/a").error().message, "/a: 4145 bytes long, its header says 4144");
}

TEST(BlobFile, LeavesNewerVersionsAlone) {
  const FakeClock clock;
  SimFs fs(clock);
  const Blob blob = example_segment();
  auto newer = file_of(blob);
  newer[8] = 2;
  for (const std::size_t size : {newer.size(), std::size_t{100}, std::size_t{10}}) {
    fs.write_raw("/a", Bytes(newer).first(size));
    Reader reader;
    EXPECT_EQ(reader.read(fs, "/a", expectation_of(blob.header)).error().kind,
              Kind::unknown_version);
  }
}

TEST(BlobFile, RefusesWhatIsNotExpected) {
  const FakeClock clock;
  SimFs fs(clock);
  const Blob blob = example_segment();
  fs.write_raw("/a", file_of(blob));
  const Identity other{sha256(Bytes(blob.payload))};
  const Tokens tokens = {1, 50, 700, 65536, 151644};
  const auto refused = [&](auto change, const std::string& message) {
    BlobExpectation expected = expectation_of(blob.header);
    change(expected);
    Reader reader;
    const auto read = reader.read(fs, "/a", expected);
    ASSERT_FALSE(read) << message;
    EXPECT_EQ(read.error().kind, Kind::damaged);
    EXPECT_EQ(read.error().message, "/a: " + message);
    EXPECT_TRUE(reader.payload().empty());
  };
  refused([](auto& e) { e.kind = BlobKind::snapshot; }, "its kind is another");
  refused([&](auto& e) { e.model = other; }, "it belongs to another model");
  refused([](auto& e) { e.layout = 1; }, "its payload is laid out differently");
  refused([](auto& e) { e.begin = 1; }, "it holds other positions");
  refused([](auto& e) { e.end = 6; }, "it holds other positions");
  refused([&](auto& e) { e.parent = other; }, "it follows another prefix");
  refused([&](auto& e) { e.tokens = tokens; }, "it holds other tokens");
  refused([](auto& e) { e.tokens = e.tokens.first(4); }, "it holds other tokens");
  refused([&](auto& e) { e.identity = other; }, "its identity is another");
}

TEST(BlobFile, NeverReadsMoreThanTheBufferHolds) {
  const FakeClock clock;
  SimFs fs(clock);
  const Blob blob = example_segment();
  fs.write_raw("/a", file_of(blob));
  auto small = BufferPool::create(1 << 20)->take(40);
  ASSERT_TRUE(small);
  if (small->capacity() >= blob.payload.size()) GTEST_SKIP() << "capacities are rounded up";
  BlobTimes times;
  const auto read = read_blob(fs, "/a", expectation_of(blob.header), *small, system_clock(), times);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "/a: a payload of 48 bytes, at most 40 were expected");
}

}  // namespace
}  // namespace samovar
