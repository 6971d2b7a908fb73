#include "turn/prefix_forest.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>
#include <utility>

namespace samovar {
namespace {

Position shared_length(const Tokens& a, const Tokens& b) {
  return static_cast<Position>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

PrefixForest::PrefixForest(const ResidentPicture& memory, const StorePicture& store)
    : memory_(memory), store_(store), pieces_(1), leaves_(memory.sequences.size(), -1) {
  add_places();
  add_sequences();
  for (const std::size_t sequence : added_) {
    for (const HeldSnapshot& anchor : memory_.sequences[sequence].anchors) {
      if (anchor.position > 0) point_on(leaves_[sequence], anchor.position);
    }
  }
  for (std::size_t i = 0; i < memory_.sequences.size(); ++i) mark(i);
}

int PrefixForest::add(Piece piece) {
  pieces_.push_back(std::move(piece));
  return static_cast<int>(pieces_.size()) - 1;
}

void PrefixForest::add_places() {
  by_place_[Identity{}] = 0;
  for (const StoredPlace& place : store_.places) {
    const int parent = by_place_.at(place.parent);
    by_place_[place.identity] =
        add({.parent = parent, .begin = place.begin, .end = place.end, .place = &place});
    children_[parent][place.end - place.begin].push_back(&place);
  }
}

// The piece of the longest stored prefix of `tokens`; 0: there is none. One prefix may be cut in
// several ways.
int PrefixForest::deepest_on_disk(TokenSpan tokens) const {
  int deepest = 0;
  std::vector<int> open = {0};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (pieces_[static_cast<std::size_t>(at)].end >
        pieces_[static_cast<std::size_t>(deepest)].end) {
      deepest = at;
    }
    const auto children = children_.find(at);
    if (children == children_.end()) continue;
    const Piece& piece = pieces_[static_cast<std::size_t>(at)];
    const TokenSpan rest = tokens.subspan(static_cast<std::size_t>(piece.end));
    PrefixHasher hasher(store_.model, piece.place == nullptr ? Identity{} : piece.place->identity);
    std::size_t hashed = 0;
    for (const auto& [length, places] : children->second) {
      const auto size = static_cast<std::size_t>(length);
      if (size > rest.size()) break;
      hasher.append(rest.subspan(hashed, size - hashed));
      hashed = size;
      const Identity identity = hasher.identity();
      for (const StoredPlace* place : places) {
        if (place->identity == identity) open.push_back(by_place_.at(identity));
      }
    }
  }
  return deepest;
}

// Those that the disk has most of come first: what a later one shares with them beyond what the
// disk has of it is in a piece of theirs, which is split.
void PrefixForest::add_sequences() {
  std::vector<std::pair<int, std::size_t>> reached;
  reached.reserve(memory_.sequences.size());
  for (std::size_t i = 0; i < memory_.sequences.size(); ++i) {
    reached.emplace_back(deepest_on_disk(memory_.sequences[i].tokens), i);
  }
  std::ranges::stable_sort(reached, std::greater<>(), [this](const auto& entry) {
    return pieces_[static_cast<std::size_t>(entry.first)].end;
  });
  for (const auto& [piece, sequence] : reached) add_sequence(sequence, piece);
}

void PrefixForest::add_sequence(std::size_t sequence, int reached) {
  const Tokens& tokens = memory_.sequences[sequence].tokens;
  int from = reached;
  Position longest = pieces_[static_cast<std::size_t>(reached)].end;
  std::optional<std::size_t> beside;
  for (const std::size_t other : added_) {
    const Position shared = shared_length(tokens, memory_.sequences[other].tokens);
    if (shared <= longest) continue;
    longest = shared;
    beside = other;
  }
  if (beside) from = point_on(leaves_[*beside], longest);
  const auto size = static_cast<Position>(tokens.size());
  leaves_[sequence] = longest == size ? from : add({.parent = from, .begin = longest, .end = size});
  added_.push_back(sequence);
}

// The piece that ends at `position` on the way to `leaf`, made if need be.
int PrefixForest::point_on(int leaf, Position position) {
  int at = leaf;
  while (at > 0 && pieces_[static_cast<std::size_t>(at)].begin >= position) {
    at = pieces_[static_cast<std::size_t>(at)].parent;
  }
  return split(at, position);
}

int PrefixForest::split(int piece, Position position) {
  Piece& later = pieces_[static_cast<std::size_t>(piece)];
  if (piece == 0 || position >= later.end) return piece;
  const int earlier =
      add({.parent = later.parent, .begin = later.begin, .end = position, .place = later.place});
  Piece& moved = pieces_[static_cast<std::size_t>(piece)];
  moved.parent = earlier;
  moved.begin = position;
  return earlier;
}

std::vector<int> PrefixForest::path_to(int leaf) const {
  std::vector<int> path;
  for (int at = leaf; at > 0; at = pieces_[static_cast<std::size_t>(at)].parent) path.push_back(at);
  std::ranges::reverse(path);
  return path;
}

// Says on its path what the sequence holds. Cells and snapshots that are shared count where the
// first sequence has them: whoever holds a run holds all of it, at the same place.
void PrefixForest::mark(std::size_t sequence) {
  const HeldSequence& held = memory_.sequences[sequence];
  std::unordered_set<std::uint64_t> seen;  // with the sequences before
  for (std::size_t i = 0; i < sequence; ++i) {
    for (const HeldCells& run : memory_.sequences[i].cells) seen.insert(run.run);
    for (const HeldSnapshot& anchor : memory_.sequences[i].anchors) seen.insert(anchor.snapshot);
  }
  const std::vector<int> path = path_to(leaves_[sequence]);
  for (const int at : path) {
    MemoryPart& part = pieces_[static_cast<std::size_t>(at)].memory;
    part.sequences.push_back(held.sequence);
    part.running = part.running || held.running;
  }
  if (!path.empty()) {
    pieces_[static_cast<std::size_t>(path.back())].memory.ends.push_back(held.sequence);
  }
  Position begin = 0;
  for (const HeldCells& run : held.cells) {
    const Position end = begin + run.size;
    for (const int at : path) {
      Piece& piece = pieces_[static_cast<std::size_t>(at)];
      const Position here = std::min(end, piece.end) - std::max(begin, piece.begin);
      if (here > 0 && !seen.contains(run.run)) piece.memory.cells += here;
    }
    begin = end;
  }
  for (const HeldSnapshot& anchor : held.anchors) {
    const auto at = std::ranges::find_if(path, [&](int piece) {
      return pieces_[static_cast<std::size_t>(piece)].end == anchor.position;
    });
    if (at == path.end()) continue;
    MemoryPart& part = pieces_[static_cast<std::size_t>(*at)].memory;
    if (!part.anchor) part.anchor = anchor.kind;
    if (seen.insert(anchor.snapshot).second) part.anchor_bytes += anchor.bytes;
  }
}

std::vector<int> PrefixForest::downwards() const {
  std::vector<int> order(pieces_.size() - 1);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i) + 1;
  // What ends earlier is no child of what ends later; nothing is empty.
  std::ranges::stable_sort(
      order, {}, [this](int piece) { return pieces_[static_cast<std::size_t>(piece)].end; });
  return order;
}

}  // namespace samovar
