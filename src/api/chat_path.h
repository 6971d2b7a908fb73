// ChatPath: what a dialect needs of the model's chat format, as an interface so that the dialects
// are tested without a model. ModelChat (model_chat.h) is the real one.
//
// A ChatPath is shared by all HTTP threads; a ReplyReader belongs to one reply and one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/chat_format.h"
#include "core/chat.h"
#include "core/tokens.h"

namespace samovar {

// As ReplyParser (chat_format.h): a growing reply in, deltas out, nothing lost.
class ReplyReader {
 public:
  virtual ~ReplyReader() = default;
  virtual std::vector<ReplyDelta> feed(std::string_view bytes) = 0;
  virtual std::vector<ReplyDelta> finish() = 0;
  [[nodiscard]] virtual bool called_tool() const = 0;
};

class ChatPath {
 public:
  virtual ~ChatPath() = default;
  [[nodiscard]] virtual Result<RenderedChat> render(const ChatRequest& request) const = 0;
  // The prompt of a reply that was cut, with what was said so far at its end.
  [[nodiscard]] virtual Result<RenderedChat> resume(const CutReply& cut) const = 0;
  // Prompts outside of any template (chat_format.h).
  [[nodiscard]] virtual RenderedChat plain(std::string_view text) const = 0;
  [[nodiscard]] virtual RenderedChat plain(Tokens tokens) const = 0;
  // Text to tokens and back, special tokens recognised and shown.
  [[nodiscard]] virtual Tokens tokenize(std::string_view text) const = 0;
  [[nodiscard]] virtual std::string detokenize(TokenSpan tokens) const = 0;
  // The chat template, as jinja source.
  [[nodiscard]] virtual const std::string& template_source() const = 0;
  [[nodiscard]] virtual std::unique_ptr<ReplyReader> reader(const RenderedChat& chat) const = 0;
  // A token's bytes, control tokens shown; for log probabilities.
  [[nodiscard]] virtual std::string piece(Token token) const = 0;
};

}  // namespace samovar
