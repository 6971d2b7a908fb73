// ChatFormat: from a ChatRequest to a Prompt, and from a reply's bytes back to content, reasoning
// and tool calls. The adapter over libllama-common's jinja templates, PEG parsers and grammars;
// nothing else in Samovar includes them.
//
// ChatFormat is immutable after construction (its memos have their own locks) and shared by all
// HTTP threads. A ReplyParser belongs to one reply and one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "core/chat.h"
#include "core/prompt.h"
#include "core/sampling.h"

struct llama_model;  // borrowed from the engine, never dereferenced outside chat/ and engine/

namespace samovar {

class Replay;
class ReplySource;    // where sampled replies are found (chat/reply_memory.h)
class ReplySyntax;    // how to parse the reply to one rendered prompt; opaque
struct SampledReply;  // a reply as it was sampled (chat/sampled_reply.h)

// A reply that was cut, as it is kept: tokens only.
struct CutReply {
  TokenSpan prompt;
  TokenSpan primer;  // the prompt's end
  TokenSpan reply;   // sampled so far
  SavedSyntax syntax;
  Sha256 context{};  // as RenderedChat has it
};

struct RenderedChat {
  Prompt prompt;
  // The rendered template, for logs and /apply-template. Replies that were replayed may have been
  // sampled with other spellings.
  std::string text;
  Grammar grammar;  // of tools or response_format; empty gbnf if none
  std::string generation_prompt;
  std::vector<std::string> stop;  // the format's own stop strings
  std::shared_ptr<const ReplySyntax> syntax;
  Sha256 context{};            // names the request's messages by meaning
  std::string said;            // the reply's text so far, where a cut one goes on
  int replayed = 0;            // replies whose sampled tokens are part of the prompt
  int reasoning_restored = 0;  // replies whose reasoning the client had left out
};

// Turns a growing reply into deltas. Nothing of the reply is ever lost: text that the format's
// parser rejects is delivered as content.
class ReplyParser {
 public:
  explicit ReplyParser(std::shared_ptr<const ReplySyntax> syntax);
  ~ReplyParser();
  ReplyParser(ReplyParser&&) noexcept;
  ReplyParser& operator=(ReplyParser&&) noexcept;

  // Adds bytes (may end inside a UTF-8 character) and returns what they make certain.
  std::vector<ReplyDelta> feed(std::string_view bytes);

  // The reply is complete (or was cut): returns the rest.
  std::vector<ReplyDelta> finish();

  // True once a tool call was delivered: finish_reason becomes "tool_calls".
  [[nodiscard]] bool called_tool() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct ChatFormatOptions {
  std::string template_override;  // jinja source; empty: the model's own
};

class ChatFormat {
 public:
  // `model` must outlive the format. Fails if the model has no usable chat template.
  static Result<std::unique_ptr<ChatFormat>> create(const llama_model* model,
                                                    ChatFormatOptions options);
  ~ChatFormat();

  // Errors: invalid_argument with the field at fault (messages, tools, response_format, ...).
  // Replies that are in `replies` have the tokens in the prompt that they were sampled as, and in a
  // running tool loop their reasoning, too, whatever the client's spelling (chat/replay.h).
  [[nodiscard]] Result<RenderedChat> render(const ChatRequest& request,
                                            ReplySource* replies = nullptr) const;

  // The reply to a prompt, for a ReplyMemory to find under RenderedChat::context.
  [[nodiscard]] std::shared_ptr<const SampledReply> read_sampled(const RenderedChat& chat,
                                                                 Tokens reply) const;
  // The same from what a ledger keeps: `primer` are the prompt's tokens from primer_start on. For
  // what goes on after resume(), too: `reply` is then what was sampled before and after the cut.
  [[nodiscard]] std::shared_ptr<const SampledReply> read_sampled(
      std::shared_ptr<const ReplySyntax> syntax, Tokens primer, Tokens reply) const;

  // A prompt with which a cut reply goes on where it ended. No grammar binds what follows. Errors:
  // what load() says.
  [[nodiscard]] Result<RenderedChat> resume(const CutReply& cut) const;

  // A prompt outside of any template, whose reply is text alone: plain text (the model's BOS token
  // is added where it wants one), or tokens as they are.
  [[nodiscard]] RenderedChat plain(std::string_view text) const;
  [[nodiscard]] RenderedChat plain(Tokens tokens) const;

  // For keeping how a reply is read beyond this process. load() fails on what save() did not make.
  [[nodiscard]] static SavedSyntax save(const ReplySyntax& syntax);
  [[nodiscard]] Result<std::shared_ptr<const ReplySyntax>> load(const SavedSyntax& saved) const;

  // The template, as jinja source.
  [[nodiscard]] const std::string& template_source() const;

  // What a reply says, from its tokens, the end token among them or not. Calls have no ids.
  [[nodiscard]] ChatMessage read_reply(std::shared_ptr<const ReplySyntax> syntax,
                                       TokenSpan reply) const;

  // Plain text to tokens and back, special tokens recognised and shown.
  [[nodiscard]] std::vector<Token> tokenize(std::string_view text) const;
  [[nodiscard]] std::string detokenize(TokenSpan tokens) const;

 private:
  struct Impl;
  explicit ChatFormat(std::unique_ptr<Impl> impl);
  Result<RenderedChat> render_once(const ChatRequest& request, Replay* replay) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar
