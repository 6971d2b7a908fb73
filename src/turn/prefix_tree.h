// PrefixTree: what memory and disk hold, as one tree of prefixes, for people. Pure; any thread.
//
// A node is a token range of one prefix, [begin, end) behind its parent's. It ends where prefixes
// part, where something can be resumed, where a sequence ends, or where what holds it changes; what
// lies between is joined. Cells, snapshots and files are each counted at one node. Tokens in memory
// are known, those on disk only by their hashes: a sequence that departs from a stored prefix in
// the middle of a segment, which no other sequence holds, departs at that segment's beginning.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/anchor_kind.h"
#include "core/tokens.h"
#include "sched/resident_picture.h"
#include "store/store_picture.h"

namespace samovar {

struct MemoryPart {
  Position cells = 0;
  std::vector<SeqId> sequences;  // that hold it, ascending
  std::vector<SeqId> ends;       // of them: the last token is here
  bool running = false;
  std::optional<AnchorKind> anchor;  // at the end
  std::uint64_t anchor_bytes = 0;
};

struct DiskPart {
  std::uint64_t bytes = 0;
  std::uint64_t snapshot_bytes = 0;
  std::optional<AnchorKind> checkpoint;  // at the end
  std::uint32_t hits = 0;
  std::int64_t last_used = 0;  // wall seconds
  bool pinned = false;
  bool writing = false;
  int evict_rank = 0;  // 1: goes first; 0: none
};

struct PrefixNode {
  // "s:" and a sequence that ends here, else "d:" and the place on disk, else "m:", a sequence and
  // a position.
  std::string id;
  int parent = -1;  // index; always smaller than that of the node itself
  Position begin = 0;
  Position end = 0;
  std::optional<MemoryPart> memory;
  std::optional<DiskPart> disk;
  std::vector<SessionId> sessions;  // whose prefixes go through here, at most kSessionsShown
};

struct PrefixTree {
  // How far a session reaches, in tokens.
  struct Reach {
    Position resident = 0;
    Position stored = 0;
  };

  std::vector<PrefixNode> nodes;
  std::vector<int> sequence_nodes;  // where each sequence of the picture ends; -1: left out
  std::vector<int> evict_next;      // nodes with an evict_rank, in its order
  std::map<SessionId, Reach> sessions;
  bool truncated = false;
};

inline constexpr std::size_t kSessionsShown = 8;
inline constexpr std::size_t kEvictRanks = 16;

// `most`: nodes; beyond that those that were used last are kept, with all before them.
[[nodiscard]] PrefixTree make_prefix_tree(const ResidentPicture& memory, const StorePicture& store,
                                          std::size_t most);

}  // namespace samovar
