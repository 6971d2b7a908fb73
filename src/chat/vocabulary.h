// The few questions chat/ asks a libllama vocabulary. Pure functions over an immutable vocabulary;
// any thread. Cannot fail.
#pragma once

#include <string>
#include <string_view>

#include "core/tokens.h"

struct llama_vocab;

namespace samovar {

// Appends the tokens of `text`, special tokens recognised, nothing added before or after.
void append_tokens(const llama_vocab* vocab, std::string_view text, Tokens& tokens);

// The text of `tokens`, special tokens shown. Ids outside the vocabulary have none.
std::string token_text(const llama_vocab* vocab, TokenSpan tokens);

// A token that the tokeniser cuts out of the text before anything else.
bool is_special(const llama_vocab* vocab, Token token);

}  // namespace samovar
