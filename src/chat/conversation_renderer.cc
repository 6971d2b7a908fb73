#include "chat/conversation_renderer.h"

#include <exception>
#include <utility>

#include "chat/template_inputs.h"
#include "chat/template_source.h"

namespace samovar {
namespace {

// Rendered again if the date changed meanwhile, because the parts of one result come from several
// renderings.
common_chat_params apply(const common_chat_templates* templates,
                         const common_chat_templates_inputs& inputs) {
  for (;;) {
    const std::string date = local_date();
    common_chat_params params = common_chat_templates_apply(templates, inputs);
    if (date == local_date()) return params;
  }
}

}  // namespace

ConversationRenderer::ConversationRenderer(common_chat_templates_ptr templates,
                                           const llama_vocab* vocab)
    : templates_(std::move(templates)), formats_(templates_.get(), vocab) {
  DirectTemplate direct(templates_.get(), vocab);
  if (renders_alike(templates_.get(), direct)) direct_.emplace(std::move(direct));
}

ConversationRenderer::Rendering ConversationRenderer::render(
    const common_chat_templates_inputs& inputs, const std::string& tool) {
  if (auto rendering = render_directly(inputs, tool)) return std::move(*rendering);
  return render_by_library(inputs, tool);
}

std::optional<ConversationRenderer::Rendering> ConversationRenderer::render_directly(
    const common_chat_templates_inputs& inputs, const std::string& tool) {
  if (!direct_) return std::nullopt;
  Rendering rendering;
  rendering.format = formats_.get(tool.empty() ? inputs : only_tool(inputs, tool));
  if (rendering.format == nullptr) return std::nullopt;
  try {
    rendering.text = direct_->render(inputs);
  } catch (const std::exception&) {
    return std::nullopt;  // libllama-common words the error
  }
  // A template may ask for the reply another way because of what the conversation says.
  if (!rendering.text.ends_with(rendering.format->primer)) return std::nullopt;
  return rendering;
}

ConversationRenderer::Rendering ConversationRenderer::render_by_library(
    const common_chat_templates_inputs& inputs, const std::string& tool) {
  common_chat_params params = apply(templates_.get(), inputs);
  Rendering rendering;
  rendering.text = std::move(params.prompt);
  if (tool.empty()) {
    rendering.format = formats_.make(params, inputs.json_schema);
    return rendering;
  }
  const common_chat_templates_inputs narrow = only_tool(inputs, tool);
  rendering.format = formats_.get(narrow);
  if (rendering.format == nullptr || rendering.format->primer != params.generation_prompt) {
    rendering.format = formats_.make(apply(templates_.get(), narrow), narrow.json_schema);
  }
  return rendering;
}

}  // namespace samovar
