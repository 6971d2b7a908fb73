#include "prefix/segment_ends.h"

#include <algorithm>
#include <random>

#include "prefix/splits.h"

namespace samovar {
namespace {

// A prompt of messages with the given lengths, every second one a reply.
Prompt prompt_of(const std::vector<Position>& lengths) {
  Prompt prompt;
  Position at = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    prompt.message_starts.push_back(at);
    if (i > 0 && i % 2 == 0) prompt.reply_starts.push_back(at);
    at += lengths[i];
    if (i == 0) prompt.system_end = at;
  }
  prompt.tokens.resize(static_cast<std::size_t>(at));
  prompt.primer_start = prompt.message_starts.back();
  return prompt;
}

TEST(SegmentEnds, RepliesAndTheSystemPromptAlwaysEndASegment) {
  const Prompt prompt = prompt_of({700, 100, 50, 100, 60, 100, 10});
  const auto cuts = canonical_cuts(prompt, 512, 96);
  EXPECT_EQ(segment_ends(prompt, cuts, 2048), (std::vector<Position>{700, 800, 950, 1110}));
}

TEST(SegmentEnds, LongMessagesAreCutAtTheStride) {
  const Prompt prompt = prompt_of({100, 5000, 10});
  const auto cuts = canonical_cuts(prompt, 512, 96);
  const auto ends = segment_ends(prompt, cuts, 2048);
  EXPECT_EQ(ends, (std::vector<Position>{100, 2148, 4196, 5100}));
  EXPECT_EQ(segment_ends(prompt, cuts, 1), cuts);
}

// Sessions that share a prefix share its segments.
TEST(SegmentEnds, DependOnThePrefixOnly) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<Position> lengths;
    for (int i = 0; i < 12; ++i) lengths.push_back(1 + static_cast<Position>(random() % 900));
    const Prompt longer = prompt_of(lengths);
    lengths.resize(2 + random() % 9);
    const Prompt shorter = prompt_of(lengths);
    const auto ends_of = [](const Prompt& prompt) {
      return segment_ends(prompt, canonical_cuts(prompt, 512, 96), 1024);
    };
    auto expected = ends_of(longer);
    // The last message of the shorter one opens a reply or not: both know only up to its start.
    const Position known = shorter.message_starts.back();
    std::erase_if(expected, [&](Position end) { return end > known; });
    auto got = ends_of(shorter);
    std::erase_if(got, [&](Position end) { return end > known; });
    EXPECT_EQ(got, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace samovar
