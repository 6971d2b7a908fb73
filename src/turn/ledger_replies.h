// LedgerReplies: the replies that exact replay looks for, in memory, and after a restart from the
// ledger. A reply is loaded when a conversation asks for it: parsing one takes about a millisecond,
// a place at which nothing was sampled costs a look-up.
// Thread-safe; borrows ledger and format.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chat/chat_format.h"
#include "chat/reply_memory.h"
#include "ledger/ledger.h"

namespace samovar {

class LedgerReplies final : public ReplySource {
 public:
  LedgerReplies(Ledger& ledger, const ChatFormat& format) : ledger_(ledger), format_(format) {}

  std::vector<Reply> find(const Sha256& context) override;
  Reply find_call(std::string_view call_id) override { return memory_.find_call(call_id); }

  // A reply was sampled and sent, its calls under `call_ids`.
  void remember(const TurnRecord& turn, const std::vector<std::string>& call_ids);
  void forget(const Sha256& context) { memory_.forget(context); }

 private:
  [[nodiscard]] Reply read(const TurnRecord& turn) const;

  void load(const Sha256& context);

  Ledger& ledger_;
  const ChatFormat& format_;
  ReplyMemory memory_;

  std::mutex mutex_;
  std::set<Sha256> asked_;  // guarded by mutex_: places whose replies the ledger was asked for
};

}  // namespace samovar
