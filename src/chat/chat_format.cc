// ChatFormat: the way from a request to a prompt.
//
//   ChatRequest -> template_inputs -> conversation_renderer -> prompt_builder
//
// The template runs once for each request; parser, grammar and the like are remembered by tools and
// response format, and tokens by message, so that a follow-up costs little.
//
// What llama-server does with the same request is done here the same way, except: reasoning is
// always apart from content, json_object really constrains, a named tool constrains the grammar to
// that tool without changing the prompt, and the time of day never reaches the prompt
// (template_source.h).
#include "chat/chat_format.h"

#include <fmt/format.h>
#include <llama-common/chat.h>
#include <llama-common/log.h>
#include <llama.h>

#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "chat/conversation_renderer.h"
#include "chat/late_system.h"
#include "chat/prompt_builder.h"
#include "chat/replay.h"
#include "chat/reply_syntax.h"
#include "chat/template_inputs.h"
#include "chat/template_source.h"
#include "chat/vocabulary.h"
#include "chat/whole_reply.h"

namespace samovar {

namespace {

constexpr std::size_t kReplayMemoBytes = std::size_t{64} << 20;  // as much as tokens of all pieces

}  // namespace

struct ChatFormat::Impl {
  Impl(const llama_vocab* model_vocab, common_chat_templates_ptr templates,
       std::string template_text)
      : vocab(model_vocab),
        source(std::move(template_text)),
        parallel_calls(
            common_chat_templates_get_caps(templates.get())["supports_parallel_tool_calls"]),
        late_system(takes_late_system(templates.get())),
        prompts(vocab, find_message_openers(templates.get(), vocab)),
        replays(ReplayRules(vocab, prompts.openers()), kReplayMemoBytes),
        renderer(std::move(templates), vocab) {}

  const llama_vocab* vocab;
  std::string source;
  bool parallel_calls;
  bool late_system;  // the template takes system messages anywhere
  PromptBuilder prompts;
  ReplayMemo replays;
  ConversationRenderer renderer;
};

namespace {

// libllama-common writes prompts and replies into its log; text belongs in no log by default.
void silence_common_log() {
  static std::once_flag once;
  std::call_once(once, [] { common_log_set_verbosity_thold(LOG_LEVEL_OUTPUT); });
}

}  // namespace

ChatFormat::ChatFormat(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatFormat::~ChatFormat() = default;

Result<std::unique_ptr<ChatFormat>> ChatFormat::create(const llama_model* model,
                                                       ChatFormatOptions options) {
  silence_common_log();
  const bool given = !options.template_override.empty();
  std::string source = std::move(options.template_override);
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
  const bool use_own = !given && frozen == source;
  try {
    // Given no source, libllama-common also takes the model's separate template for tools.
    auto templates = common_chat_templates_init(model, use_own ? std::string() : frozen);
    auto impl = std::make_unique<Impl>(llama_model_get_vocab(model), std::move(templates), frozen);
    return std::unique_ptr<ChatFormat>(new ChatFormat(std::move(impl)));
  } catch (const std::exception& error) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the chat template cannot be used: {}", error.what()),
                "--chat-template-file", "give a corrected template as a file");
  }
}

Result<RenderedChat> ChatFormat::render(const ChatRequest& request, ReplySource* replies) const {
  const DialogueKeys keys = dialogue_keys(request.messages);
  std::optional<Replay> replay;
  if (replies != nullptr) replay.emplace(impl_->replays, request, keys, *replies);
  auto chat = render_once(request, replay ? &*replay : nullptr);
  if (chat) chat->context = keys.whole;
  return chat;
}

Result<RenderedChat> ChatFormat::render_once(const ChatRequest& request, Replay* replay) const {
  Impl& impl = *impl_;
  auto inputs = make_template_inputs(request, impl.parallel_calls);
  if (!inputs) return std::unexpected(std::move(inputs.error()));
  const bool restored = replay != nullptr && replay->restore_reasoning(inputs->messages);
  if (!impl.late_system) fold_late_system(inputs->messages);
  const bool must_call = inputs->tool_choice == COMMON_CHAT_TOOL_CHOICE_REQUIRED;
  RenderedChat chat;
  try {
    const bool one_tool_only = must_call && request.tools.size() > 1;
    auto [text, format] =
        impl.renderer.render(*inputs, one_tool_only ? request.tool_choice_name : "");
    chat.prompt = impl.prompts.build(text, format->primer, replay);
    chat.text = std::move(text);
    chat.grammar = format->grammar;
    chat.generation_prompt = format->generation_prompt;
    chat.stop = format->stop;
    chat.syntax = format->syntax;
  } catch (const std::exception& error) {
    if (restored) return render_once(request, nullptr);  // what the client did not send is no error
    return std::unexpected(explain_refusal(request, error.what()));
  }
  if (must_call && chat.grammar.gbnf.empty()) {
    return fail(ErrorKind::invalid_argument,
                "this model's chat template has no tool calls, so none can be required",
                "tool_choice", "leave tool_choice out, or serve a model made for tools");
  }
  if (replay != nullptr) {
    chat.replayed = replay->replayed();
    chat.reasoning_restored = replay->reasoning_restored();
  }
  return chat;
}

std::shared_ptr<const SampledReply> ChatFormat::read_sampled(const RenderedChat& chat,
                                                             Tokens reply) const {
  const auto& tokens = chat.prompt.tokens;
  return read_sampled(chat.syntax, Tokens(tokens.begin() + chat.prompt.primer_start, tokens.end()),
                      std::move(reply));
}

std::shared_ptr<const SampledReply> ChatFormat::read_sampled(
    std::shared_ptr<const ReplySyntax> syntax, Tokens primer, Tokens reply) const {
  return make_sampled_reply(impl_->vocab, impl_->prompts.openers(), std::move(syntax),
                            std::move(primer), std::move(reply));
}

Result<RenderedChat> ChatFormat::resume(const CutReply& cut) const {
  auto syntax = load(cut.syntax);
  if (!syntax) return std::unexpected(syntax.error());
  RenderedChat chat;
  Tokens tokens(cut.prompt.begin(), cut.prompt.end());
  const auto primer_start = static_cast<Position>(cut.prompt.size() - cut.primer.size());
  tokens.insert(tokens.end(), cut.reply.begin(), cut.reply.end());
  chat.prompt = impl_->prompts.structure(std::move(tokens), primer_start);
  chat.said = token_text(impl_->vocab, cut.reply);
  chat.syntax = std::move(*syntax);
  chat.context = cut.context;
  chat.stop = cut.syntax.stop;
  return chat;
}

RenderedChat ChatFormat::plain(std::string_view text) const {
  RenderedChat chat;
  chat.prompt = impl_->prompts.build(text, {});
  // The text may bring the BOS token that was added.
  const auto& tokens = chat.prompt.tokens;
  if (llama_vocab_get_add_bos(impl_->vocab) && tokens.size() > 1 && tokens[0] == tokens[1] &&
      tokens[0] == llama_vocab_bos(impl_->vocab)) {
    return plain(Tokens(tokens.begin() + 1, tokens.end()));
  }
  chat.text = text;
  chat.syntax = impl_->renderer.syntaxes().get({});
  return chat;
}

RenderedChat ChatFormat::plain(Tokens tokens) const {
  RenderedChat chat;
  chat.text = token_text(impl_->vocab, tokens);
  const auto size = static_cast<Position>(tokens.size());
  chat.prompt = impl_->prompts.structure(std::move(tokens), size);
  chat.syntax = impl_->renderer.syntaxes().get({});
  return chat;
}

SavedSyntax ChatFormat::save(const ReplySyntax& syntax) { return syntax.saved; }

Result<std::shared_ptr<const ReplySyntax>> ChatFormat::load(const SavedSyntax& saved) const {
  try {
    return impl_->renderer.syntaxes().get(saved);
  } catch (const std::exception& error) {
    return fail(ErrorKind::internal,
                fmt::format("how the reply is read cannot be loaded: {}", error.what()));
  }
}

const std::string& ChatFormat::template_source() const { return impl_->source; }

ChatMessage ChatFormat::read_reply(std::shared_ptr<const ReplySyntax> syntax,
                                   TokenSpan reply) const {
  if (!reply.empty() && llama_vocab_is_eog(impl_->vocab, reply.back())) {
    reply = reply.first(reply.size() - 1);
  }
  return read_whole_reply(std::move(syntax), token_text(impl_->vocab, reply));
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
