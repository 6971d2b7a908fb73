// ConversationRenderer: a conversation to the text of its prompt and the format of its reply, the
// direct way where that is proven to give the same bytes (direct_template.h), there mostly by its
// new messages alone (incremental_template.h), else by libllama-common's.
// Owned by ChatFormat; any thread. render() throws what the template throws.
#pragma once

#include <llama-common/chat.h>

#include <memory>
#include <optional>
#include <string>

#include "chat/incremental_template.h"
#include "chat/reply_format_memo.h"

namespace samovar {

class ConversationRenderer {
 public:
  ConversationRenderer(common_chat_templates_ptr templates, const llama_vocab* vocab);

  struct Rendering {
    std::string text;
    std::shared_ptr<const ReplyFormat> format;
  };

  // If `only_tool` is not empty, the format allows no other tool; the text offers all of them.
  Rendering render(const common_chat_templates_inputs& inputs, const std::string& only_tool);

  // The direct way alone: nothing if the template is not proven or the conversation is unusual.
  std::optional<Rendering> render_directly(const common_chat_templates_inputs& inputs,
                                           const std::string& only_tool);

  // libllama-common's way alone.
  Rendering render_by_library(const common_chat_templates_inputs& inputs,
                              const std::string& only_tool);

  [[nodiscard]] SyntaxMemo& syntaxes() { return formats_.syntaxes(); }
  [[nodiscard]] const common_chat_templates* templates() const { return templates_.get(); }
  [[nodiscard]] bool is_direct() const { return direct_.has_value(); }
  [[nodiscard]] bool is_incremental() const { return direct_ && direct_->splices(); }

 private:
  common_chat_templates_ptr templates_;
  ReplyFormatMemo formats_;
  std::optional<IncrementalTemplate> direct_;  // only if proven
};

}  // namespace samovar
