#include "chat/replay_piece.h"

#include <llama.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "chat/vocabulary.h"

namespace samovar {

struct ReplayRules::End {
  std::string_view body;  // what the reply says, as the template writes it
  std::string_view tail;  // what follows; begins with an end token's text, or is empty
  bool sampled = false;   // it is the end token that was sampled
};

namespace {

bool is_blank(std::string_view text) { return trimmed(text).empty(); }

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

void append(TokenSpan from, Tokens& tokens) {
  tokens.insert(tokens.end(), from.begin(), from.end());
}

// Templates write a value that is no text as Python does: what stands alone between two tags as
// True, False or None, spelled as JSON again.
std::string with_json_words(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"True", "true"}, {"False", "false"}, {"None", "null"}};
  const auto newline = [&](std::size_t at) { return text.substr(at).starts_with('\n') ? 1U : 0U; };
  std::string result;
  std::size_t copied = 0;
  for (std::size_t tag = text.find('>'); tag != std::string_view::npos;
       tag = text.find('>', tag + 1)) {
    const std::size_t begin = tag + 1 + newline(tag + 1);
    for (const auto& [word, spelling] : kWords) {
      const std::size_t end = begin + word.size();
      if (!text.substr(begin).starts_with(word)) continue;
      if (!text.substr(end + newline(end)).starts_with("</")) continue;
      result.append(text, copied, begin - copied).append(spelling);
      copied = end;
    }
  }
  return result.append(text, copied);
}

}  // namespace

ReplayRules::ReplayRules(const llama_vocab* vocab, const MessageOpeners& openers) : vocab_(vocab) {
  if (openers.separable) opening_ = pieces_text(vocab, openers.reply_opening);
  for (Token token = 0; token < llama_vocab_n_tokens(vocab); ++token) {
    if (!llama_vocab_is_eog(vocab, token)) continue;
    std::string text = pieces_text(vocab, {&token, 1});
    if (!text.empty()) end_texts_.push_back(std::move(text));
  }
}

// The last end token in the text is the reply's, unless the text goes on with results of its calls
// that have end tokens too: then it is the first. If the one that was sampled is nowhere, the
// template may write another, or none.
std::vector<ReplayRules::End> ReplayRules::ends(std::string_view text,
                                                const SampledReply& reply) const {
  std::vector<End> result;
  const auto add = [&](std::size_t at, bool sampled) {
    result.push_back({text.substr(0, at), text.substr(at), sampled});
  };
  if (reply.complete) {
    const std::string end = pieces_text(vocab_, TokenSpan(reply.tokens).last(1));
    const std::size_t last = end.empty() ? std::string_view::npos : text.rfind(end);
    if (last != std::string_view::npos) {
      add(last, true);
      const std::size_t first = text.find(end);
      if (first != last) add(first, true);
      return result;
    }
  }
  std::optional<std::size_t> last;
  for (const std::string& end : end_texts_) {
    const std::size_t at = text.rfind(end);
    if (at != std::string_view::npos) last = std::max(last.value_or(0), at);
  }
  add(last.value_or(text.size()), false);
  return result;
}

// The tail's tokens are those it has in the whole text, because it begins with a special token.
bool ReplayRules::append_tail(const End& end, Tokens& tokens) const {
  if (end.tail.empty()) return true;
  Tokens tail;
  append_tokens(vocab_, end.tail, tail);
  if (tail.empty() || !llama_vocab_is_eog(vocab_, tail.front())) return false;
  if (end.sampled && tail.front() != tokens.back()) return false;
  append(TokenSpan(tail).subspan(end.sampled ? 1 : 0), tokens);
  return true;
}

bool ReplayRules::append_by_meaning(const End& end, const SampledReply& reply,
                                    Tokens& tokens) const {
  const auto says_it = [&](std::string_view text) {
    const ReplyMeaning meaning = read_meaning(reply.syntax, text);
    return std::ranges::find(reply.meanings, meaning) != reply.meanings.end();
  };
  if (!says_it(end.body)) {
    // The message's own values were compared already, so other words are the template's.
    const std::string respelled = with_json_words(end.body);
    if (respelled == end.body || !says_it(respelled)) return false;
  }
  const bool drop_end = reply.complete && !end.sampled;
  append(TokenSpan(reply.tokens).first(reply.tokens.size() - (drop_end ? 1 : 0)), tokens);
  return append_tail(end, tokens);
}

// The longest beginning of the reply that the text has byte for byte. The text stays what the
// template made it, so nothing can be said that the client did not send; only white space at the
// reply's very end may be gone from it.
bool ReplayRules::append_literally(std::string_view text, const End& end, const SampledReply& reply,
                                   Tokens& tokens) const {
  std::size_t shared = 0;  // bytes
  std::size_t kept = 0;    // tokens whose text is shared and ends between two characters
  std::size_t kept_bytes = 0;
  for (std::size_t i = 0; i < reply.tokens.size(); ++i) {
    std::string piece = pieces_text(vocab_, TokenSpan(reply.tokens).subspan(i, 1));
    // A tokeniser that puts a space before every text shows it, and templates do not write it.
    if (i == 0 && piece.starts_with(' ') && !end.body.starts_with(' ')) piece.erase(0, 1);
    if (!end.body.substr(shared).starts_with(piece)) {
      const std::string rest = piece + pieces_text(vocab_, TokenSpan(reply.tokens).subspan(i + 1));
      const std::string_view unread = end.body.substr(shared);
      if (kept == i && is_blank(rest) && is_blank(unread)) {
        append(reply.tokens, tokens);
        return append_tail(end, tokens);
      }
      break;
    }
    shared += piece.size();
    if (is_inside_character(end.body, shared)) continue;
    kept = i + 1;
    kept_bytes = shared;
  }
  if (kept_bytes == 0) return false;
  append(TokenSpan(reply.tokens).first(kept), tokens);
  if (kept_bytes == end.body.size()) return append_tail(end, tokens);
  Tokens rest;
  append_tokens(vocab_, text.substr(kept_bytes), rest);
  // Some tokenisers begin every text with a space; this one begins in the middle of a reply.
  if (pieces_text(vocab_, rest) != text.substr(kept_bytes)) return false;
  append(rest, tokens);
  return true;
}

std::shared_ptr<const Tokens> ReplayRules::tokens_for(std::string_view piece,
                                                      const SampledReply& reply) const {
  if (!reply.replayable) return nullptr;
  const std::string primer = pieces_text(vocab_, reply.primer);
  if (!piece.starts_with(primer)) return nullptr;
  const std::string_view text = piece.substr(primer.size());
  for (const End& end : ends(text, reply)) {
    auto tokens = std::make_shared<Tokens>(reply.primer);
    if (reply.closed && append_by_meaning(end, reply, *tokens)) return tokens;
    tokens->resize(reply.primer.size());
    if (!reply.complete && append_literally(text, end, reply, *tokens)) return tokens;
  }
  return nullptr;
}

}  // namespace samovar
