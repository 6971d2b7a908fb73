// ChatFormat: the way from a request to a prompt.
//
//   ChatRequest -> template_inputs -> libllama-common (jinja, parser, grammar) -> prompt_builder
//
// What llama-server does with the same request is done here the same way, except: reasoning is
// always apart from content, json_object really constrains, a named tool constrains the grammar to
// that tool without changing the prompt, and the time of day never reaches the prompt
// (template_source.h).
#include "chat/chat_format.h"

#include <fmt/format.h>
#include <llama-common/chat.h>
#include <llama-common/json-schema-to-grammar.h>
#include <llama-common/json.h>
#include <llama-common/log.h>
#include <llama.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>

#include "chat/prompt_builder.h"
#include "chat/reply_syntax.h"
#include "chat/syntax_memo.h"
#include "chat/template_inputs.h"
#include "chat/template_source.h"
#include "chat/vocabulary.h"

namespace samovar {

struct ChatFormat::Impl {
  Impl(const llama_vocab* model_vocab, common_chat_templates_ptr model_templates)
      : vocab(model_vocab),
        templates(std::move(model_templates)),
        parallel_calls(
            common_chat_templates_get_caps(templates.get())["supports_parallel_tool_calls"]),
        prompts(vocab, find_message_openers(templates.get(), vocab)) {}

  const llama_vocab* vocab;
  common_chat_templates_ptr templates;
  bool parallel_calls;
  PromptBuilder prompts;
  SyntaxMemo syntaxes;
};

namespace {

// libllama-common writes prompts and replies into its log; text belongs in no log by default.
void silence_common_log() {
  static std::once_flag once;
  std::call_once(once, [] { common_log_set_verbosity_thold(LOG_LEVEL_OUTPUT); });
}

// Throws what the template throws. Rendered again if the date changed meanwhile, because the parts
// of one result come from several renderings.
common_chat_params apply(const common_chat_templates* templates,
                         const common_chat_templates_inputs& inputs) {
  for (;;) {
    const std::string date = local_date();
    common_chat_params params = common_chat_templates_apply(templates, inputs);
    if (date == local_date()) return params;
  }
}

// The params that allow a call of `name` only. They do not depend on the conversation (a test holds
// that for every bundled template), so a one-word conversation does if it ends the same way.
common_chat_params apply_only_tool(const common_chat_templates* templates,
                                   const common_chat_templates_inputs& inputs,
                                   const std::string& name, const std::string& generation_prompt) {
  common_chat_templates_inputs narrow = only_tool(inputs, name);
  std::vector<common_chat_msg> conversation = std::exchange(narrow.messages, {});
  common_chat_msg hello;
  hello.role = "user";
  hello.content = "Hello";
  narrow.messages = {hello};
  try {
    common_chat_params params = apply(templates, narrow);
    if (params.generation_prompt == generation_prompt) return params;
  } catch (const std::exception&) {
    // The template wants more than one message; it gets them below.
  }
  narrow.messages = std::move(conversation);
  return apply(templates, narrow);
}

GrammarTrigger to_trigger(const llama_vocab* vocab, const common_grammar_trigger& trigger,
                          std::vector<Token>& preserved) {
  using Kind = GrammarTrigger::Kind;
  switch (trigger.type) {
    case COMMON_GRAMMAR_TRIGGER_TYPE_TOKEN:
      return {Kind::token, trigger.value, trigger.token};
    case COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN:
      return {Kind::pattern, trigger.value, -1};
    case COMMON_GRAMMAR_TRIGGER_TYPE_PATTERN_FULL:
      return {Kind::pattern_full, trigger.value, -1};
    case COMMON_GRAMMAR_TRIGGER_TYPE_WORD:
      break;
  }
  Tokens tokens;
  append_tokens(vocab, trigger.value, tokens);
  if (tokens.size() != 1) return {Kind::word, trigger.value, -1};
  if (std::ranges::find(preserved, tokens.front()) == preserved.end()) {
    preserved.push_back(tokens.front());
  }
  return {Kind::token, trigger.value, tokens.front()};
}

Grammar to_grammar(const llama_vocab* vocab, const common_chat_params& params, bool from_tools) {
  Grammar grammar;
  grammar.gbnf = params.grammar;
  grammar.lazy = params.grammar_lazy;
  grammar.from_tools = from_tools;
  for (const std::string& text : params.preserved_tokens) {
    Tokens tokens;
    append_tokens(vocab, text, tokens);
    if (tokens.size() == 1) grammar.preserved_tokens.push_back(tokens.front());
  }
  if (grammar.lazy) {
    for (const common_grammar_trigger& trigger : params.grammar_triggers) {
      grammar.triggers.push_back(to_trigger(vocab, trigger, grammar.preserved_tokens));
    }
    // Without a trigger it would never bind.
    if (grammar.triggers.empty()) grammar.gbnf.clear();
  }
  if (!params.thinking_end_tags.empty()) {
    grammar.thinking_start = params.thinking_start_tag;
    grammar.thinking_end = params.thinking_end_tags;
  }
  return grammar;
}

// The grammar of a template that knows nothing of response formats: the reply is the JSON alone.
void constrain_to_schema(const std::string& schema, RenderedChat& chat) {
  chat.grammar = {};
  chat.grammar.gbnf = json_schema_to_grammar(common_json::parse(schema), /*force_gbnf=*/true);
  chat.generation_prompt.clear();  // the grammar begins after it
}

}  // namespace

ChatFormat::ChatFormat(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatFormat::~ChatFormat() = default;

Result<std::unique_ptr<ChatFormat>> ChatFormat::create(const llama_model* model,
                                                       ChatFormatOptions options) {
  silence_common_log();
  std::string source = options.template_override;
  if (source.empty()) {
    const char* own = llama_model_chat_template(model, nullptr);
    if (own == nullptr) own = llama_model_chat_template(model, "tool_use");
    if (own != nullptr) source = own;
  }
  if (source.empty()) {
    return fail(ErrorKind::invalid_argument, "the model has no chat template",
                "--chat-template-file", "give the template of the model's family as a file");
  }
  const std::string frozen = freeze_time_of_day(source);
  const bool use_own = options.template_override.empty() && frozen == source;
  try {
    // Given no source, libllama-common also takes the model's separate template for tools.
    auto templates = common_chat_templates_init(model, use_own ? std::string() : frozen);
    auto impl = std::make_unique<Impl>(llama_model_get_vocab(model), std::move(templates));
    return std::unique_ptr<ChatFormat>(new ChatFormat(std::move(impl)));
  } catch (const std::exception& error) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the chat template cannot be used: {}", error.what()),
                "--chat-template-file", "give a corrected template as a file");
  }
}

Result<RenderedChat> ChatFormat::render(const ChatRequest& request) const {
  Impl& impl = *impl_;
  auto inputs = make_template_inputs(request, impl.parallel_calls);
  if (!inputs) return std::unexpected(std::move(inputs.error()));
  const bool must_call = inputs->tool_choice == COMMON_CHAT_TOOL_CHOICE_REQUIRED;
  RenderedChat chat;
  try {
    common_chat_params params = apply(impl.templates.get(), *inputs);
    chat.prompt = impl.prompts.build(params.prompt, params.generation_prompt);
    chat.text = std::move(params.prompt);
    if (must_call && !request.tool_choice_name.empty() && request.tools.size() > 1) {
      params = apply_only_tool(impl.templates.get(), *inputs, request.tool_choice_name,
                               params.generation_prompt);
    }
    chat.grammar = to_grammar(impl.vocab, params, inputs->json_schema.empty());
    chat.generation_prompt = params.generation_prompt;
    chat.stop = params.additional_stops;
    chat.syntax = impl.syntaxes.get(params);
    if (chat.grammar.gbnf.empty() && !inputs->json_schema.empty()) {
      constrain_to_schema(inputs->json_schema, chat);
    }
  } catch (const std::exception& error) {
    return std::unexpected(explain_refusal(request, error.what()));
  }
  if (must_call && chat.grammar.gbnf.empty()) {
    return fail(ErrorKind::invalid_argument,
                "this model's chat template has no tool calls, so none can be required",
                "tool_choice", "leave tool_choice out, or serve a model made for tools");
  }
  return chat;
}

std::vector<Token> ChatFormat::tokenize(std::string_view text) const {
  Tokens tokens;
  append_tokens(impl_->vocab, text, tokens);
  return tokens;
}

std::string ChatFormat::detokenize(TokenSpan tokens) const {
  return token_text(impl_->vocab, tokens);
}

}  // namespace samovar
