// MessageOpeners: the special tokens that begin a message ("<|im_start|>", "<|user|>", "[INST]") in
// a template's renderings. Found once per model by rendering small probe conversations.
//
// Only single special tokens count: whether position p begins a message must not depend on what
// follows p (core/prompt.h), and the tokeniser cuts special tokens out before everything else, so
// text may be tokenised piece by piece between them. A template whose messages begin with ordinary
// text has no openers; everything works without them, only coarser. Immutable once made; any
// thread. Cannot fail: a template that refuses the probes has no openers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tokens.h"

struct common_chat_templates;
struct llama_vocab;

namespace samovar {

struct MessageOpeners {
  struct Opener {
    Token token;
    std::string text;
  };
  std::vector<Opener> openers;

  // Texts with which messages begin, to tell system messages from others.
  struct Head {
    std::string text;
    bool system = false;
    bool operator==(const Head&) const = default;
  };
  std::vector<Head> heads;

  // The tokens with which replies begin, in the generation primer and in the history: an opener and
  // what tells the role after it. Empty if the primer begins with no opener.
  Tokens reply_opening;

  // False where the tokeniser is not exactly "split at openers, then each piece alone".
  bool separable = true;

  [[nodiscard]] bool contains(Token token) const;

  // A reply of the model begins with the first of `tokens`.
  [[nodiscard]] bool begins_reply(TokenSpan tokens) const;

  // The message that begins at the start of `text` is certainly none of system or tools.
  [[nodiscard]] bool begins_body(std::string_view text) const;
};

MessageOpeners find_message_openers(const common_chat_templates* templates,
                                    const llama_vocab* vocab);

}  // namespace samovar
