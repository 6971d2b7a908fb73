#include "turn/ledger_replies.h"

#include <utility>

#include "base/log.h"
#include "chat/sampled_reply.h"

namespace samovar {

std::vector<ReplySource::Reply> LedgerReplies::find(const Sha256& context) {
  auto known = memory_.find(context);
  if (!known.empty()) return known;
  const auto turns = ledger_.replies_at(context, static_cast<int>(ReplyMemory::kPerContext));
  for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {  // the newest is remembered last
    if (auto reply = read(*turn)) memory_.remember(context, {}, std::move(reply));
  }
  return turns.empty() ? known : memory_.find(context);
}

void LedgerReplies::remember(const TurnRecord& turn, const std::vector<std::string>& call_ids) {
  if (auto reply = read(turn)) memory_.remember(turn.context, call_ids, std::move(reply));
}

ReplySource::Reply LedgerReplies::read(const TurnRecord& turn) const {
  auto syntax = ChatFormat::load(turn.syntax);
  if (!syntax) {
    log_debug("ledger: turn {} cannot be replayed: {}", turn.id, syntax.error().message);
    return nullptr;
  }
  return format_.read_sampled(std::move(*syntax), turn.primer, turn.reply);
}

}  // namespace samovar
