#include "turn/prefix_tree.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "turn/prefix_forest.h"

namespace samovar {
namespace {

// What is in memory was used later than anything that is not.
constexpr std::int64_t kInMemory = std::numeric_limits<std::int64_t>::max();

class TreeMaker {
 public:
  TreeMaker(const ResidentPicture& memory, const StorePicture& store)
      : memory_(memory), store_(store), forest_(memory, store), pieces_(forest_.pieces()) {}

  PrefixTree make(std::size_t most) {
    count_children();
    for (const int piece : forest_.downwards()) place(piece);
    name_nodes();
    rank();
    gather_sessions();
    for (std::size_t i = 0; i < memory_.sequences.size(); ++i) {
      tree_.sequence_nodes.push_back(node_of_[index(forest_.leaf(i))]);
    }
    if (tree_.nodes.size() > most) cut(most);
    return std::move(tree_);
  }

 private:
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  [[nodiscard]] const Piece& piece(int number) const { return pieces_[index(number)]; }
  [[nodiscard]] PrefixNode& node(int number) { return tree_.nodes[index(number)]; }

  void count_children() {
    children_.resize(pieces_.size());
    stored_children_.resize(pieces_.size());
    node_of_.assign(pieces_.size(), -1);
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      ++children_[index(pieces_[i].parent)];
      if (pieces_[i].place != nullptr) ++stored_children_[index(pieces_[i].parent)];
    }
  }

  // Where any place resumes, only the last of a chain is told.
  [[nodiscard]] bool resumes_from_disk(int number) const {
    if (!piece(number).ends_place()) return false;
    return store_.needs_snapshot ? piece(number).place->snapshot_bytes > 0
                                 : stored_children_[index(number)] == 0;
  }

  [[nodiscard]] bool joins(int upper, int lower) const {
    const Piece& before = piece(upper);
    const Piece& after = piece(lower);
    return upper != 0 && children_[index(upper)] == 1 && before.memory.ends.empty() &&
           !before.memory.anchor && !resumes_from_disk(upper) &&
           before.memory.sequences == after.memory.sequences &&
           (before.place == nullptr) == (after.place == nullptr);
  }

  // Makes a node of the piece, or a part of its parent's.
  void place(int number) {
    const Piece& piece = this->piece(number);
    if (joins(piece.parent, number)) {
      node_of_[index(number)] = node_of_[index(piece.parent)];
    } else {
      node_of_[index(number)] = static_cast<int>(tree_.nodes.size());
      PrefixNode made;
      made.parent = node_of_[index(piece.parent)];
      made.begin = piece.begin;
      tree_.nodes.push_back(std::move(made));
      last_piece_.push_back(number);
    }
    const int at = node_of_[index(number)];
    last_piece_[index(at)] = number;
    PrefixNode& node = this->node(at);
    node.end = piece.end;
    add_memory(piece.memory, node);
    add_disk(number, node);
  }

  static void add_memory(const MemoryPart& part, PrefixNode& node) {
    if (part.sequences.empty()) return;
    const Position before = node.memory ? node.memory->cells : 0;
    node.memory = part;
    node.memory->cells += before;
  }

  void add_disk(int number, PrefixNode& node) const {
    const StoredPlace* place = piece(number).place;
    if (place == nullptr) return;
    if (!node.disk) node.disk.emplace();
    DiskPart& disk = *node.disk;
    disk.hits = std::max(disk.hits, place->hits);
    disk.last_used = std::max(disk.last_used, place->last_used);
    disk.pinned = disk.pinned || place->pinned;
    disk.writing = disk.writing || place->writing;
    if (!piece(number).ends_place()) return;
    disk.bytes += place->bytes;
    disk.snapshot_bytes += place->snapshot_bytes;
    if (resumes_from_disk(number)) disk.checkpoint = place->anchor;
  }

  void name_nodes() {
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      PrefixNode& node = tree_.nodes[i];
      const Piece& last = piece(last_piece_[i]);
      if (node.memory && !node.memory->ends.empty()) {
        node.id = fmt::format("s:{}", node.memory->ends.front());
      } else if (last.ends_place()) {
        node.id = "d:" + last.place->identity.hex().substr(0, 32);
      } else {
        node.id = fmt::format("m:{}:{}", node.memory->sequences.front(), node.end);
      }
    }
  }

  void rank() {
    for (const Identity& place : store_.evict_next) {
      const int at = node_of_[index(forest_.piece_of(place))];
      if (node(at).disk->evict_rank != 0) continue;
      tree_.evict_next.push_back(at);
      node(at).disk->evict_rank = static_cast<int>(tree_.evict_next.size());
      if (tree_.evict_next.size() == kEvictRanks) return;
    }
  }

  static void note(const SessionId& session, PrefixNode& node) {
    if (!session.known() || node.sessions.size() >= kSessionsShown) return;
    if (std::ranges::find(node.sessions, session) == node.sessions.end()) {
      node.sessions.push_back(session);
    }
  }

  void gather_sessions() {
    for (std::size_t i = 0; i < memory_.sequences.size(); ++i) {
      const HeldSequence& held = memory_.sequences[i];
      note(held.session, node(node_of_[index(forest_.leaf(i))]));
      if (!held.session.known()) continue;
      Position& reach = tree_.sessions[held.session].resident;
      reach = std::max(reach, static_cast<Position>(held.tokens.size()));
    }
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
      if (!pieces_[i].ends_place()) continue;
      const StoredPlace& place = *pieces_[i].place;
      note(place.session, node(node_of_[i]));
      if (!place.session.known() || (store_.needs_snapshot && place.snapshot_bytes == 0)) continue;
      Position& reach = tree_.sessions[place.session].stored;
      reach = std::max(reach, place.end);
    }
    for (auto at = tree_.nodes.rbegin(); at != tree_.nodes.rend(); ++at) {
      if (at->parent < 0) continue;
      for (const SessionId& session : at->sessions) note(session, node(at->parent));
    }
  }

  // A node was used no earlier than what is behind it, so the newest ones include all before them.
  void cut(std::size_t most) {
    std::vector<std::int64_t> used(tree_.nodes.size());
    for (std::size_t i = tree_.nodes.size(); i-- > 0;) {
      const PrefixNode& node = tree_.nodes[i];
      used[i] = std::max(used[i], node.memory ? kInMemory : node.disk->last_used);
      if (node.parent >= 0) used[index(node.parent)] = std::max(used[index(node.parent)], used[i]);
    }
    std::vector<int> kept(tree_.nodes.size());
    std::iota(kept.begin(), kept.end(), 0);
    std::ranges::stable_sort(kept, std::greater<>(), [&](int node) { return used[index(node)]; });
    kept.resize(most);
    std::ranges::sort(kept);
    std::vector<int> renamed(tree_.nodes.size(), -1);
    std::vector<PrefixNode> nodes;
    for (const int old : kept) {
      renamed[index(old)] = static_cast<int>(nodes.size());
      PrefixNode& node = this->node(old);
      if (node.parent >= 0) node.parent = renamed[index(node.parent)];
      nodes.push_back(std::move(node));
    }
    tree_.nodes = std::move(nodes);
    for (int& node : tree_.sequence_nodes) node = node < 0 ? -1 : renamed[index(node)];
    for (int& node : tree_.evict_next) node = renamed[index(node)];
    std::erase(tree_.evict_next, -1);
    tree_.truncated = true;
  }

  const ResidentPicture& memory_;
  const StorePicture& store_;
  const PrefixForest forest_;
  const std::vector<Piece>& pieces_;
  std::vector<int> children_;         // of pieces: how many
  std::vector<int> stored_children_;  // of those: on disk
  std::vector<int> node_of_;          // of pieces
  std::vector<int> last_piece_;       // of nodes
  PrefixTree tree_;
};

}  // namespace

PrefixTree make_prefix_tree(const ResidentPicture& memory, const StorePicture& store,
                            std::size_t most) {
  return TreeMaker(memory, store).make(most);
}

}  // namespace samovar
