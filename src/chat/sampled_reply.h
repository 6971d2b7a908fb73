// SampledReply: a reply as it was sampled: its tokens, those of the generation primer it followed,
// and what it says. Made by ChatFormat::read_sampled(), kept in a ReplyMemory, used by replay.h.
// Immutable once made, shared by threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chat/dialogue_key.h"
#include "core/tokens.h"

struct llama_vocab;

namespace samovar {

class ReplySyntax;
struct MessageOpeners;

// What a reply says: texts trimmed, arguments canonical. Equal if the same was said, whatever the
// spelling.
struct ReplyMeaning {
  std::string reasoning;
  std::string content;
  std::vector<CallMeaning> calls;
  bool operator==(const ReplyMeaning&) const = default;
};

struct SampledReply {
  std::uint64_t serial = 0;  // of this process; no two replies have the same
  Tokens primer;             // from Prompt::primer_start to the prompt's end
  Tokens tokens;             // sampled after it, the end token included if there was one
  std::shared_ptr<const ReplySyntax> syntax;

  bool complete = false;  // the end token was sampled
  // Nothing of its format is open at its end, so that an end may follow there: complete, or cut
  // between two words of the answer.
  bool closed = false;
  // Its tokens may stand in a prompt: it follows an opening of a reply and opens no other message.
  bool replayable = false;

  std::string reasoning;  // as the format reads it
  // What it says with all its tokens shown, and, if that differs, as a client gets it that is not
  // shown control tokens.
  std::vector<ReplyMeaning> meanings;

  [[nodiscard]] std::size_t bytes() const;  // of memory, about; without the syntax
};

std::shared_ptr<const SampledReply> make_sampled_reply(const llama_vocab* vocab,
                                                       const MessageOpeners& openers,
                                                       std::shared_ptr<const ReplySyntax> syntax,
                                                       Tokens primer, Tokens tokens);

// What `text`, read by `syntax`, says.
ReplyMeaning read_meaning(const std::shared_ptr<const ReplySyntax>& syntax, std::string_view text);

// The bytes of `tokens` one after the other, as a stream shows them.
std::string pieces_text(const llama_vocab* vocab, TokenSpan tokens, bool show_control = true);

}  // namespace samovar
