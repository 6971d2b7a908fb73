#include "api/model_chat.h"

#include <utility>

namespace samovar {
namespace {

class ModelReplyReader final : public ReplyReader {
 public:
  explicit ModelReplyReader(std::shared_ptr<const ReplySyntax> syntax)
      : parser_(std::move(syntax)) {}

  std::vector<ReplyDelta> feed(std::string_view bytes) override { return parser_.feed(bytes); }
  std::vector<ReplyDelta> finish() override { return parser_.finish(); }
  [[nodiscard]] bool called_tool() const override { return parser_.called_tool(); }

 private:
  ReplyParser parser_;
};

}  // namespace

ModelChat::ModelChat(const ChatFormat& format, PieceFunction piece, ReplySource* replies)
    : format_(format), piece_(std::move(piece)), replies_(replies) {}

Result<RenderedChat> ModelChat::render(const ChatRequest& request) const {
  return format_.render(request, replies_);
}

Result<RenderedChat> ModelChat::resume(const CutReply& cut) const { return format_.resume(cut); }

RenderedChat ModelChat::plain(std::string_view text) const { return format_.plain(text); }
RenderedChat ModelChat::plain(Tokens tokens) const { return format_.plain(std::move(tokens)); }

Tokens ModelChat::tokenize(std::string_view text) const { return format_.tokenize(text); }
std::string ModelChat::detokenize(TokenSpan tokens) const { return format_.detokenize(tokens); }

const std::string& ModelChat::template_source() const { return format_.template_source(); }

std::unique_ptr<ReplyReader> ModelChat::reader(const RenderedChat& chat) const {
  return std::make_unique<ModelReplyReader>(chat.syntax);
}

std::string ModelChat::piece(Token token) const { return piece_(token); }

}  // namespace samovar
