// ReplyFormatMemo: keeps the last few reply formats. Making one costs milliseconds (more with many
// tools), and all turns of an agent have the same. Keyed by the whole text of everything it depends
// on, so a hit is exact; the least recently used goes.
// Owned by ChatFormat; any thread (own lock; formats are made outside it).
#pragma once

#include <llama-common/chat.h>

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "chat/reply_format.h"
#include "chat/syntax_memo.h"

namespace samovar {

class ReplyFormatMemo {
 public:
  ReplyFormatMemo(const common_chat_templates* templates, const llama_vocab* vocab)
      : templates_(templates), vocab_(vocab) {}

  // The format of requests like `inputs`, found with a minimal conversation that ends the same way.
  // Null if the template refuses that, or the conversation ends with neither a user message nor a
  // tool result. The caller must check that its prompt ends with the primer.
  std::shared_ptr<const ReplyFormat> get(const common_chat_templates_inputs& inputs);

  // The format that goes with one rendering of a whole conversation; not kept. Throws what
  // libllama-common throws.
  std::shared_ptr<const ReplyFormat> make(const common_chat_params& params,
                                          const std::string& json_schema);

  [[nodiscard]] SyntaxMemo& syntaxes() { return syntaxes_; }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const ReplyFormat> format;
  };
  std::shared_ptr<const ReplyFormat> find(const std::string& key);

  const common_chat_templates* templates_;
  const llama_vocab* vocab_;
  SyntaxMemo syntaxes_;

  std::mutex mutex_;
  std::list<Entry> entries_;  // guarded by mutex_; most recently used first
};

}  // namespace samovar
