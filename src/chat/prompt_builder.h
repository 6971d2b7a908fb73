// PromptBuilder: rendered text to Prompt: tokens, message starts, end of the system part, start of
// the generation primer. Equal to tokenising the whole text at once, but pieces between message
// openers that were seen before cost a look-up, and pieces that `known` knows have its tokens.
// Owned by ChatFormat; any thread. Cannot fail.
#pragma once

#include <string_view>

#include "chat/message_openers.h"
#include "chat/piece_tokens.h"
#include "chat/token_memo.h"
#include "core/prompt.h"

namespace samovar {

class PromptBuilder {
 public:
  PromptBuilder(const llama_vocab* vocab, MessageOpeners openers);

  // `primer` is the text at the end of `text` that asks for the reply; may be empty.
  Prompt build(std::string_view text, std::string_view primer, PieceTokens* known = nullptr);

  // The same from tokens that were built before, with a reply after them.
  Prompt structure(Tokens tokens, Position primer_start) const;

  [[nodiscard]] const MessageOpeners& openers() const { return openers_; }

 private:
  struct Pieces;
  Pieces split(std::string_view text) const;
  void find_starts(Prompt& prompt, Position begin) const;
  void tokenize_pieces(std::string_view text, const Pieces& pieces, PieceTokens* known,
                       Prompt& prompt);
  Position primer_position(std::string_view text, std::size_t primer_begin, const Pieces& pieces,
                           const Prompt& prompt) const;

  const llama_vocab* vocab_;
  MessageOpeners openers_;
  TokenMemo memo_;
};

}  // namespace samovar
