#include "chat/sampled_reply.h"

#include <llama.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "chat/message_openers.h"
#include "chat/reply_syntax.h"
#include "chat/whole_reply.h"

namespace samovar {
namespace {

ReplyMeaning to_meaning(const ChatMessage& message) {
  return {std::string(trimmed(message.reasoning)), std::string(trimmed(message.content)),
          meaning_of(message.tool_calls)};
}

bool is_known(const llama_vocab* vocab, TokenSpan tokens) {
  return std::ranges::all_of(tokens, [count = llama_vocab_n_tokens(vocab)](Token token) {
    return token >= 0 && token < count;
  });
}

// A second opener would begin another message, whatever the text around it says.
bool may_replay(const MessageOpeners& openers, TokenSpan primer, TokenSpan body) {
  const auto opens = [&](Token token) { return openers.contains(token); };
  return openers.begins_reply(primer) && std::ranges::none_of(primer.subspan(1), opens) &&
         !body.empty() && std::ranges::none_of(body, opens);
}

// Text that may be cut here without leaving markup open.
bool ends_between_words(const ReplySyntax& syntax, const std::string& text) {
  const Reading reading = read_reply(syntax, text);
  if (reading.verdict == Reading::Verdict::complete) return true;
  return reading.verdict == Reading::Verdict::open && reading.calls.empty() &&
         !reading.ends_in_reasoning && !trimmed(reading.content).empty() &&
         trimmed(std::string_view(text).substr(std::min(reading.text_end, text.size()))).empty();
}

}  // namespace

std::string pieces_text(const llama_vocab* vocab, TokenSpan tokens, bool show_control) {
  std::string text;
  std::array<char, 256> piece{};
  for (const Token token : tokens) {
    const auto room = static_cast<std::int32_t>(piece.size());
    std::int32_t size = llama_token_to_piece(vocab, token, piece.data(), room, 0, show_control);
    if (size >= 0) {
      text.append(piece.data(), static_cast<std::size_t>(size));
      continue;
    }
    const std::size_t begin = text.size();
    text.resize(begin + static_cast<std::size_t>(-size));
    llama_token_to_piece(vocab, token, text.data() + begin, -size, 0, show_control);
  }
  return text;
}

ReplyMeaning read_meaning(const std::shared_ptr<const ReplySyntax>& syntax, std::string_view text) {
  return to_meaning(read_whole_reply(syntax, text));
}

std::shared_ptr<const SampledReply> make_sampled_reply(const llama_vocab* vocab,
                                                       const MessageOpeners& openers,
                                                       std::shared_ptr<const ReplySyntax> syntax,
                                                       Tokens primer, Tokens tokens) {
  static std::atomic<std::uint64_t> last_serial = 0;
  auto reply = std::make_shared<SampledReply>();
  reply->serial = ++last_serial;
  reply->primer = std::move(primer);
  reply->tokens = std::move(tokens);
  reply->syntax = std::move(syntax);
  if (reply->syntax == nullptr || !is_known(vocab, reply->primer) ||
      !is_known(vocab, reply->tokens)) {
    return reply;
  }
  TokenSpan body = reply->tokens;
  reply->complete = !body.empty() && llama_vocab_is_eog(vocab, body.back());
  if (reply->complete) body = body.first(body.size() - 1);
  reply->replayable = may_replay(openers, reply->primer, body);

  const std::string text = pieces_text(vocab, body);
  const ChatMessage said = read_whole_reply(reply->syntax, text);
  reply->reasoning = said.reasoning;
  reply->closed = reply->complete || ends_between_words(*reply->syntax, text);
  reply->meanings.push_back(to_meaning(said));
  const std::string shown = pieces_text(vocab, body, /*show_control=*/false);
  if (shown != text) {
    ReplyMeaning meaning = read_meaning(reply->syntax, shown);
    if (meaning != reply->meanings.front()) reply->meanings.push_back(std::move(meaning));
  }
  return reply;
}

std::size_t SampledReply::bytes() const {
  std::size_t sum =
      sizeof(SampledReply) + (primer.size() + tokens.size()) * sizeof(Token) + reasoning.size();
  for (const ReplyMeaning& meaning : meanings) {
    sum += sizeof(ReplyMeaning) + meaning.reasoning.size() + meaning.content.size();
    for (const CallMeaning& call : meaning.calls) {
      sum += sizeof(CallMeaning) + call.name.size() + call.arguments.size();
    }
  }
  return sum;
}

}  // namespace samovar
