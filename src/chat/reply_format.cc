#include "chat/reply_format.h"

#include <llama-common/json-schema-to-grammar.h>
#include <llama-common/json.h>
#include <llama.h>

#include <algorithm>

#include "chat/vocabulary.h"

namespace samovar {
namespace {

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

}  // namespace

ReplyFormat make_reply_format(const llama_vocab* vocab, SyntaxMemo& syntaxes,
                              const common_chat_params& params, const std::string& json_schema) {
  ReplyFormat format;
  format.primer = params.generation_prompt;
  format.generation_prompt = params.generation_prompt;
  format.grammar = to_grammar(vocab, params, /*from_tools=*/json_schema.empty());
  format.stop = params.additional_stops;
  format.syntax =
      syntaxes.get({static_cast<int>(params.format), params.generation_prompt, params.parser, {}});
  if (format.grammar.gbnf.empty() && !json_schema.empty()) {
    // The template knows nothing of response formats: the reply is the JSON alone.
    format.grammar = {};
    format.grammar.gbnf = json_schema_to_grammar(common_json::parse(json_schema),
                                                 /*force_gbnf=*/true);
    format.generation_prompt.clear();  // the grammar begins after it
  }
  return format;
}

}  // namespace samovar
