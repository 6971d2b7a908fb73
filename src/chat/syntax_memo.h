// SyntaxMemo: keeps the last few reply parsers that were loaded. libllama-common hands a parser
// over as text (30 kB and 2 ms for eight tools); the requests of one agent all bring the same.
// Keyed by the whole text, so a hit is exact. Owned by ReplyFormatMemo; any thread (own lock).
// get() throws what libllama-common throws.
#pragma once

#include <llama-common/chat.h>

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "chat/reply_syntax.h"

namespace samovar {

class SyntaxMemo {
 public:
  std::shared_ptr<const ReplySyntax> get(const common_chat_params& params);

 private:
  struct Entry {
    common_chat_format format;
    std::string generation_prompt;
    std::string parser;
    std::shared_ptr<const ReplySyntax> syntax;
  };
  std::shared_ptr<const ReplySyntax> find(const common_chat_params& params);

  std::mutex mutex_;
  std::list<Entry> entries_;  // guarded by mutex_; most recently used first
};

}  // namespace samovar
