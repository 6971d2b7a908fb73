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

// One rendering, cut at its openers.
struct Sections {
  Tokens tokens;
  std::vector<std::size_t> begins;
  std::vector<std::optional<common_chat_role>> roles;
  std::size_t messages_end = 0;  // after the last section with a message in it
  std::size_t primer_begin = 0;  // the section that asks for the reply; may be past the end

  Sections(const llama_vocab* vocab, const MessageOpeners& openers,
           const common_chat_params& rendering) {
    append_tokens(vocab, rendering.prompt, tokens);
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      if (openers.contains(tokens[at])) begins.push_back(at);
    }
    for (std::size_t i = 0; i < begins.size(); ++i) {
      roles.push_back(first_role(token_text(vocab, section(i))));
      if (roles.back()) messages_end = i + 1;
    }
    // libllama-common's generation prompt may begin inside an opener (after "<|", where without it
    // the text would end with "<|endoftext|>") or leave out one that stands there anyway.
    std::size_t bytes = 0;
    for (primer_begin = begins.size(); primer_begin > messages_end;) {
      bytes += token_text(vocab, section(--primer_begin)).size();
      if (bytes >= rendering.generation_prompt.size()) break;
    }
  }

  [[nodiscard]] TokenSpan section(std::size_t index) const {
    const std::size_t end = index + 1 < begins.size() ? begins[index + 1] : tokens.size();
    return TokenSpan(tokens).subspan(begins[index], end - begins[index]);
  }

  [[nodiscard]] TokenSpan primer() const {
    if (messages_end == 0 || primer_begin == begins.size()) return {};
    return TokenSpan(tokens).subspan(begins[primer_begin]);
  }
};

// How much of the primer replies in the history begin with, and other messages.
struct Agreement {
  std::size_t with_replies = 0;
  std::size_t with_others = 0;

  void compare(const Sections& sections, TokenSpan primer) {
    bool in_head = true;  // no message was met yet: what stands here is system or tools
    for (std::size_t i = 0; i < sections.primer_begin; ++i) {
      const std::size_t shared = shared_length(primer, sections.section(i));
      const auto role = sections.roles[i];
      in_head = in_head && !role;
      const bool outside = in_head || i >= sections.messages_end;
      if (role == COMMON_CHAT_ROLE_ASSISTANT) {
        with_replies = std::min(with_replies, shared);
      } else if (role == COMMON_CHAT_ROLE_SYSTEM || role == COMMON_CHAT_ROLE_USER || outside) {
        with_others = std::max(with_others, shared);
      }  // else a tool's result, which some templates put into the reply that called it
    }
  }
};

}  // namespace

Tokens find_reply_opening(const llama_vocab* vocab, const MessageOpeners& openers,
                          const std::vector<common_chat_params>& renderings) {
  std::vector<Sections> all;
  all.reserve(renderings.size());
  for (const auto& rendering : renderings) all.emplace_back(vocab, openers, rendering);
  std::optional<Tokens> primer;
  for (const Sections& sections : all) {
    const TokenSpan own = sections.primer();
    if (own.empty()) continue;
    if (!primer) primer.emplace(own.begin(), own.end());
    primer->resize(shared_length(*primer, own));
  }
  if (!primer || primer->empty()) return {};
  Agreement agreement{primer->size()};
  for (const Sections& sections : all) agreement.compare(sections, *primer);
  // One token more than any other message has. If replies in the history differ from the primer
  // before that, what they share has to do; if they share nothing, the primer alone counts.
  std::size_t length = std::min(agreement.with_others + 1, primer->size());
  if (agreement.with_replies > 0) length = std::min(length, agreement.with_replies);
  primer->resize(length);
  return *primer;
}

}  // namespace samovar
