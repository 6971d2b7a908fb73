// Goal: cuts depend on the prefix alone. Method: random prompts, extended at random, must keep
// every cut of their shared prefix; plus the rule's own bounds.
#include "prefix/splits.h"

#include <algorithm>
#include <random>

namespace samovar {
namespace {

constexpr Position kUbatch = 512;
constexpr Position kSpacing = 96;

Prompt prompt_of(Position size, std::vector<Position> starts) {
  Prompt prompt;
  prompt.tokens.resize(static_cast<std::size_t>(size));
  prompt.message_starts = std::move(starts);
  return prompt;
}

TEST(CanonicalSplits, LongMessageIsCutByTheGrid) {
  EXPECT_EQ(canonical_cuts(prompt_of(1300, {0}), kUbatch, kSpacing),
            (std::vector<Position>{512, 1024}));
}

TEST(CanonicalSplits, MessageStartIsACutAndRestartsTheGrid) {
  EXPECT_EQ(canonical_cuts(prompt_of(1000, {0, 100, 400}), kUbatch, kSpacing),
            (std::vector<Position>{100, 400, 912}));
}

TEST(CanonicalSplits, CloseMessageStartsAreNotCut) {
  EXPECT_EQ(canonical_cuts(prompt_of(300, {0, 100, 150, 190, 200}), kUbatch, kSpacing),
            (std::vector<Position>{100, 200}));
}

TEST(CanonicalSplits, EveryStartOfAReplyIsACut) {
  Prompt prompt = prompt_of(300, {0, 100, 150, 160, 200});
  prompt.reply_starts = {0, 150, 200};
  EXPECT_EQ(canonical_cuts(prompt, kUbatch, kSpacing), (std::vector<Position>{100, 150, 200}));
}

TEST(CanonicalSplits, EndOfPromptIsNoCutUnlessTheGridPutsOneThere) {
  EXPECT_TRUE(canonical_cuts(prompt_of(511, {0}), kUbatch, kSpacing).empty());
  EXPECT_EQ(canonical_cuts(prompt_of(512, {0}), kUbatch, kSpacing), (std::vector<Position>{512}));
}

TEST(CanonicalSplits, DependOnThePrefixAlone) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Position> starts{0};
    const Position size = 1 + static_cast<Position>(random() % 6000);
    for (Position at = 0; at < size;) {
      at += 1 + static_cast<Position>(random() % (random() % 3 == 0 ? 1500 : 120));
      if (at < size) starts.push_back(at);
    }
    std::vector<Position> replies;
    for (const Position start : starts) {
      if (random() % 3 == 0) replies.push_back(start);
    }
    Prompt whole = prompt_of(size, starts);
    whole.reply_starts = replies;
    const auto cuts = canonical_cuts(whole, kUbatch, kSpacing);
    const Position shared = 1 + static_cast<Position>(random() % size);
    // The shorter prompt knows only the message starts inside it.
    std::erase_if(starts, [&](Position start) { return start >= shared; });
    auto expected = cuts;
    std::erase_if(expected, [&](Position cut) { return cut > shared; });
    std::erase_if(replies, [&](Position start) { return start >= shared; });
    Prompt part = prompt_of(shared, starts);
    part.reply_starts = replies;
    auto actual = canonical_cuts(part, kUbatch, kSpacing);
    // A message that starts exactly at the end is seen only by the longer prompt.
    if (!expected.empty() && expected.back() == shared) expected.pop_back();
    if (!actual.empty() && actual.back() == shared) actual.pop_back();
    ASSERT_EQ(actual, expected) << "round " << round;
    Position last = 0;
    for (const Position cut : cuts) {
      ASSERT_GT(cut, last);
      ASSERT_LE(cut - last, kUbatch);
      last = cut;
    }
  }
}

TEST(CanonicalSplits, CallsEndAtCutsAndNeverExceedTheUbatch) {
  const auto cuts = canonical_cuts(prompt_of(2000, {0, 700}), kUbatch, kSpacing);
  EXPECT_EQ(call_end(cuts, 0, 2000, kUbatch), 512);
  EXPECT_EQ(call_end(cuts, 512, 2000, kUbatch), 700);
  EXPECT_EQ(call_end(cuts, 600, 2000, kUbatch), 700);  // from inside: up to the next cut
  EXPECT_EQ(call_end(cuts, 1724, 2000, kUbatch), 2000);
  EXPECT_EQ(last_cut_at(cuts, 699), 512);
  EXPECT_EQ(last_cut_at(cuts, 700), 700);
  EXPECT_EQ(last_cut_at(cuts, 511), 0);
}

}  // namespace
}  // namespace samovar
