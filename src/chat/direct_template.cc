// What is done to the messages here is what common_chat_templates_apply() does for every template,
// in the same order.
#include "chat/direct_template.h"

#include <llama-common/chat-auto-parser.h>
#include <llama-common/common.h>
#include <llama.h>

#include "chat/template_source.h"

namespace samovar {
namespace {

std::string piece(const llama_vocab* vocab, llama_token token) {
  return token == LLAMA_TOKEN_NULL ? std::string() : common_token_to_piece(vocab, token, true);
}

bool has(const common_chat_template& source, const char* text) {
  return source.source().find(text) != std::string::npos;
}

std::string trimmed(const std::string& text) {
  constexpr const char* kSpace = " \n\r\t\f\v";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

json to_json(const common_chat_template& source, const std::vector<common_chat_msg>& messages) {
  const chat_template_caps& caps = source.caps;
  // GPT-OSS knows developers; StepFun loops on leftover whitespace.
  const bool developer_is_system = !has(source, "<|channel|>");
  // GPT-OSS wants reasoning under its own name for it, and no content beside calls then.
  const bool thinking = has(source, "<|channel|>") && !has(source, "[SYSTEM_PROMPT]");
  const bool trim = has(source, "You have access to the following functions in JSONSchema format");
  json result = json::array();
  for (const common_chat_msg& message : messages) {
    json target;
    if (trim) {
      common_chat_msg bare = message;
      bare.content = trimmed(bare.content);
      bare.reasoning_content = trimmed(bare.reasoning_content);
      target = bare.to_json_oaicompat();
    } else {
      target = message.to_json_oaicompat();
    }
    if (developer_is_system && message.role == "developer") target["role"] = "system";
    if (caps.supports_object_arguments && !message.tool_calls.empty()) {
      for (json& call : target["tool_calls"]) {
        json& arguments = call["function"]["arguments"];
        arguments = json::parse(arguments.get<std::string>());
      }
    }
    if (thinking && !message.reasoning_content.empty()) {
      target["thinking"] = message.reasoning_content;
      if (!message.tool_calls.empty()) target.erase("content");
    }
    result.push_back(std::move(target));
  }
  return result;
}

// For templates without a system role: its text opens the next message.
void merge_system(json& messages) {
  if (messages.empty() || messages.front().at("role") != "system") return;
  if (messages.size() > 1) {
    json& next = messages[1];
    next["content"] = messages.front().at("content").get<std::string>() + "\n" +
                      next.at("content").get<std::string>();
  }
  messages.erase(0);
}

json extra_context(const common_chat_templates_inputs& inputs) {
  json context = json::object();
  context["datetime"] = local_date("%b %d %Y");
  context["date_string"] = local_date("%d %b %Y");
  for (const auto& [name, value] : inputs.chat_template_kwargs) context[name] = json::parse(value);
  return context;
}

}  // namespace

DirectTemplate::DirectTemplate(const common_chat_templates* templates, const llama_vocab* vocab)
    : ordinary_(common_chat_templates_source(templates), piece(vocab, llama_vocab_bos(vocab)),
                piece(vocab, llama_vocab_eos(vocab))),
      add_bos_(llama_vocab_get_add_bos(vocab)),
      add_eos_(llama_vocab_get_add_eos(vocab)) {
  const std::string separate = common_chat_templates_source(templates, "tool_use");
  if (!separate.empty() && separate != ordinary_.source()) {
    with_tools_.emplace(separate, ordinary_.bos_token(), ordinary_.eos_token());
  }
}

std::string DirectTemplate::render(const common_chat_templates_inputs& inputs) const {
  const common_chat_template& source =
      !inputs.tools.empty() && with_tools_ ? *with_tools_ : ordinary_;
  autoparser::generation_params params;
  params.tools = common_chat_tools_to_json_oaicompat(inputs.tools);
  params.messages = to_json(source, inputs.messages);
  if (!source.caps.supports_system_role) merge_system(params.messages);
  params.extra_context = extra_context(inputs);
  params.enable_thinking = inputs.enable_thinking;
  params.add_generation_prompt = inputs.add_generation_prompt;
  params.add_bos = add_bos_;
  params.add_eos = add_eos_;
  return common_chat_template_direct_apply(source, params);
}

}  // namespace samovar
