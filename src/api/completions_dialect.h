// CompletionsDialect: a reply as POST /v1/completions answers it: chunks of text, or one
// text_completion. Pure. One reply, one thread.
#pragma once

#include <string>
#include <vector>

#include "api/chat_path.h"
#include "api/dialect_request.h"
#include "api/reply_dialect.h"
#include "api/reply_json.h"

namespace samovar {

struct CompletionOptions {
  StreamExtras extras;
  bool logprobs = false;
  std::string echo;  // what the reply begins with: the prompt's text, or nothing
};

class CompletionsDialect final : public ReplyDialect {
 public:
  // `chat`, which knows the tokens' bytes, must outlive the dialect.
  CompletionsDialect(ReplyIdentity identity, CompletionOptions options, const ChatPath& chat);

  void planned(const TurnStarted& plan, std::string& out) override;
  void progress(const ReplyProgress& progress, std::string& out) override;
  void block_begins(const ReplyBlock&, std::string&) override {}
  void block_grows(const ReplyBlock& block, std::string_view piece, std::span<const Sampled> tokens,
                   std::string& out) override;
  void ended(const ReplyDone& reply, std::string& out) override;
  void failed(const Error& error, std::string& out) override;
  [[nodiscard]] HttpResponse whole(const ReplyDone& reply) override;
  [[nodiscard]] std::string client_field(const std::string& field) const override {
    return field == "messages" ? "prompt" : field;
  }

 private:
  [[nodiscard]] nlohmann::ordered_json logprobs(std::span<const Sampled> tokens);
  void append_chunk(std::string_view text, std::span<const Sampled> tokens, const char* finish,
                    std::string_view extra, std::string& out);

  const ReplyIdentity identity_;
  const CompletionOptions options_;
  const ChatPath& chat_;
  std::string head_;             // of every chunk, up to the choices
  std::size_t text_offset_ = 0;  // bytes of the tokens whose log probabilities were told
};

}  // namespace samovar
