// Goal: a session that grows keeps its last tip and sparse older ones, and nothing that somebody
// else may come back to is given up. Method: one line of four turns, varied.
#include <algorithm>

#include "store/store_index.h"
#include "tests/support/store_records.h"

namespace samovar {
namespace {

using namespace testing;

class SupersededTest : public ::testing::Test {
 protected:
  SupersededTest() {
    line = line_of(model, prompt, {1000, 1300, 1600, 1900});
    for (const BlobRecord& segment : line) index.add(segment, false);
  }
  void snapshot(std::size_t at, AnchorKind anchor = AnchorKind::history_end, int session = 1,
                bool pending = false) {
    index.add(snapshot_of(line[at], anchor, session_of(session)), pending);
  }
  // Ends of what the tip at line[3] makes superfluous.
  std::vector<Position> superseded(Position spacing = 2048) {
    std::vector<Position> ends;
    for (const BlobKey& key : index.superseded_by(line[3].identity, spacing)) {
      EXPECT_EQ(key.kind, BlobKind::snapshot);
      ends.push_back(index.find(key)->end);
    }
    return ends;
  }

  const Fingerprint model = model_named('m');
  const Tokens prompt = random_tokens(1, 3000);
  std::vector<BlobRecord> line;
  StoreIndex index;
};

TEST_F(SupersededTest, OlderTipsOfTheSessionGo) {
  snapshot(0, AnchorKind::system);
  snapshot(1);
  snapshot(2, AnchorKind::reply_end);
  snapshot(3);
  EXPECT_EQ(superseded(), (std::vector<Position>{1300, 1600}));
}

TEST_F(SupersededTest, AnchorsThatAreNoTipsStay) {
  snapshot(0, AnchorKind::system);
  snapshot(1, AnchorKind::message);
  snapshot(2, AnchorKind::grid);
  snapshot(3);
  EXPECT_TRUE(superseded().empty());
}

TEST_F(SupersededTest, OtherSessionsTipsStay) {
  snapshot(1, AnchorKind::history_end, 2);
  snapshot(2, AnchorKind::history_end, 0);
  snapshot(3);
  EXPECT_TRUE(superseded().empty());
}

TEST_F(SupersededTest, UnknownSessionSupersedesNothing) {
  snapshot(2, AnchorKind::history_end, 0);
  snapshot(3, AnchorKind::history_end, 0);
  EXPECT_TRUE(superseded().empty());
}

TEST_F(SupersededTest, ATipThatABranchLeavesFromStays) {
  snapshot(1);
  snapshot(2);
  snapshot(3);
  Tokens other = prompt;
  other[1700] ^= 1;
  index.add(segment_of(model, line[2].identity, other, 1600, 1800), true);
  EXPECT_EQ(superseded(), (std::vector<Position>{1300}));
}

TEST_F(SupersededTest, TipsStayAtTheSpacingFromTheOneThatStaysBefore) {
  snapshot(0);
  snapshot(1);
  snapshot(2);
  snapshot(3);
  EXPECT_EQ(superseded(600), (std::vector<Position>{1300}));
  EXPECT_EQ(superseded(300), (std::vector<Position>{}));
}

TEST_F(SupersededTest, HeldPinnedAndPendingOnesStay) {
  snapshot(0);
  snapshot(1, AnchorKind::history_end, 1, true);
  snapshot(2);
  snapshot(3);
  index.pin(line[0].identity);
  index.hold({{BlobKind::snapshot, line[2].identity}});
  EXPECT_TRUE(superseded().empty());
  index.unpin(line[0].identity);
  index.release({{BlobKind::snapshot, line[2].identity}});
  EXPECT_EQ(superseded(), (std::vector<Position>{1000, 1600}));
}

TEST_F(SupersededTest, NoTipSupersedesNothing) {
  snapshot(2);
  EXPECT_TRUE(superseded().empty());
  EXPECT_TRUE(index.superseded_by(model, 1000).empty());
}

}  // namespace
}  // namespace samovar
