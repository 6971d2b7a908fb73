// ReplyFormat: all that a request needs beside its prompt: how the model is asked to reply, what
// constrains the reply, what ends it and how to read it. Depends on tools, response format and
// template arguments, not on the conversation (a test holds that for every bundled template).
// Immutable; shared. Making one throws what libllama-common throws.
#pragma once

#include <llama-common/chat.h>

#include <memory>
#include <string>
#include <vector>

#include "chat/syntax_memo.h"
#include "core/sampling.h"

struct llama_vocab;

namespace samovar {

struct ReplyFormat {
  std::string primer;             // the generation prompt: the end of every prompt of this format
  std::string generation_prompt;  // what of it the grammar expects before the reply
  Grammar grammar;
  std::vector<std::string> stop;
  std::shared_ptr<const ReplySyntax> syntax;
};

// From one rendering by libllama-common. `json_schema` is the response format's; may be empty.
ReplyFormat make_reply_format(const llama_vocab* vocab, SyntaxMemo& syntaxes,
                              const common_chat_params& params, const std::string& json_schema);

}  // namespace samovar
