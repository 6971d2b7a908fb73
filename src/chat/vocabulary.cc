#include "chat/vocabulary.h"

#include <llama.h>

#include <algorithm>
#include <iterator>

namespace samovar {

void append_tokens(const llama_vocab* vocab, std::string_view text, Tokens& tokens) {
  const std::size_t begin = tokens.size();
  // Room for the usual worst case, a token per byte: asking twice would tokenise twice.
  tokens.resize(begin + text.size() + 8);
  for (;;) {
    const auto room = static_cast<std::int32_t>(tokens.size() - begin);
    const std::int32_t count =
        llama_tokenize(vocab, text.data(), static_cast<std::int32_t>(text.size()),
                       tokens.data() + begin, room, /*add_special=*/false, /*parse_special=*/true);
    if (count >= 0) {
      tokens.resize(begin + static_cast<std::size_t>(count));
      return;
    }
    tokens.resize(begin + static_cast<std::size_t>(-count));
  }
}

std::string token_text(const llama_vocab* vocab, TokenSpan tokens) {
  const auto is_known = [count = llama_vocab_n_tokens(vocab)](Token token) {
    return token >= 0 && token < count;
  };
  if (!std::ranges::all_of(tokens, is_known)) {  // libllama would throw
    Tokens known;
    std::ranges::copy_if(tokens, std::back_inserter(known), is_known);
    return token_text(vocab, known);
  }
  std::string text(tokens.size() * 4 + 16, '\0');
  for (;;) {
    const std::int32_t count = llama_detokenize(
        vocab, tokens.data(), static_cast<std::int32_t>(tokens.size()), text.data(),
        static_cast<std::int32_t>(text.size()), /*remove_special=*/false, /*unparse_special=*/true);
    if (count >= 0) {
      text.resize(static_cast<std::size_t>(count));
      return text;
    }
    text.resize(static_cast<std::size_t>(-count));
  }
}

bool is_special(const llama_vocab* vocab, Token token) {
  const auto attributes = static_cast<unsigned>(llama_vocab_get_attr(vocab, token));
  return (attributes & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_USER_DEFINED |
                        LLAMA_TOKEN_ATTR_UNKNOWN)) != 0;
}

}  // namespace samovar
