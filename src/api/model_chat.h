// ModelChat: the ChatPath of a loaded model. Made by app/ once, shared by all HTTP threads; borrows
// the ChatFormat. Nothing fails here that ChatFormat does not report.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/chat_path.h"

namespace samovar {

class ModelChat final : public ChatPath {
 public:
  using PieceFunction = std::function<std::string(Token)>;  // usually Engine::piece(token, true)

  // `replies`: where sampled replies are looked for; may be null, else it must outlive this.
  ModelChat(const ChatFormat& format, PieceFunction piece, ReplySource* replies = nullptr);

  [[nodiscard]] Result<RenderedChat> render(const ChatRequest& request) const override;
  [[nodiscard]] Result<RenderedChat> resume(const CutReply& cut) const override;
  [[nodiscard]] RenderedChat plain(std::string_view text) const override;
  [[nodiscard]] RenderedChat plain(Tokens tokens) const override;
  [[nodiscard]] Tokens tokenize(std::string_view text) const override;
  [[nodiscard]] std::string detokenize(TokenSpan tokens) const override;
  [[nodiscard]] const std::string& template_source() const override;
  [[nodiscard]] std::unique_ptr<ReplyReader> reader(const RenderedChat& chat) const override;
  [[nodiscard]] std::string piece(Token token) const override;

 private:
  const ChatFormat& format_;
  PieceFunction piece_;
  ReplySource* replies_;
};

}  // namespace samovar
