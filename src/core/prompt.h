// Prompt: the token ids a request must have in the model's memory before its first new token, and
// where its messages begin. Made by chat/, read by prefix/ and sched/. A value; immutable once
// made.
#pragma once

#include <string>
#include <vector>

#include "core/tokens.h"

namespace samovar {

struct Prompt {
  Tokens tokens;

  // Positions at which a message begins (the token of its opening delimiter), ascending. They must
  // depend only on the tokens before and at them, never on what follows, because canonical splits
  // (prefix/splits.h) are derived from them. Empty for prompts without message structure.
  std::vector<Position> message_starts;

  // Those of message_starts at which a reply of the model begins: what follows opens exactly as the
  // generation primer does, as far as that tells the role ("<|im_start|>assistant"). Every turn's
  // history ends at such a place, so every later prompt can be taken up there. As prefix-pure as
  // message_starts: the few tokens that tell the role are part of every prompt that has the start.
  std::vector<Position> reply_starts;

  // The end of system prompt and tools: the start of the first message that is neither. 0 if there
  // is no such message.
  Position system_end = 0;

  // Where the generation primer begins ("<|im_start|>assistant\n<think>\n"): the end of the history
  // proper, and the position from which every follow-up can resume. tokens.size() if there is none.
  Position primer_start = 0;

  [[nodiscard]] Position size() const { return static_cast<Position>(tokens.size()); }
};

}  // namespace samovar
