#include "turn/ledger_replies.h"

#include <utility>

#include "base/log.h"
#include "chat/sampled_reply.h"

namespace samovar {
namespace {

constexpr std::size_t kAskedMax = 1 << 16;

}  // namespace

// Replies that run, or whose client has just left, come first: what was cut a moment ago is what a
// client sends back next.
std::vector<ReplySource::Reply> LedgerReplies::find(const Sha256& context) {
  load(context);
  std::vector<Reply> found;
  for (const TurnRecord& turn : ledger_.live_at(context)) {
    if (turn.reply.empty()) continue;
    if (auto reply = read(turn)) found.push_back(std::move(reply));
  }
  auto known = memory_.find(context);
  found.insert(found.end(), known.begin(), known.end());
  return found;
}

// Asks the ledger once for each place.
void LedgerReplies::load(const Sha256& context) {
  {
    const std::scoped_lock lock(mutex_);
    if (asked_.size() >= kAskedMax) asked_.clear();
    if (!asked_.insert(context).second) return;
  }
  const auto turns = ledger_.replies_at(context, static_cast<int>(ReplyMemory::kPerContext));
  for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {  // the newest is remembered last
    if (auto reply = read(*turn)) memory_.remember(context, {}, std::move(reply));
  }
}

void LedgerReplies::remember(const TurnRecord& turn, const std::vector<std::string>& call_ids) {
  if (auto reply = read(turn)) memory_.remember(turn.context, call_ids, std::move(reply));
}

ReplySource::Reply LedgerReplies::read(const TurnRecord& turn) const {
  auto syntax = format_.load(turn.syntax);
  if (!syntax) {
    log_debug("ledger: turn {} cannot be replayed: {}", turn.id, syntax.error().message);
    return nullptr;
  }
  return format_.read_sampled(std::move(*syntax), turn.primer, turn.reply);
}

}  // namespace samovar
