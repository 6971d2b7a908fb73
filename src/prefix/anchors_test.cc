// Goal: the byte budget holds, shared snapshots are counted once, and what is dropped is what costs
// least to lose.
#include "prefix/anchors.h"

#include <random>
#include <set>

namespace samovar {
namespace {

class Blob final : public Snapshot {
 public:
  Blob(Position position, std::size_t bytes) : position_(position), bytes_(bytes) {}
  [[nodiscard]] Position position() const override { return position_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  Position position_;
  std::size_t bytes_;
};

Anchor anchor(Position position, AnchorKind kind = AnchorKind::message, std::size_t bytes = 10) {
  return {.position = position, .kind = kind, .snapshot = std::make_shared<Blob>(position, bytes)};
}

std::vector<Position> positions(const Anchors& anchors, SeqId sequence) {
  std::vector<Position> result;
  for (const Anchor& each : anchors.of(sequence)) result.push_back(each.position);
  return result;
}

const auto kEqual = [](SeqId) { return 1.0; };
const auto kIdle = [](SeqId) { return false; };

TEST(Anchors, BestIsTheLastOneAtOrBeforeTheLimit) {
  Anchors anchors(1, 1000);
  for (const Position at : {300, 100, 200}) anchors.add(0, anchor(at));
  EXPECT_EQ(anchors.best(0, 99), nullptr);
  EXPECT_EQ(anchors.best(0, 100)->position, 100);
  EXPECT_EQ(anchors.best(0, 299)->position, 200);
  EXPECT_EQ(anchors.at(0, 299), nullptr);
}

TEST(Anchors, ThinningDropsTheOneNearestItsPredecessor) {
  Anchors anchors(1, 40);
  for (const Position at : {1000, 2000, 2100, 3000, 4000}) anchors.add(0, anchor(at));
  EXPECT_EQ(anchors.thin(kEqual, kIdle), 1);
  EXPECT_EQ(positions(anchors, 0), (std::vector<Position>{1000, 2000, 3000, 4000}));
}

TEST(Anchors, ThinningKeepsSystemAndNewestWhileOthersRemain) {
  Anchors anchors(1, 20);
  anchors.add(0, anchor(50, AnchorKind::system));
  for (const Position at : {1000, 2000, 3000, 3001}) anchors.add(0, anchor(at));
  anchors.thin(kEqual, kIdle);
  EXPECT_EQ(positions(anchors, 0), (std::vector<Position>{50, 3001}));
}

TEST(Anchors, ThinningSparesWhatIsKnownToChangeWhileItIsOfUse) {
  Anchors anchors(2, 30);
  anchors.add(0, anchor(900, AnchorKind::divergence));
  for (const Position at : {1000, 2000, 3000}) anchors.add(0, anchor(at));
  anchors.thin(kEqual, kIdle);
  EXPECT_EQ(positions(anchors, 0), (std::vector<Position>{900, 2000, 3000}));
  // Of use: forks carry it along, and it stays.
  for (int turn = 0; turn < 100; ++turn) anchors.note_resume(0, 900);
  anchors.fork(0, 1, 1000);
  EXPECT_EQ(anchors.of(1).front().kind, AnchorKind::divergence);
  // Of none: it is like any other after some turns, in that sequence only.
  for (int turn = 0; turn < 16; ++turn) anchors.note_resume(0, 2000);
  EXPECT_EQ(anchors.of(0).front().kind, AnchorKind::divergence);
  anchors.note_resume(0, 2000);
  EXPECT_EQ(anchors.of(0).front().kind, AnchorKind::grid);
  EXPECT_EQ(anchors.of(1).front().kind, AnchorKind::divergence);
}

TEST(Anchors, AnOrdinaryAnchorIsRaisedToOneThatLasts) {
  Anchors anchors(1, 1000);
  anchors.add(0, anchor(100));
  anchors.add(0, anchor(100, AnchorKind::divergence));
  EXPECT_EQ(anchors.of(0).front().kind, AnchorKind::divergence);
  anchors.add(0, anchor(100, AnchorKind::system));
  anchors.add(0, anchor(100, AnchorKind::divergence));
  EXPECT_EQ(anchors.of(0).front().kind, AnchorKind::system);
  EXPECT_EQ(anchors.bytes(), 10U);
}

TEST(Anchors, UnlikelySessionsAreThinnedFirst) {
  Anchors anchors(2, 50);
  for (const Position at : {1000, 2000, 3000}) {
    anchors.add(0, anchor(at));
    anchors.add(1, anchor(at));
  }
  anchors.thin([](SeqId id) { return id == 0 ? 0.01 : 1.0; }, kIdle);
  EXPECT_EQ(anchors.of(0).size(), 2U);
  EXPECT_EQ(anchors.of(1).size(), 3U);
}

TEST(Anchors, GuardedAnchorsOfARunningSequenceStayEvenOverBudget) {
  Anchors anchors(1, 5);
  anchors.add(0, anchor(50, AnchorKind::system));
  anchors.add(0, anchor(1000));
  EXPECT_EQ(anchors.thin(kEqual, [](SeqId) { return true; }), 0);
  EXPECT_EQ(anchors.of(0).size(), 2U);
  EXPECT_EQ(anchors.thin(kEqual, kIdle), 2);
}

TEST(Anchors, SharedSnapshotsAreCountedOnceAndDroppedTogether) {
  Anchors anchors(2, 1000);
  for (const Position at : {100, 200, 300}) anchors.add(0, anchor(at));
  anchors.fork(0, 1, 250);
  EXPECT_EQ(positions(anchors, 1), (std::vector<Position>{100, 200}));
  EXPECT_EQ(anchors.bytes(), 30U);
  anchors.truncate(0, 150);
  EXPECT_EQ(anchors.bytes(), 20U);
  anchors.truncate(0, 0);
  anchors.truncate(1, 0);
  EXPECT_EQ(anchors.bytes(), 0U);
}

TEST(Anchors, BytesAreAlwaysThoseOfTheDistinctSnapshots) {
  std::mt19937 random(5);
  Anchors anchors(4, 400);
  for (int step = 0; step < 5000; ++step) {
    const auto a = static_cast<SeqId>(random() % 4);
    const auto b = static_cast<SeqId>(random() % 4);
    const auto at = static_cast<Position>(random() % 5000);
    switch (random() % 4) {
      case 0:
        anchors.truncate(a, at);
        break;
      case 1:
        if (a != b) {
          anchors.truncate(b, 0);
          anchors.fork(a, b, at);
        }
        break;
      default:
        anchors.add(a, anchor(at, AnchorKind::message, 1 + random() % 30));
    }
    anchors.thin(kEqual, kIdle);
    std::set<const Snapshot*> distinct;
    std::size_t bytes = 0;
    for (SeqId id = 0; id < 4; ++id) {
      for (const Anchor& each : anchors.of(id)) {
        if (distinct.insert(each.snapshot.get()).second) bytes += each.snapshot->bytes();
      }
    }
    ASSERT_EQ(anchors.bytes(), bytes);
    ASSERT_LE(bytes, 400U);
  }
}

}  // namespace
}  // namespace samovar
