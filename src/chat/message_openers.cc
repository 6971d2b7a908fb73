#include "chat/message_openers.h"

#include <llama-common/chat.h>
#include <llama.h>

#include <algorithm>
#include <array>

#include "chat/opener_probe.h"
#include "chat/reply_opening.h"
#include "chat/vocabulary.h"

namespace samovar {
namespace {

class Finder {
 public:
  Finder(const llama_vocab* vocab, MessageOpeners& found) : vocab_(vocab), found_(found) {}

  // What libllama-common knows about the template.
  void take_delimiters(const common_chat_params& params) {
    for (const common_chat_msg_delimiter& known : params.message_delimiters.delimiters) {
      add(known.role, known.delimiter);
    }
  }

  // For roles it says nothing about: between two messages, the first special token after those that
  // end a reply opens the second one.
  void take_probe(const common_chat_params& params) {
    std::size_t end_of_previous = 0;
    for (const ProbeMessage& probe : kProbeMessages) {
      const std::size_t at = params.prompt.find(probe.marker, end_of_previous);
      if (at == std::string::npos) continue;
      const std::string gap = params.prompt.substr(end_of_previous, at - end_of_previous);
      end_of_previous = at + std::string_view(probe.marker).size();
      if (!known_roles_[probe.role]) take_gap(probe.role, gap);
    }
  }

  void close_round() { known_roles_ = added_roles_; }

 private:
  void take_gap(common_chat_role role, const std::string& gap) {
    Tokens tokens;
    append_tokens(vocab_, gap, tokens);
    std::size_t opener = std::string::npos;
    std::size_t from = 0;
    for (const Token token : tokens) {
      if (!is_special(vocab_, token)) continue;
      const std::string_view text = llama_vocab_get_text(vocab_, token);
      const std::size_t at = gap.find(text, from);
      if (at == std::string::npos) continue;
      from = at + text.size();
      if (llama_vocab_is_eog(vocab_, token)) {
        opener = std::string::npos;  // what came before belongs to an earlier message
      } else if (opener == std::string::npos && token != llama_vocab_bos(vocab_)) {
        opener = at;
      }
    }
    if (opener != std::string::npos) add(role, gap.substr(opener));
  }

  // `head` is the text a message of `role` begins with; the end of the message before may precede
  // it.
  void add(common_chat_role role, std::string head) {
    for (;;) {
      head.erase(0, std::min(head.find_first_not_of(" \t\n"), head.size()));
      Tokens tokens;
      append_tokens(vocab_, head, tokens);
      if (tokens.empty() || !is_special(vocab_, tokens.front())) return;
      const Token token = tokens.front();
      const std::string text = llama_vocab_get_text(vocab_, token);
      if (text.empty() || !head.starts_with(text)) return;
      if (!llama_vocab_is_eog(vocab_, token)) return keep(role, head, {token, text});
      head.erase(0, text.size());
    }
  }

  void keep(common_chat_role role, const std::string& head, MessageOpeners::Opener opener) {
    added_roles_[role] = true;
    if (!found_.contains(opener.token)) found_.openers.push_back(std::move(opener));
    const MessageOpeners::Head entry{head, role == COMMON_CHAT_ROLE_SYSTEM};
    if (std::ranges::find(found_.heads, entry) == found_.heads.end()) {
      found_.heads.push_back(entry);
    }
  }

  const llama_vocab* vocab_;
  MessageOpeners& found_;
  std::array<bool, 8> known_roles_{};
  std::array<bool, 8> added_roles_{};
};

// Some end of `left` is also a beginning of `right`, or one lies inside the other.
bool may_collide(std::string_view left, std::string_view right) {
  if (left.find(right) != std::string_view::npos) return true;
  for (std::size_t length = 1; length < std::min(left.size(), right.size()); ++length) {
    if (left.ends_with(right.substr(0, length)) || right.ends_with(left.substr(0, length))) {
      return true;
    }
  }
  return false;
}

// libllama cuts special tokens out longest first. Splitting at openers beforehand is the same
// unless a token that is cut earlier could swallow part of an opener, or an opener eats the space
// before it.
bool is_separable(const llama_vocab* vocab, const MessageOpeners& found) {
  for (const auto& opener : found.openers) {
    if ((static_cast<unsigned>(llama_vocab_get_attr(vocab, opener.token)) &
         LLAMA_TOKEN_ATTR_LSTRIP) != 0) {
      return false;
    }
    for (Token token = 0; token < llama_vocab_n_tokens(vocab); ++token) {
      if (token == opener.token || !is_special(vocab, token)) continue;
      const std::string_view text = llama_vocab_get_text(vocab, token);
      if (text.size() >= opener.text.size() && may_collide(text, opener.text)) return false;
    }
  }
  return true;
}

}  // namespace

bool MessageOpeners::contains(Token token) const {
  return std::ranges::any_of(openers,
                             [token](const Opener& opener) { return opener.token == token; });
}

bool MessageOpeners::begins_reply(TokenSpan tokens) const {
  return !reply_opening.empty() && tokens.size() >= reply_opening.size() &&
         std::ranges::equal(tokens.first(reply_opening.size()), reply_opening);
}

bool MessageOpeners::begins_body(std::string_view text) const {
  const Head* best = nullptr;
  for (const Head& head : heads) {
    if (!text.starts_with(head.text)) continue;
    if (best == nullptr || head.text.size() > best->text.size()) best = &head;
  }
  return best != nullptr && !best->system;
}

MessageOpeners find_message_openers(const common_chat_templates* templates,
                                    const llama_vocab* vocab) {
  MessageOpeners found;
  Finder finder(vocab, found);
  const std::vector<common_chat_params> renderings = render_probes(templates);
  for (const auto& rendering : renderings) finder.take_delimiters(rendering);
  finder.close_round();
  for (const auto& rendering : renderings) finder.take_probe(rendering);
  found.separable = is_separable(vocab, found);
  found.reply_opening = find_reply_opening(vocab, found, renderings);
  return found;
}

}  // namespace samovar
