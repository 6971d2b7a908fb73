// Goal: what an id means, what stands on what, what a session alone needs. Method: records of a few
// small trees.
#include "store/store_family.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "store/store_contents.h"
#include "tests/support/store_records.h"

namespace samovar {
namespace {

using testing::model_named;
using testing::random_tokens;
using testing::session_of;
using testing::snapshot_of;

// A system prompt [0, 100) that session 1 wrote, its own line to 300, and session 2's to 250.
class StoreFamilyTest : public ::testing::Test {
 protected:
  StoreFamilyTest() {
    const Tokens first = random_tokens(1, 300);
    Tokens second = first;
    for (std::size_t i = 100; i < second.size(); ++i) second[i] += 1;
    for (BlobRecord& record : testing::line_of(model, first, {100, 200, 300})) {
      record.session = session_of(1);
      line.push_back(record);
      records.push_back(record);
    }
    for (BlobRecord& record : testing::line_of(model, second, {100, 250})) {
      record.session = session_of(2);
      if (record.begin > 0) records.push_back(record);
    }
    branch = records.back();
    records.push_back(snapshot_of(line[2], AnchorKind::history_end, session_of(1)));
    records.push_back(snapshot_of(branch, AnchorKind::history_end, session_of(2)));
  }
  static std::vector<BlobKey> keys(const std::vector<BlobRecord>& some) {
    std::vector<BlobKey> keys;
    for (const BlobRecord& record : some) keys.push_back(key_of(record));
    std::ranges::sort(keys);
    return keys;
  }
  static std::vector<BlobKey> sorted(std::vector<BlobKey> keys) {
    std::ranges::sort(keys);
    return keys;
  }
  [[nodiscard]] BlobRecord snapshot(const BlobRecord& segment) const {
    BlobRecord record = segment;
    record.kind = BlobKind::snapshot;
    return record;
  }

  const Fingerprint model = model_named('m');
  std::vector<BlobRecord> line;
  BlobRecord branch;
  std::vector<BlobRecord> records;
};

TEST_F(StoreFamilyTest, AChainGoesBackToTokenZeroOrIsNone) {
  const auto chain = StoreFamily(records).chain(line[2].identity);
  ASSERT_EQ(chain.size(), 3U);
  EXPECT_EQ(chain[0]->end, 100);
  EXPECT_EQ(chain[2]->end, 300);
  std::erase(records, line[1]);
  EXPECT_TRUE(StoreFamily(records).chain(line[2].identity).empty());
  EXPECT_EQ(StoreFamily(records).before(line[2].identity).size(), 1U);
}

TEST_F(StoreFamilyTest, WhatStandsOnASegmentGoesWithIt) {
  const StoreFamily family(records);
  EXPECT_EQ(family.with_dependants({key_of(line[1])}), keys({line[1], line[2], snapshot(line[2])}));
  EXPECT_EQ(family.with_dependants({key_of(line[0])}), keys(records));
  EXPECT_EQ(family.with_dependants({key_of(snapshot(line[2]))}), keys({snapshot(line[2])}))
      << "nothing stands on a snapshot";
}

TEST_F(StoreFamilyTest, ASessionAloneNeedsWhatNoOtherOneStandsOn) {
  EXPECT_EQ(sorted(StoreFamily(records).only_for(session_of(1))),
            keys({line[1], line[2], snapshot(line[2])}))
      << "the system prompt is session 2's too";
  EXPECT_EQ(sorted(StoreFamily(records).only_for(session_of(2))), keys({branch, snapshot(branch)}));
  records.push_back(snapshot_of(line[1], AnchorKind::message, session_of(3)));
  EXPECT_EQ(sorted(StoreFamily(records).only_for(session_of(1))),
            keys({line[2], snapshot(line[2])}));
}

TEST_F(StoreFamilyTest, ASessionsChainsIncludeWhatOthersWroteBeforeThem) {
  const auto chains = StoreFamily(records).chains_of(session_of(2));
  ASSERT_EQ(chains.size(), 3U);
  EXPECT_EQ(*chains[0], line[0]);
  EXPECT_EQ(*chains[1], branch);
  EXPECT_EQ(chains[2]->kind, BlobKind::snapshot);
}

TEST_F(StoreFamilyTest, ASessionEndsWhereNothingOfItGoesOn) {
  EXPECT_EQ(StoreFamily(records).tips(session_of(1)), std::vector{line[2].identity});
  EXPECT_EQ(StoreFamily(records).tips(session_of(2)), std::vector{branch.identity});
}

TEST_F(StoreFamilyTest, TheBeginningOfAnIdIsEnough) {
  const std::string hex = branch.identity.hex();
  const auto entry = find_target(records, {}, hex.substr(0, 8));
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->node, branch.identity);
  const auto session = find_target(records, {}, session_of(2).hex());
  ASSERT_TRUE(session);
  EXPECT_EQ(session->session, session_of(2));
  std::string upper = hex;
  std::ranges::transform(upper, upper.begin(), [](char c) { return std::toupper(c); });
  EXPECT_TRUE(find_target(records, {}, upper));
}

TEST_F(StoreFamilyTest, WhatIsNoIdOrNamesNothingIsSaid) {
  EXPECT_EQ(find_target(records, {}, "1234567").error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(find_target(records, {}, "not hex!").error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(find_target(records, {}, "../../../etc").error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(find_target(records, {}, std::string(64, 'f')).error().kind, ErrorKind::not_found);
}

TEST_F(StoreFamilyTest, AnAmbiguousIdListsWhatItCouldMean) {
  BlobRecord twin = line[0];
  twin.identity.bytes[20] ^= 1;
  records.push_back(twin);
  const auto found = find_target(records, {}, line[0].identity.hex().substr(0, 12));
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find(twin.identity.hex()), std::string::npos);
  EXPECT_NE(found.error().message.find(line[0].identity.hex()), std::string::npos);
}

TEST_F(StoreFamilyTest, APinOnSomethingThatIsGoneCanBeNamed) {
  Identity gone;
  gone.bytes.fill(0xEE);
  const auto found = find_target(records, {gone}, "eeeeeeee");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->node, gone);
}

TEST_F(StoreFamilyTest, ASessionIsFoundByItsKeyOrItsId) {
  records[0].session = session_of_key("agent 7");
  EXPECT_EQ(*find_session(records, "agent 7"), session_of_key("agent 7"));
  EXPECT_EQ(*find_session(records, session_of(2).hex().substr(0, 10)), session_of(2));
  EXPECT_FALSE(find_session(records, "agent 8"));
  EXPECT_FALSE(find_session(records, ""));
}

TEST_F(StoreFamilyTest, AModelIsFoundByItsNameOrItsFingerprint) {
  records[0].label = "tiny";
  EXPECT_EQ(*find_models(records, "tiny"), std::vector{model});
  EXPECT_EQ(*find_models(records, model.hex().substr(0, 8)), std::vector{model});
  EXPECT_FALSE(find_models(records, "large"));
}

TEST_F(StoreFamilyTest, SessionsAreSummedUpNewestFirst) {
  StoreContents contents;
  contents.records = records;
  for (BlobRecord& record : contents.records) {
    record.last_used = record.session == session_of(1) ? 10 : 20;
  }
  contents.pins = {branch.identity};
  const auto sessions = summarise_sessions(contents);
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].session, session_of(2));
  EXPECT_EQ(sessions[0].tokens, 250);
  EXPECT_EQ(sessions[0].snapshots, 1U);
  EXPECT_TRUE(sessions[0].pinned);
  EXPECT_EQ(sessions[1].segments, 3U);
  EXPECT_TRUE(sessions[1].pinned) << "its first segment is before the pin";
  const auto models = summarise_models(contents);
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].sessions, 2U);
  EXPECT_EQ(models[0].bytes, bytes_that_count(contents));
}

}  // namespace
}  // namespace samovar
