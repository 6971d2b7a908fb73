// Goal: the picture of an index has every file of the model once, whole chains only, and tells what
// goes first as eviction does. Method: small forests by hand.
#include "store/store_picture.h"

#include <algorithm>

#include "store/store_index.h"
#include "tests/support/store_records.h"

namespace samovar {
namespace {

using namespace testing;

const Fingerprint kModel = model_named('m');

class StorePictureTest : public ::testing::Test {
 protected:
  std::vector<BlobRecord> put(TokenSpan along, const std::vector<Position>& ends,
                              const Fingerprint& model = kModel) {
    std::vector<BlobRecord> line = line_of(model, along, ends);
    for (const BlobRecord& segment : line) index.add(segment, false);
    return line;
  }
  [[nodiscard]] StorePicture picture() const {
    return make_picture(index.copy(), kModel, true, kNow);
  }

  Tokens prompt = random_tokens(1, 1000);
  StoreIndex index;
};

TEST_F(StorePictureTest, OfNothingIsEmpty) {
  EXPECT_TRUE(picture().places.empty());
  EXPECT_TRUE(picture().evict_next.empty());
}

TEST_F(StorePictureTest, HasTheModelsPlacesFromTheRootOn) {
  const auto line = put(prompt, {100, 250, 400});
  BlobRecord snapshot = snapshot_of(line[1], AnchorKind::history_end, session_of(7));
  snapshot.uses = 3;
  index.add(snapshot, true);
  put(random_tokens(2, 300), {300}, model_named('o'));
  const StorePicture picture = this->picture();
  ASSERT_EQ(picture.places.size(), 3U);
  EXPECT_EQ(picture.places[0].parent, Identity{});
  EXPECT_EQ(picture.places[2].parent, line[1].identity);
  const StoredPlace& tip = picture.places[1];
  EXPECT_EQ(tip.identity, line[1].identity);
  EXPECT_EQ(tip.begin, 100);
  EXPECT_EQ(tip.end, 250);
  EXPECT_EQ(tip.bytes, on_disk(line[1].file_bytes));
  EXPECT_EQ(tip.snapshot_bytes, on_disk(snapshot.file_bytes));
  EXPECT_EQ(tip.anchor, AnchorKind::history_end);
  EXPECT_EQ(tip.session, session_of(7));
  EXPECT_EQ(tip.hits, 3U);
  EXPECT_TRUE(tip.writing);
  EXPECT_FALSE(tip.pinned);
  EXPECT_FALSE(picture.places[0].writing);
}

TEST_F(StorePictureTest, LeavesOutWhatNothingCanMatch) {
  const auto line = put(prompt, {100, 250, 400});
  index.erase({BlobKind::segment, line[1].identity});
  const StorePicture picture = this->picture();
  ASSERT_EQ(picture.places.size(), 1U);
  EXPECT_EQ(picture.places[0].end, 100);
}

TEST_F(StorePictureTest, TellsWhatIsPinned) {
  const auto line = put(prompt, {100, 250, 400});
  index.pin(line[1].identity);
  const auto places = picture().places;
  ASSERT_EQ(places.size(), 3U);
  EXPECT_TRUE(places[0].pinned);
  EXPECT_TRUE(places[1].pinned);
  EXPECT_FALSE(places[2].pinned);
}

TEST_F(StorePictureTest, TheOrderIsThatOfEviction) {
  for (std::uint32_t i = 0; i < 100; ++i) {
    const auto line = put(random_tokens(10 + i, 200), {100, 200});
    BlobRecord snapshot = snapshot_of(line[1]);
    snapshot.last_used = kNow - 60 * static_cast<std::int64_t>((i * 37) % 100);
    index.add(snapshot, false);
  }
  const StorePicture picture = this->picture();
  ASSERT_EQ(picture.evict_next.size(), kEvictNextMax);
  std::vector<Identity> expected;
  for (const BlobKey& key : index.eviction_order(index.bytes(), kNow)) {
    if (std::ranges::find(expected, key.identity) == expected.end()) {
      expected.push_back(key.identity);
    }
  }
  expected.resize(kEvictNextMax);
  EXPECT_EQ(picture.evict_next, expected);
}

}  // namespace
}  // namespace samovar
