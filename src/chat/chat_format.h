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

#include "base/result.h"
#include "core/chat.h"
#include "core/prompt.h"
#include "core/sampling.h"

struct llama_model;  // borrowed from the engine, never dereferenced outside chat/ and engine/

namespace samovar {

class ReplySyntax;  // how to parse the reply to one rendered prompt; opaque

struct RenderedChat {
  Prompt prompt;
  std::string text;  // the rendered template, for logs and /apply-template
  Grammar grammar;   // of tools or response_format; empty gbnf if none
  std::string generation_prompt;
  std::vector<std::string> stop;  // the format's own stop strings
  std::shared_ptr<const ReplySyntax> syntax;
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
  [[nodiscard]] Result<RenderedChat> render(const ChatRequest& request) const;

  // The structure of tokens that were a prompt once, with what was sampled after it: where messages
  // and replies begin. `primer_start` is the original prompt's.
  [[nodiscard]] Prompt prompt_of(Tokens tokens, Position primer_start) const;

  // For keeping how a reply is read beyond this process. load() fails on what save() did not make.
  [[nodiscard]] static SavedSyntax save(const ReplySyntax& syntax);
  [[nodiscard]] static Result<std::shared_ptr<const ReplySyntax>> load(const SavedSyntax& saved);

  // Plain text to tokens and back, special tokens recognised and shown.
  [[nodiscard]] std::vector<Token> tokenize(std::string_view text) const;
  [[nodiscard]] std::string detokenize(TokenSpan tokens) const;

 private:
  struct Impl;
  explicit ChatFormat(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar
