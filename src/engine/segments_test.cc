// Goal: a sequence that went out as segments and a snapshot comes back as the same memory, byte for
// byte. Method: export in several ranges, empty everything, import, and compare a greedy reply with
// cold; then the same in the presence of others.
#include "engine/segments.h"

#include <gtest/gtest.h>

#include "engine/engine_testing.h"

namespace samovar::testing {
namespace {

class SegmentsTest : public ::testing::TestWithParam<std::string> {
 protected:
  using Blob = std::vector<std::uint8_t>;

  void SetUp() override {
    engine_ = open_or_fail(small_options(GetParam()));
    ASSERT_NE(engine_, nullptr);
  }

  // The sequence's first `ends.back()` tokens as segments that end there.
  std::vector<Blob> out(SeqId sequence, const std::vector<Position>& ends) {
    std::vector<Blob> segments;
    Position begin = 0;
    for (const Position end : ends) {
      Blob& segment = segments.emplace_back();
      const Status status = engine_->export_segment(sequence, begin, end, [&](std::size_t bytes) {
        segment.resize(bytes);
        return MutableBytes(segment);
      });
      EXPECT_TRUE(status) << status.error().describe();
      begin = end;
    }
    return segments;
  }

  void back(SeqId sequence, const std::vector<Blob>& segments, const std::vector<Position>& ends,
            const Blob& state) {
    Position begin = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      ASSERT_TRUE(engine_->import_segment(sequence, begin, ends[i], segments[i]));
      begin = ends[i];
    }
    const SnapshotPtr snapshot = state.empty() ? nullptr : engine_->make_snapshot(begin, state);
    ASSERT_EQ(engine_->rewind(sequence, begin, snapshot.get()), EngineStatus::ok);
    EXPECT_EQ(engine_->length(sequence), begin);
  }

  Blob state_of(SeqId sequence) {
    const SnapshotPtr snapshot = take(*engine_, sequence);
    if (snapshot == nullptr) {
      return {};
    }
    const auto bytes = engine_->snapshot_bytes(*snapshot);
    return {bytes.begin(), bytes.end()};
  }

  std::unique_ptr<LlamaEngine> engine_;
};

TEST_P(SegmentsTest, ComesBackByteForByte) {
  const Tokens prompt = some_tokens(1, 700);
  const Tokens tail = some_tokens(2, 50);
  ASSERT_EQ(feed(*engine_, 0, prompt), EngineStatus::ok);
  ASSERT_EQ(feed(*engine_, 0, tail), EngineStatus::ok);
  const Reply expected = reply_of(*engine_, 0, 6);
  engine_->drop(0);

  const std::vector<Position> ends = {64, 100, 512, 699, 700};
  ASSERT_EQ(feed(*engine_, 0, prompt), EngineStatus::ok);
  const Blob state = state_of(0);
  const std::vector<Blob> segments = out(0, ends);
  engine_->drop(0);
  back(0, segments, ends, state);
  ASSERT_EQ(feed(*engine_, 0, tail), EngineStatus::ok);
  EXPECT_TRUE(reply_of(*engine_, 0, 6) == expected);
}

TEST_P(SegmentsTest, ExportingDisturbsNobodyAndARestoredSequenceIsLikeAnyOther) {
  const Tokens prompt = some_tokens(3, 320);
  ASSERT_EQ(feed(*engine_, 0, prompt), EngineStatus::ok);
  const Reply expected = reply_of(*engine_, 0, 6);
  engine_->drop(0);

  ASSERT_EQ(feed(*engine_, 0, TokenSpan(prompt).first(256)), EngineStatus::ok);
  const Blob state = state_of(0);
  const std::vector<Blob> segments = out(0, {128, 256});
  ASSERT_EQ(feed(*engine_, 0, TokenSpan(prompt).subspan(256)), EngineStatus::ok);
  EXPECT_TRUE(reply_of(*engine_, 0, 6) == expected);

  ASSERT_EQ(feed(*engine_, 1, some_tokens(4, 300)), EngineStatus::ok);
  back(2, segments, {128, 256}, state);
  const SnapshotPtr anchor = take(*engine_, 2);
  ASSERT_EQ(engine_->fork(2, 3, 256, anchor.get()), EngineStatus::ok);
  engine_->drop(2);
  ASSERT_EQ(feed(*engine_, 3, TokenSpan(prompt).subspan(256)), EngineStatus::ok);
  const Reply restored = reply_of(*engine_, 3, 6, expected.tokens);
  EXPECT_TRUE(same_up_to_rounding(restored, expected));
}

TEST_P(SegmentsTest, ASegmentHoldsItsOwnTokensOnly) {
  ASSERT_EQ(feed(*engine_, 0, some_tokens(5, 640)), EngineStatus::ok);
  const std::vector<Blob> segments = out(0, {64, 128, 192, 256, 320, 384, 448, 512, 576, 640});
  for (const Blob& segment : segments) {
    EXPECT_EQ(segment.size(), segments.front().size()) << "no state, no neighbours";
  }
}

TEST_P(SegmentsTest, WithoutRoomNothingIsExportedAndNothingDisturbed) {
  ASSERT_EQ(feed(*engine_, 0, some_tokens(8, 100)), EngineStatus::ok);
  const auto no_room = [](std::size_t) { return MutableBytes{}; };
  EXPECT_FALSE(engine_->export_segment(0, 0, 64, no_room));
  EXPECT_EQ(out(0, {64, 100}).size(), 2U);
  EXPECT_EQ(feed(*engine_, 0, some_tokens(9, 20)), EngineStatus::ok);
}

TEST_P(SegmentsTest, ATokenTakesAboutWhatTheLimitsSay) {
  ASSERT_EQ(feed(*engine_, 0, some_tokens(10, 256)), EngineStatus::ok);
  const std::size_t bytes = out(0, {256}).front().size();
  EXPECT_NEAR(static_cast<double>(bytes),
              256.0 * static_cast<double>(engine_->limits().token_bytes),
              0.1 * static_cast<double>(bytes));
}

TEST_P(SegmentsTest, ADamagedSegmentIsRefusedAndTheRestStays) {
  ASSERT_EQ(feed(*engine_, 0, some_tokens(6, 192)), EngineStatus::ok);
  const Blob state = state_of(0);
  std::vector<Blob> segments = out(0, {128, 192});
  engine_->drop(0);
  ASSERT_TRUE(engine_->import_segment(0, 0, 128, segments[0]));
  Blob cut = segments[1];
  cut.resize(cut.size() / 2);
  EXPECT_FALSE(engine_->import_segment(0, 128, 192, cut));
  Blob wrong = segments[1];
  wrong[8] ^= 0xffU;  // libllama's own magic number
  EXPECT_FALSE(engine_->import_segment(0, 128, 192, wrong));
  EXPECT_EQ(engine_->length(0), 128);
  ASSERT_TRUE(engine_->import_segment(0, 128, 192, segments[1]));
  const SnapshotPtr snapshot = state.empty() ? nullptr : engine_->make_snapshot(192, state);
  EXPECT_EQ(engine_->rewind(0, 192, snapshot.get()), EngineStatus::ok);
  EXPECT_EQ(feed(*engine_, 0, some_tokens(7, 20)), EngineStatus::ok);
}

INSTANTIATE_TEST_SUITE_P(Models, SegmentsTest, ::testing::ValuesIn(tiny_models()), model_test_name);

}  // namespace
}  // namespace samovar::testing
