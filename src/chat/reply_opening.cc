#include "chat/reply_opening.h"

#include <algorithm>
#include <optional>

#include "chat/opener_probe.h"
#include "chat/vocabulary.h"

namespace samovar {
namespace {

std::size_t shared_length(TokenSpan left, TokenSpan right) {
  return static_cast<std::size_t>(std::ranges::mismatch(left, right).in1 - left.begin());
}

// The primer from its first opener on.
Tokens primer_tokens(const llama_vocab* vocab, const MessageOpeners& openers,
                     const std::string& primer) {
  Tokens tokens;
  append_tokens(vocab, primer, tokens);
  const auto opener =
      std::ranges::find_if(tokens, [&](Token token) { return openers.contains(token); });
  tokens.erase(tokens.begin(), opener);
  return tokens;
}

// The role of the probe message whose content comes first in `text`.
std::optional<common_chat_role> first_role(std::string_view text) {
  std::optional<common_chat_role> role;
  std::size_t first = std::string_view::npos;
  for (const ProbeMessage& probe : kProbeMessages) {
    const std::size_t at = text.find(probe.marker);
    if (at >= first) continue;
    first = at;
    role = probe.role;
  }
  return role;
}

// What the primer's beginning has in common with the messages of one rendering.
struct Agreement {
  std::size_t with_replies;
  std::size_t with_others = 0;

  void compare(const llama_vocab* vocab, const MessageOpeners& openers, const std::string& history,
               TokenSpan primer) {
    Tokens tokens;
    append_tokens(vocab, history, tokens);
    const TokenSpan all(tokens);
    const auto is_opener = [&](Token token) { return openers.contains(token); };
    bool in_head = true;  // no message was met yet: what stands here is system or tools
    for (auto at = std::ranges::find_if(all, is_opener); at != all.end();) {
      const auto next = std::find_if(at + 1, all.end(), is_opener);
      const TokenSpan message(at, next);
      const auto role = first_role(token_text(vocab, message));
      const std::size_t shared = shared_length(primer, message);
      if (role == COMMON_CHAT_ROLE_ASSISTANT) {
        with_replies = std::min(with_replies, shared);
      } else if (role || in_head) {
        with_others = std::max(with_others, shared);
      }
      in_head = in_head && !role;
      at = next;
    }
  }
};

}  // namespace

Tokens find_reply_opening(const llama_vocab* vocab, const MessageOpeners& openers,
                          const std::vector<common_chat_params>& renderings) {
  Tokens primer;
  for (const auto& rendering : renderings) {
    const Tokens own = primer_tokens(vocab, openers, rendering.generation_prompt);
    if (own.empty()) continue;
    if (primer.empty()) primer = own;
    primer.resize(shared_length(primer, own));
    if (primer.empty()) return {};  // primers that begin differently
  }
  if (primer.empty()) return {};
  Agreement agreement{primer.size()};
  for (const auto& rendering : renderings) {
    std::string history = rendering.prompt;
    if (history.ends_with(rendering.generation_prompt)) {
      history.resize(history.size() - rendering.generation_prompt.size());
    }
    agreement.compare(vocab, openers, history, primer);
  }
  // One token more than any other message has. If replies in the history differ from the primer
  // before that, what they share has to do; if they share nothing, the primer alone counts.
  std::size_t length = std::min(agreement.with_others + 1, primer.size());
  if (agreement.with_replies > 0) length = std::min(length, agreement.with_replies);
  primer.resize(length);
  return primer;
}

}  // namespace samovar
