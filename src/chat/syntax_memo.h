// SyntaxMemo: keeps the last few reply parsers that were loaded. libllama-common hands a parser
// over as text (30 kB and 2 ms for eight tools); the requests of one agent all bring the same.
// Keyed by the whole text, so a hit is exact. Owned by ReplyFormatMemo; any thread (own lock).
// get() throws what libllama-common throws.
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "chat/reply_syntax.h"

namespace samovar {

class SyntaxMemo {
 public:
  // What libllama-common handed over, or a ledger kept of it. The stop strings do not matter.
  std::shared_ptr<const ReplySyntax> get(const SavedSyntax& saved);

 private:
  std::shared_ptr<const ReplySyntax> find(const SavedSyntax& saved);

  std::mutex mutex_;
  std::list<std::shared_ptr<const ReplySyntax>>
      entries_;  // guarded by mutex_; most recently used first
};

}  // namespace samovar
