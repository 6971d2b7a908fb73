// ChatDialect: a reply as POST /v1/chat/completions answers it: chunks of a chat.completion.chunk
// stream, or one chat.completion.
//
// The chunk with the role goes out with the first text (or progress, if asked for), not before: a
// client that takes the first chunk for the first token then measures the truth.
#pragma once

#include <string>

#include "api/chat_path.h"
#include "api/dialect_request.h"
#include "api/reply_dialect.h"
#include "api/reply_json.h"

namespace samovar {

struct ChatStreamOptions {
  StreamExtras extras;
  bool logprobs = false;
};

class ChatDialect final : public ReplyDialect {
 public:
  // `chat`, which knows the tokens' bytes, must outlive the dialect.
  ChatDialect(ReplyIdentity identity, ChatStreamOptions options, const ChatPath& chat);

  void progress(const ReplyProgress& progress, std::string& out) override;
  void block_begins(const ReplyBlock& block, std::string& out) override;
  void block_grows(const ReplyBlock& block, std::string_view piece, std::span<const Sampled> tokens,
                   std::string& out) override;
  void ended(const ReplyDone& reply, std::string& out) override;
  void failed(const Error& error, std::string& out) override;
  [[nodiscard]] HttpResponse whole(const ReplyDone& reply) override;

 private:
  void begin(std::string& out);
  void append_chunk(std::string_view delta, std::span<const Sampled> tokens, const char* finish,
                    std::string_view extra, std::string& out) const;

  const ReplyIdentity identity_;
  const ChatStreamOptions options_;
  const ChatPath& chat_;
  std::string head_;  // of every chunk, up to the choices
  std::string tail_;  // after the choices
  bool begun_ = false;
};

}  // namespace samovar
