// Which snapshots a newer one makes superfluous: a session that grows turn by turn leaves a tip at
// every turn, and only the last is likely to be taken up again.
#include <algorithm>

#include "store/store_index.h"

namespace samovar {

std::vector<BlobKey> StoreIndex::superseded_by(const Identity& tip, Position spacing) const {
  const Node* newest = node(tip);
  if (newest == nullptr || !newest->snapshot || !newest->snapshot->record.session.known()) {
    return {};
  }
  const SessionId session = newest->snapshot->record.session;
  std::vector<const Node*> chain;  // nodes with a snapshot before the tip, longest first
  for (const Node* at = newest; at->joined() && !at->parent->is_root();) {
    at = at->parent;
    if (at->snapshot && !at->snapshot->pending) chain.push_back(at);
  }
  // The two tips of one turn: until a follow-up shows which of them it goes on from, both stay.
  const bool after_reply = newest->snapshot->record.anchor == AnchorKind::reply_end;
  const Node* history = nullptr;
  if (after_reply && !chain.empty() &&
      chain.front()->snapshot->record.anchor == AnchorKind::history_end) {
    history = chain.front();
  }
  const std::unordered_set<const Node*> pinned = pinned_nodes();
  std::vector<BlobKey> superfluous;
  Position before = 0;  // the last resume point that stays
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    const BlobRecord& snapshot = (*at)->snapshot->record;
    const bool is_tip =
        snapshot.anchor == AnchorKind::history_end || snapshot.anchor == AnchorKind::reply_end;
    const auto& lengths = (*at)->lengths;
    const bool branches = lengths.size() > 1 || lengths.begin()->second > 1;
    const bool stays = !is_tip || *at == history || snapshot.session != session || branches ||
                       snapshot.end - before >= spacing || pinned.contains(*at) ||
                       holds_.contains({BlobKind::snapshot, snapshot.identity});
    if (stays) {
      before = snapshot.end;
    } else {
      superfluous.push_back({BlobKind::snapshot, snapshot.identity});
    }
  }
  return superfluous;
}

}  // namespace samovar
