// One reply in a rendered conversation, and the tokens it was sampled as: may they stand for the
// text? Only if the text says what was sampled, read by the format's own syntax. Then the prompt
// has the primer's tokens, the sampled ones, and those of what the template puts after the end.
// Pure; any thread. Cannot fail: null means that the text's own tokens are right.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chat/message_openers.h"
#include "chat/sampled_reply.h"

namespace samovar {

class ReplayRules {
 public:
  ReplayRules(const llama_vocab* vocab, const MessageOpeners& openers);

  // Text with which replies begin; empty if nothing can be replayed in this format.
  [[nodiscard]] const std::string& opening() const { return opening_; }

  // `piece` reaches from the opener of a reply to the next opener. A reply that was cut may come
  // back shorter: then as many of its tokens as the text really begins with stand for it, and the
  // rest is tokenised.
  [[nodiscard]] std::shared_ptr<const Tokens> tokens_for(std::string_view piece,
                                                         const SampledReply& reply) const;

 private:
  struct End;  // a place at which the reply may end in the text
  [[nodiscard]] std::vector<End> ends(std::string_view text, const SampledReply& reply) const;
  [[nodiscard]] bool append_tail(const End& end, Tokens& tokens) const;
  [[nodiscard]] bool append_literally(std::string_view text, const End& end,
                                      const SampledReply& reply, Tokens& tokens) const;
  [[nodiscard]] bool append_by_meaning(const End& end, const SampledReply& reply,
                                       Tokens& tokens) const;

  const llama_vocab* vocab_;
  std::string opening_;
  std::vector<std::string> end_texts_;  // of all end-of-generation tokens
};

}  // namespace samovar
