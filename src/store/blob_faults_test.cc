// Goal: whatever the disk does, a writer leaves nothing behind, a reader gives nothing out and says
// whose fault it is, and a crash at any moment leaves no incomplete file under a final name (S1,
// S9).
// Method: a simulated file system that fails, fills up or crashes at every single operation.
#include <gtest/gtest.h>

#include <algorithm>

#include "store/blob_file.h"
#include "tests/support/blobs.h"
#include "tests/support/sim_fs.h"

namespace samovar {
namespace {

using testing::Blob;
using testing::expectation_of;
using testing::file_of;
using Kind = BlobReadError::Kind;
using Op = SimFs::Op;

constexpr FsFault kFaults[] = {FsFault::full, FsFault::read_only, FsFault::denied, FsFault::io,
                               FsFault::other};

Blob some_blob(std::size_t payload) {
  Blob blob = testing::example_segment();
  blob.payload.assign(payload, 0x77);
  blob.header.payload_bytes = payload;
  return blob;
}

class BlobFaults : public ::testing::Test {
 protected:
  FsStatus write(const Blob& blob) {
    return write_blob(fs_, "/a.tmp", {blob.header, blob.payload}, {}, clock_);
  }
  std::expected<DecodedBlob, BlobReadError> read(const Blob& blob) {
    auto result = read_blob(fs_, "/a", expectation_of(blob.header), buffer_, clock_, times_);
    EXPECT_EQ(buffer_.size(), result ? blob.payload.size() : 0U);
    return result;
  }

  const FakeClock clock_;
  SimFs fs_{clock_};
  Buffer buffer_ = std::move(*BufferPool::create(4 << 20)->take(4 << 20));
  BlobTimes times_;
};

TEST_F(BlobFaults, AFailedWriteSaysWhyAndLeavesNothing) {
  const Blob blob = some_blob(2 * kBlobChunkBytes);
  ASSERT_TRUE(write(blob));
  const std::uint64_t writes = fs_.calls(Op::write);
  ASSERT_TRUE(fs_.remove("/a.tmp"));
  const auto before = fs_.paths();
  for (const FsFault fault : kFaults) {
    for (const auto& [op, calls] :
         {std::pair{Op::create, std::uint64_t{1}}, {Op::write, writes}, {Op::sync, 1}}) {
      for (std::uint64_t call = 0; call < calls; ++call) {
        fs_.fail_next(op, fault, call);
        const FsStatus status = write(blob);
        ASSERT_FALSE(status);
        EXPECT_EQ(status.error().fault, fault);
        EXPECT_NE(status.error().message.find("/a.tmp"), std::string::npos);
        EXPECT_EQ(fs_.paths(), before);
        fs_.clear_faults();
      }
    }
  }
  EXPECT_TRUE(write(blob));
}

TEST_F(BlobFaults, ADiskThatFillsUpAtAnyBlockGetsItsSpaceBack) {
  const Blob blob = some_blob(10'000);
  const std::uint64_t blocks = (file_of(blob).size() + 4095) / 4096;
  for (std::uint64_t free = 0; free < blocks; ++free) {
    fs_.set_disk_bytes(free * 4096);
    const FsStatus status = write(blob);
    ASSERT_FALSE(status) << free << " blocks";
    EXPECT_EQ(status.error().fault, FsFault::full);
    EXPECT_EQ(fs_.used_bytes(), 0U);
  }
  fs_.set_disk_bytes(blocks * 4096);
  EXPECT_TRUE(write(blob));
}

TEST_F(BlobFaults, AWriteCutShortAnywhereLeavesNothing) {
  const Blob blob = some_blob(3'000);
  for (std::uint64_t stored = 0; stored < 4096; stored += 13) {
    for (const std::uint64_t call : {0, 1}) {
      fs_.shorten_write(std::min<std::uint64_t>(stored, call == 0 ? 4095 : 2999), call);
      EXPECT_FALSE(write(blob));
      EXPECT_EQ(fs_.read_raw("/a.tmp"), std::nullopt);
      fs_.clear_faults();
    }
  }
}

TEST_F(BlobFaults, TheFirstFaultIsReportedThoughCleaningUpFailsToo) {
  fs_.fail_next(Op::write, FsFault::full);
  fs_.fail_next(Op::remove, FsFault::io);
  EXPECT_EQ(write(some_blob(100)).error().fault, FsFault::full);
}

TEST_F(BlobFaults, AFailingDiskIsNotADamagedFile) {
  const Blob blob = some_blob(2 * kBlobChunkBytes + 5);
  fs_.write_raw("/a", file_of(blob));
  ASSERT_TRUE(read(blob));
  const std::uint64_t reads = fs_.calls(Op::read);
  for (const FsFault fault : kFaults) {
    for (const auto& [op, calls] : {std::pair{Op::open, std::uint64_t{1}}, {Op::read, reads}}) {
      for (std::uint64_t call = 0; call < calls; ++call) {
        fs_.fail_next(op, fault, call);
        const auto result = read(blob);
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().kind, Kind::unreadable);
        EXPECT_NE(result.error().message.find("/a"), std::string::npos);
        fs_.clear_faults();
        fs_.fail_next(op, fault, call);
        EXPECT_EQ(verify_blob(fs_, "/a").error().kind, Kind::unreadable);
        fs_.clear_faults();
      }
    }
    fs_.fail_next(Op::read, fault);
    EXPECT_EQ(read_blob_header(fs_, "/a").error().kind, Kind::unreadable);
    fs_.clear_faults();
  }
  EXPECT_TRUE(read(blob));
}

TEST_F(BlobFaults, NoFileIsMissingAndNothingElse) {
  const Blob blob = some_blob(10);
  EXPECT_EQ(read(blob).error().kind, Kind::missing);
  EXPECT_EQ(verify_blob(fs_, "/a").error().kind, Kind::missing);
  EXPECT_EQ(read_blob_header(fs_, "/a").error().kind, Kind::missing);
  EXPECT_NE(read(blob).error().message.find("/a"), std::string::npos);
}

TEST_F(BlobFaults, AFileThatEndsEarlierThanItSaidIsDamaged) {
  const Blob blob = some_blob(2 * kBlobChunkBytes + 5);
  fs_.write_raw("/a", file_of(blob));
  ASSERT_TRUE(read(blob));
  const std::uint64_t reads = fs_.calls(Op::read);
  for (std::uint64_t call = 0; call < reads; ++call) {
    for (const std::uint64_t given : {0, 1, 4}) {
      fs_.shorten_read(given, call);
      const auto result = read(blob);
      ASSERT_FALSE(result);
      EXPECT_EQ(result.error().kind, Kind::damaged);
      EXPECT_TRUE(result.error().message.starts_with("/a: ends at byte "))
          << result.error().message;
      fs_.clear_faults();
    }
  }
}

TEST_F(BlobFaults, ACrashAtAnyMomentLeavesNoIncompleteFileUnderItsName) {
  const Blob blob = some_blob(9'000);
  int published = 0;
  for (std::uint64_t moment = 0; moment < 8; ++moment) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      SimFs fs(clock_);
      ASSERT_TRUE(fs.make_directory("/m"));
      fs.sync_all();
      std::uint64_t operations = 0;
      fs.set_hook([&](Op, const std::string&, std::uint64_t) -> std::optional<FsFault> {
        if (operations == moment) fs.crash(seed);
        // The process died with the machine.
        return operations++ >= moment ? std::optional(FsFault::io) : std::nullopt;
      });
      const bool done = write_blob(fs, "/m/a.tmp", {blob.header, blob.payload}, {}, clock_) &&
                        fs.rename("/m/a.tmp", "/m/a") && fs.sync_directory("/m");
      EXPECT_EQ(done, operations <= moment);
      fs.clear_faults();
      fs.crash(seed);
      const auto verified = verify_blob(fs, "/m/a");
      published += verified.has_value();
      const bool all_done = operations <= moment;
      EXPECT_TRUE(verified || (!all_done && verified.error().kind == Kind::missing))
          << verified.error().message;
    }
  }
  EXPECT_GT(published, 0);
}

}  // namespace
}  // namespace samovar
