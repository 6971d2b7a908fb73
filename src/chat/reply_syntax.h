// ReplySyntax: how to read the reply to one rendered prompt, and one reading of a text by it.
// Immutable; shared by all replies of the same format. A reading never throws: text the format does
// not fit is `rejected`.
#pragma once

#include <llama-common/chat.h>

#include <string>
#include <vector>

#include "core/chat.h"

namespace samovar {

class ReplySyntax {
 public:
  ReplySyntax(common_chat_format format, const std::string& generation_prompt,
              const std::string& parser);

  common_chat_format format;
  std::string generation_prompt;  // what stands before the reply, and which the parser expects
  common_peg_arena parser;
  SavedSyntax saved;  // from which this can be made again
};

// What a text says by the syntax, and how far into the text each part reaches.
struct Reading {
  enum class Verdict {
    complete,  // the format is satisfied; text from `consumed` on lies outside it
    open,      // a beginning of the format; more may come
    rejected,  // not of the format
  };
  Verdict verdict = Verdict::rejected;
  std::size_t consumed = 0;

  std::string reasoning;
  std::string content;
  std::vector<ToolCall> calls;  // ids only where the format has them

  std::size_t text_end = 0;  // where the last piece of reasoning or content ends
  std::vector<std::size_t> call_ends;
  bool ends_in_reasoning = false;

  // Everything before this position is in the parts, if only the first `calls` calls count.
  [[nodiscard]] std::size_t covered(std::size_t calls_counted) const;
};

Reading read_reply(const ReplySyntax& syntax, const std::string& text);

}  // namespace samovar
