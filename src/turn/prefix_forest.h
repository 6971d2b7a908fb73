// PrefixForest: the tree while it is made of a picture of memory and one of the store. Private to
// prefix_tree.cc. Pieces are split as sequences turn out to part; a piece keeps its number when it
// is split, and stands for the later part then, so what is known of its end stays true.
#pragma once

#include <unordered_map>
#include <vector>

#include "turn/prefix_tree.h"

namespace samovar {

struct Piece {
  int parent = -1;  // piece 0, the root, has none
  Position begin = 0;
  Position end = 0;
  const StoredPlace* place = nullptr;  // of whose segment this is a part; null: not on disk
  MemoryPart memory;                   // no sequences: none

  [[nodiscard]] bool ends_place() const { return place != nullptr && place->end == end; }
};

class PrefixForest {
 public:
  PrefixForest(const ResidentPicture& memory, const StorePicture& store);

  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] int leaf(std::size_t sequence) const { return leaves_[sequence]; }
  [[nodiscard]] int piece_of(const Identity& place) const { return by_place_.at(place); }
  // Pieces in an order in which parents come before their children, without the root.
  [[nodiscard]] std::vector<int> downwards() const;

 private:
  void add_places();
  void add_sequences();
  void add_sequence(std::size_t sequence, int reached);
  [[nodiscard]] int deepest_on_disk(TokenSpan tokens) const;
  int split(int piece, Position position);
  int point_on(int leaf, Position position);
  int add(Piece piece);
  [[nodiscard]] std::vector<int> path_to(int leaf) const;
  void mark(std::size_t sequence);

  const ResidentPicture& memory_;
  const StorePicture& store_;
  std::vector<Piece> pieces_;
  std::vector<int> leaves_;         // of sequences
  std::vector<std::size_t> added_;  // sequences, in order
  std::unordered_map<Identity, int, IdentityHash> by_place_;
  std::unordered_map<int, std::map<Position, std::vector<const StoredPlace*>>> children_;
};

}  // namespace samovar
