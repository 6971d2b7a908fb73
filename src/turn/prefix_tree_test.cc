// Goal: the tree says what memory and disk hold: every cell, snapshot and file at one node,
// prefixes shared where they are shared. Method: small pictures by hand, then random ones against
// what the pictures say in sum.
#include "turn/prefix_tree.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/support/store_records.h"

namespace samovar {
namespace {

using testing::random_tokens;

const Fingerprint kModel = testing::model_named('m');
constexpr std::size_t kMany = 100'000;

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Both pictures, made call by call.
class Pictures {
 public:
  StorePicture store{.model = kModel, .needs_snapshot = true};
  ResidentPicture memory;

  // Segments along `tokens` up to `ends`, those that are there already shared; a snapshot at each
  // of `snapshots`.
  void put(const Tokens& tokens, const std::vector<Position>& ends,
           const std::set<Position>& snapshots = {}, SessionId session = {}) {
    Identity parent;
    Position begin = 0;
    for (const Position end : ends) {
      const Identity identity =
          identity_of(kModel, parent,
                      TokenSpan(tokens).subspan(static_cast<std::size_t>(begin),
                                                static_cast<std::size_t>(end - begin)));
      auto at = std::ranges::find(store.places, identity, &StoredPlace::identity);
      if (at == store.places.end()) {
        store.places.push_back({.identity = identity,
                                .parent = parent,
                                .begin = begin,
                                .end = end,
                                .bytes = static_cast<std::uint64_t>(end - begin) * 100,
                                .last_used = 1000 + end});
        at = store.places.end() - 1;
      }
      if (snapshots.contains(end)) {
        at->snapshot_bytes = 7000;
        at->anchor = AnchorKind::history_end;
        at->session = session;
      }
      parent = identity;
      begin = end;
    }
  }

  HeldSequence& hold(const Tokens& tokens, SeqId sequence, std::vector<HeldCells> cells = {}) {
    if (cells.empty()) cells = {{++things_, static_cast<Position>(tokens.size())}};
    memory.sequences.push_back({.sequence = sequence, .tokens = tokens, .cells = std::move(cells)});
    return memory.sequences.back();
  }
  void anchor(HeldSequence& held, Position position, AnchorKind kind = AnchorKind::system) {
    held.anchors.push_back({position, kind, ++things_, 500});
  }

  [[nodiscard]] PrefixTree tree(std::size_t most = kMany) const {
    return make_prefix_tree(memory, store, most);
  }

 private:
  std::uint64_t things_ = 1000;
};

// "0 -1 [0,100) disk" for each node, to compare.
std::vector<std::string> outline(const PrefixTree& tree) {
  std::vector<std::string> lines;
  for (const PrefixNode& node : tree.nodes) {
    std::string line = std::to_string(node.parent) + " " + std::to_string(node.begin) + "-" +
                       std::to_string(node.end);
    if (node.memory) {
      line += " memory";
      for (const SeqId sequence : node.memory->sequences) line += " " + std::to_string(sequence);
      if (node.memory->anchor) line += " anchor";
    }
    if (node.disk) line += " disk";
    if (node.disk && node.disk->checkpoint) line += " checkpoint";
    lines.push_back(line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(PrefixTree, OfNothingIsEmpty) {
  const PrefixTree tree = Pictures().tree();
  EXPECT_TRUE(tree.nodes.empty());
  EXPECT_FALSE(tree.truncated);
}

TEST(PrefixTree, SegmentsBetweenCheckpointsAreOneNode) {
  Pictures pictures;
  pictures.put(random_tokens(1, 500), {100, 200, 300, 400, 500}, {300, 500});
  const PrefixTree tree = pictures.tree();
  EXPECT_EQ(outline(tree), (Lines{"-1 0-300 disk checkpoint", "0 300-500 disk checkpoint"}));
  EXPECT_EQ(tree.nodes[0].disk->bytes, 30'000U);
  EXPECT_EQ(tree.nodes[0].disk->snapshot_bytes, 7000U);
  EXPECT_EQ(tree.nodes[0].disk->checkpoint, AnchorKind::history_end);
  EXPECT_TRUE(tree.nodes[0].id.starts_with("d:"));
}

TEST(PrefixTree, SegmentsBehindTheLastCheckpointAreANode) {
  Pictures pictures;
  pictures.put(random_tokens(1, 300), {100, 200, 300}, {100});
  EXPECT_EQ(outline(pictures.tree()), (Lines{"-1 0-100 disk checkpoint", "0 100-300 disk"}));
}

TEST(PrefixTree, WithoutSnapshotsTheLastPlaceOfAChainIsItsCheckpoint) {
  Pictures pictures;
  pictures.store.needs_snapshot = false;
  pictures.put(random_tokens(1, 300), {100, 200, 300});
  EXPECT_EQ(outline(pictures.tree()), (Lines{"-1 0-300 disk checkpoint"}));
}

TEST(PrefixTree, StoredPrefixesPartWhereTheirSegmentsDo) {
  Pictures pictures;
  const Tokens system = random_tokens(1, 100);
  pictures.put(joined(system, random_tokens(2, 100)), {100, 200}, {200});
  pictures.put(joined(system, random_tokens(3, 50)), {100, 150}, {150});
  EXPECT_EQ(outline(pictures.tree()),
            (Lines{"-1 0-100 disk", "0 100-150 disk checkpoint", "0 100-200 disk checkpoint"}));
}

TEST(PrefixTree, SequencesThatShareAPrefixShareANode) {
  Pictures pictures;
  const Tokens system = random_tokens(1, 100);
  pictures.hold(joined(system, random_tokens(2, 60)), 0, {{1, 100}, {2, 60}});
  pictures.hold(joined(system, random_tokens(3, 40)), 2, {{1, 100}, {3, 40}});
  const PrefixTree tree = pictures.tree();
  EXPECT_EQ(outline(tree),
            (Lines{"-1 0-100 memory 0 2", "0 100-140 memory 2", "0 100-160 memory 0"}));
  EXPECT_EQ(tree.nodes[0].memory->cells, 100);
  EXPECT_EQ(tree.sequence_nodes, (std::vector<int>{2, 1}));
  EXPECT_EQ(tree.nodes[2].id, "s:0");
  EXPECT_EQ(tree.nodes[0].id, "m:0:100");
}

TEST(PrefixTree, CellsThatWereComputedTwiceCountTwice) {
  Pictures pictures;
  const Tokens tokens = random_tokens(1, 100);
  pictures.hold(tokens, 0);
  pictures.hold(tokens, 1);
  const PrefixTree tree = pictures.tree();
  ASSERT_EQ(outline(tree), (Lines{"-1 0-100 memory 0 1"}));
  EXPECT_EQ(tree.nodes[0].memory->cells, 200);
  EXPECT_EQ(tree.nodes[0].memory->ends, (std::vector<SeqId>{0, 1}));
}

TEST(PrefixTree, ASequenceStandsOnWhatTheDiskHasOfIt) {
  Pictures pictures;
  const Tokens tokens = random_tokens(1, 300);
  pictures.put(tokens, {100, 200}, {200});
  HeldSequence& held = pictures.hold(tokens, 1);
  held.running = true;
  pictures.anchor(held, 50);
  const PrefixTree tree = pictures.tree();
  EXPECT_EQ(outline(tree), (Lines{"-1 0-50 memory 1 anchor disk",
                                  "0 50-200 memory 1 disk checkpoint", "1 200-300 memory 1"}));
  EXPECT_EQ(tree.nodes[0].memory->anchor_bytes, 500U);
  EXPECT_EQ(tree.nodes[0].disk->bytes, 0U);  // of the segment that ends behind it
  EXPECT_EQ(tree.nodes[1].disk->bytes, 20'000U);
  EXPECT_TRUE(tree.nodes[0].memory->running);
}

TEST(PrefixTree, ASequenceThatLeavesAStoredSegmentInItsMiddleLeavesThere) {
  Pictures pictures;
  const Tokens tokens = random_tokens(1, 300);
  pictures.put(tokens, {100, 200}, {200});
  pictures.hold(tokens, 0);
  pictures.hold(joined(Tokens(tokens.begin(), tokens.begin() + 130), random_tokens(2, 20)), 1);
  EXPECT_EQ(outline(pictures.tree()),
            (Lines{"-1 0-130 memory 0 1 disk", "0 130-150 memory 1",
                   "0 130-200 memory 0 disk checkpoint", "2 200-300 memory 0"}));
}

TEST(PrefixTree, SessionsAreToldWhereTheirPrefixesGoThrough) {
  Pictures pictures;
  const Tokens system = random_tokens(1, 100);
  const SessionId one = testing::session_of(1);
  const SessionId two = testing::session_of(2);
  pictures.put(joined(system, random_tokens(2, 100)), {100, 200}, {200}, one);
  pictures.hold(joined(system, random_tokens(3, 40)), 0).session = two;
  const PrefixTree tree = pictures.tree();
  ASSERT_EQ(tree.nodes.size(), 3U);
  EXPECT_EQ(tree.nodes[0].sessions.size(), 2U);
  EXPECT_EQ(tree.sessions.at(one).stored, 200);
  EXPECT_EQ(tree.sessions.at(one).resident, 0);
  EXPECT_EQ(tree.sessions.at(two).resident, 140);
}

TEST(PrefixTree, WhatGoesFirstIsRankedByNode) {
  Pictures pictures;
  const Tokens system = random_tokens(1, 100);
  pictures.put(joined(system, random_tokens(2, 200)), {100, 200, 300}, {300});
  pictures.put(joined(system, random_tokens(3, 100)), {100, 200}, {200});
  const auto& places = pictures.store.places;
  pictures.store.evict_next = {places[3].identity, places[2].identity, places[1].identity};
  const PrefixTree tree = pictures.tree();
  ASSERT_EQ(tree.evict_next.size(), 2U);  // of three places two are one node
  EXPECT_EQ(tree.nodes[static_cast<std::size_t>(tree.evict_next[0])].end, 200);
  EXPECT_EQ(tree.nodes[static_cast<std::size_t>(tree.evict_next[1])].disk->evict_rank, 2);
}

TEST(PrefixTree, BeyondItsBoundWhatWasUsedLastIsLeft) {
  Pictures pictures;
  const Tokens system = random_tokens(1, 10);
  for (std::uint32_t i = 0; i < 50; ++i) {
    pictures.put(joined(system, random_tokens(2 + i, 50)), {10, 20 + static_cast<Position>(i)},
                 {20 + static_cast<Position>(i)});
  }
  pictures.hold(joined(system, random_tokens(99, 5)), 0);
  const PrefixTree tree = pictures.tree(5);
  EXPECT_TRUE(tree.truncated);
  ASSERT_EQ(tree.nodes.size(), 5U);
  EXPECT_EQ(tree.nodes[0].end, 10);
  std::set<Position> ends;
  for (const PrefixNode& node : tree.nodes) ends.insert(node.end);
  EXPECT_EQ(ends, (std::set<Position>{10, 15, 67, 68, 69}));
  EXPECT_EQ(tree.nodes[static_cast<std::size_t>(tree.sequence_nodes[0])].end, 15);
}

// --- random pictures -----------------------------------------------------------------------------

// Prompts over two tokens that grow out of one another, so that they share much.
Tokens grown(std::mt19937& random, const std::vector<Tokens>& others) {
  Tokens tokens;
  if (!others.empty() && random() % 4 != 0) {
    const Tokens& from = others[random() % others.size()];
    tokens.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(random() % from.size()));
  }
  for (auto left = 1 + random() % 40; left > 0; --left) {
    tokens.push_back(static_cast<Token>(random() % 2));
  }
  return tokens;
}

Position common(const Tokens& a, const Tokens& b) {
  return static_cast<Position>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// As forks leave them: a beginning of another sequence's cells, then own ones.
std::vector<HeldCells> random_cells(std::mt19937& random, const Pictures& pictures,
                                    const Tokens& tokens, std::uint64_t& next) {
  std::vector<HeldCells> cells;
  auto left = static_cast<Position>(tokens.size());
  if (!pictures.memory.sequences.empty() && random() % 2 == 0) {
    const auto& other = pictures.memory.sequences[random() % pictures.memory.sequences.size()];
    const Position shared = common(tokens, other.tokens);
    Position taken = 0;
    for (const HeldCells& run : other.cells) {
      if (taken + run.size > shared) break;
      cells.push_back(run);
      taken += run.size;
    }
    left -= taken;
  }
  while (left > 0) {
    const auto size = std::min<Position>(left, 1 + static_cast<Position>(random() % 30));
    cells.push_back({++next, size});
    left -= size;
  }
  return cells;
}

Pictures random_pictures(std::mt19937& random) {
  Pictures pictures;
  std::vector<Tokens> prompts;
  std::uint64_t next = 0;
  for (auto stored = random() % 8; stored > 0; --stored) {
    prompts.push_back(grown(random, prompts));
    std::vector<Position> ends;
    std::set<Position> snapshots;
    for (Position at = 0; at < static_cast<Position>(prompts.back().size());) {
      at += 1 + static_cast<Position>(random() % 12);
      at = std::min(at, static_cast<Position>(prompts.back().size()));
      ends.push_back(at);
      if (random() % 3 == 0) snapshots.insert(at);
    }
    pictures.put(prompts.back(), ends, snapshots);
  }
  SeqId sequence = 0;
  for (auto held = random() % 5; held > 0; --held) {
    prompts.push_back(grown(random, prompts));
    auto cells = random_cells(random, pictures, prompts.back(), next);
    HeldSequence& made = pictures.hold(prompts.back(), sequence++, std::move(cells));
    for (Position at = 1; at <= static_cast<Position>(made.tokens.size()); ++at) {
      if (random() % 10 == 0) pictures.anchor(made, at, AnchorKind::message);
    }
  }
  pictures.store.needs_snapshot = random() % 4 != 0;
  for (const StoredPlace& place : pictures.store.places) {
    if (random() % 2 == 0) pictures.store.evict_next.push_back(place.identity);
  }
  return pictures;
}

void expect_a_tree(const PrefixTree& tree) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const PrefixNode& node = tree.nodes[i];
    ASSERT_LT(node.parent, static_cast<int>(i));
    ASSERT_EQ(node.begin,
              node.parent < 0 ? 0 : tree.nodes[static_cast<std::size_t>(node.parent)].end);
    ASSERT_LT(node.begin, node.end);
    ASSERT_TRUE(node.memory || node.disk);
    ASSERT_TRUE(ids.insert(node.id).second) << node.id;
  }
}

void expect_all_counted_once(const Pictures& pictures, const PrefixTree& tree) {
  std::map<std::uint64_t, std::uint64_t> cells;
  std::map<std::uint64_t, std::uint64_t> snapshots;
  for (const HeldSequence& held : pictures.memory.sequences) {
    for (const HeldCells& run : held.cells) cells[run.run] = static_cast<std::uint64_t>(run.size);
    for (const HeldSnapshot& anchor : held.anchors) snapshots[anchor.snapshot] = anchor.bytes;
  }
  std::uint64_t expected = 0;
  for (const auto& [thing, size] : cells) expected += size;
  for (const auto& [thing, size] : snapshots) expected += size;
  for (const StoredPlace& place : pictures.store.places) {
    expected += place.bytes + place.snapshot_bytes;
  }
  std::uint64_t counted = 0;
  for (const PrefixNode& node : tree.nodes) {
    if (node.memory) {
      counted += static_cast<std::uint64_t>(node.memory->cells) + node.memory->anchor_bytes;
    }
    if (node.disk) counted += node.disk->bytes + node.disk->snapshot_bytes;
  }
  EXPECT_EQ(counted, expected);
}

std::vector<int> path_of(const PrefixTree& tree, int node) {
  std::vector<int> path;
  for (; node >= 0; node = tree.nodes[static_cast<std::size_t>(node)].parent) path.push_back(node);
  std::ranges::reverse(path);
  return path;
}

void expect_sequences_where_they_are(const Pictures& pictures, const PrefixTree& tree) {
  const auto& sequences = pictures.memory.sequences;
  ASSERT_EQ(tree.sequence_nodes.size(), sequences.size());
  std::vector<std::vector<int>> paths;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    paths.push_back(path_of(tree, tree.sequence_nodes[i]));
    const PrefixNode& leaf = tree.nodes[static_cast<std::size_t>(tree.sequence_nodes[i])];
    EXPECT_EQ(leaf.end, static_cast<Position>(sequences[i].tokens.size()));
    EXPECT_TRUE(std::ranges::count(leaf.memory->ends, sequences[i].sequence) == 1);
    std::set<int> own(paths[i].begin(), paths[i].end());
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
      const auto& memory = tree.nodes[n].memory;
      EXPECT_EQ(memory && std::ranges::count(memory->sequences, sequences[i].sequence) == 1,
                own.contains(static_cast<int>(n)));
    }
  }
  for (std::size_t a = 0; a < sequences.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const auto ends = std::ranges::mismatch(paths[a], paths[b]);
      const Position shared = ends.in1 == paths[a].begin()
                                  ? 0
                                  : tree.nodes[static_cast<std::size_t>(*std::prev(ends.in1))].end;
      const Position same = common(sequences[a].tokens, sequences[b].tokens);
      EXPECT_LE(shared, same);
      if (pictures.store.places.empty()) {
        EXPECT_EQ(shared, same);
      }
    }
  }
}

TEST(PrefixTree, CountsEverythingOnceInRandomPictures) {
  std::mt19937 random(5);
  for (int round = 0; round < 600; ++round) {
    SCOPED_TRACE(round);
    const Pictures pictures = random_pictures(random);
    const PrefixTree tree = pictures.tree();
    expect_a_tree(tree);
    expect_all_counted_once(pictures, tree);
    expect_sequences_where_they_are(pictures, tree);
    EXPECT_LE(tree.evict_next.size(), kEvictRanks);
    if (HasFailure()) return;
    const std::size_t most = random() % (tree.nodes.size() + 1);
    const PrefixTree small = pictures.tree(most);
    expect_a_tree(small);
    EXPECT_EQ(small.nodes.size(), std::min(most, tree.nodes.size()));
    EXPECT_EQ(small.truncated, most < tree.nodes.size());
  }
}

}  // namespace
}  // namespace samovar
