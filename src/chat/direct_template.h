// DirectTemplate: a conversation to text with one run of the template. libllama-common's own way
// runs it three times and makes parser and grammar anew with every request; this one repeats what
// it does to the messages beforehand and leaves the rest to reply_format_memo.h.
//
// Only for templates of which renders_alike() has shown that both ways give the same bytes: some
// have a handler in libllama-common that edits the messages further.
// Immutable once made; any thread. render() throws what the template throws.
#pragma once

#include <llama-common/chat.h>

#include <optional>
#include <string>

struct llama_vocab;

namespace samovar {

class DirectTemplate {
 public:
  // The same templates as `templates`, which may go away afterwards. Throws if they do not parse.
  DirectTemplate(const common_chat_templates* templates, const llama_vocab* vocab);

  [[nodiscard]] std::string render(const common_chat_templates_inputs& inputs) const;

 private:
  common_chat_template ordinary_;
  std::optional<common_chat_template> with_tools_;  // some models have a separate one
  bool add_bos_;
  bool add_eos_;
};

// Renders a set of conversations both ways: roles, reasoning, tool calls and results, with and
// without tools, thinking on and off. True if all give the same bytes or are refused alike.
bool renders_alike(const common_chat_templates* templates, const DirectTemplate& direct);

}  // namespace samovar
