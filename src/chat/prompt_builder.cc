#include "chat/prompt_builder.h"

#include <llama.h>

#include <algorithm>
#include <cassert>

#include "chat/vocabulary.h"

namespace samovar {
namespace {

constexpr std::size_t kMemoBytes = std::size_t{64} << 20;  // about 10 conversations of 100k tokens

}  // namespace

// Where the text is cut: piece i is [begins[i], begins[i + 1]). Piece 0 is what stands before the
// first opener (often empty), every other piece begins with an opener.
struct PromptBuilder::Pieces {
  std::vector<std::size_t> begins;
  std::vector<Position> positions;  // of each piece's first token
};

PromptBuilder::PromptBuilder(const llama_vocab* vocab, MessageOpeners openers)
    : vocab_(vocab), openers_(std::move(openers)), memo_(vocab, kMemoBytes) {}

PromptBuilder::Pieces PromptBuilder::split(std::string_view text) const {
  Pieces pieces;
  for (const auto& opener : openers_.openers) {
    for (std::size_t at = text.find(opener.text); at != std::string_view::npos;
         at = text.find(opener.text, at + opener.text.size())) {
      pieces.begins.push_back(at);
    }
  }
  pieces.begins.push_back(0);
  std::ranges::sort(pieces.begins);
  return pieces;
}

void PromptBuilder::tokenize_pieces(std::string_view text, const Pieces& pieces, PieceTokens* known,
                                    Prompt& prompt) {
  for (std::size_t i = 0; i < pieces.begins.size(); ++i) {
    const std::size_t begin = pieces.begins[i];
    const std::size_t end = i + 1 < pieces.begins.size() ? pieces.begins[i + 1] : text.size();
    const std::string_view piece = text.substr(begin, end - begin);
    if (known != nullptr && known->append(piece, prompt.tokens)) continue;
    memo_.append(piece, prompt.tokens);
  }
}

Prompt PromptBuilder::build(std::string_view text, std::string_view primer, PieceTokens* known) {
  Prompt prompt;
  Pieces pieces = split(text);
  if (llama_vocab_get_add_bos(vocab_)) prompt.tokens.push_back(llama_vocab_bos(vocab_));
  const auto text_begin = static_cast<Position>(prompt.tokens.size());
  if (openers_.separable) {
    tokenize_pieces(text, pieces, known, prompt);
  } else {
    append_tokens(vocab_, text, prompt.tokens);
  }
  find_starts(prompt, text_begin);
  // The i-th opener in the text is the i-th opener token, unless the tokeniser is not separable and
  // cut differently: then nothing is known about bytes.
  pieces.positions.push_back(text_begin);
  if (prompt.message_starts.size() + 1 == pieces.begins.size()) {
    pieces.positions.insert(pieces.positions.end(), prompt.message_starts.begin(),
                            prompt.message_starts.end());
  } else {
    assert(!openers_.separable);
    pieces.begins = {0};
  }
  for (std::size_t i = 1; i < pieces.begins.size(); ++i) {
    if (!openers_.begins_body(text.substr(pieces.begins[i]))) continue;
    prompt.system_end = pieces.positions[i];
    break;
  }
  const bool has_primer = !primer.empty() && text.ends_with(primer);
  prompt.primer_start = has_primer
                            ? primer_position(text, text.size() - primer.size(), pieces, prompt)
                            : prompt.size();
  return prompt;
}

void PromptBuilder::find_starts(Prompt& prompt, Position begin) const {
  for (Position at = begin; at < prompt.size(); ++at) {
    if (!openers_.contains(prompt.tokens[at])) continue;
    prompt.message_starts.push_back(at);
    if (openers_.begins_reply(TokenSpan(prompt.tokens).subspan(at))) {
      prompt.reply_starts.push_back(at);
    }
  }
}

Prompt PromptBuilder::structure(Tokens tokens, Position primer_start) const {
  Prompt prompt;
  prompt.tokens = std::move(tokens);
  const bool has_bos = llama_vocab_get_add_bos(vocab_) && !prompt.tokens.empty();
  find_starts(prompt, has_bos ? 1 : 0);
  prompt.primer_start = std::clamp(primer_start, 0, prompt.size());
  // What follows a start tells its role within a few tokens.
  constexpr std::size_t kHeadTokens = 16;
  for (const Position at : prompt.message_starts) {
    const TokenSpan rest = TokenSpan(prompt.tokens).subspan(static_cast<std::size_t>(at));
    if (!openers_.begins_body(token_text(vocab_, rest.first(std::min(kHeadTokens, rest.size()))))) {
      continue;
    }
    prompt.system_end = at;
    break;
  }
  return prompt;
}

// The primer nearly always begins with an opener. If not, it is the number of tokens that the text
// before it keeps, whatever follows.
Position PromptBuilder::primer_position(std::string_view text, std::size_t primer_begin,
                                        const Pieces& pieces, const Prompt& prompt) const {
  const auto after = std::ranges::upper_bound(pieces.begins, primer_begin);
  const auto piece = static_cast<std::size_t>(after - pieces.begins.begin()) - 1;
  const Position position = pieces.positions[piece];
  const std::size_t begin = pieces.begins[piece];
  if (begin == primer_begin) return position;
  Tokens before;
  append_tokens(vocab_, text.substr(begin, primer_begin - begin), before);
  const auto [kept, ignored] = std::mismatch(before.begin(), before.end(),
                                             prompt.tokens.begin() + position, prompt.tokens.end());
  return position + static_cast<Position>(kept - before.begin());
}

}  // namespace samovar
