// POST /v1/chat/completions. One instance for the process, called by all HTTP threads at once; each
// call blocks its thread until the reply is complete (or, streaming, returns a response whose
// `stream` does). Errors become responses in OpenAI's form; once a stream has begun, an `error`
// event in it.
#pragma once

#include <string>

#include "api/chat_request.h"
#include "api/http_types.h"
#include "api/message_memo.h"
#include "api/turn_runner.h"

namespace samovar {

class ChatCompletions {
 public:
  // `runner` must outlive this object and every response made by it.
  ChatCompletions(TurnRunner& runner, std::string model_id);

  [[nodiscard]] HttpResponse handle(const HttpRequest& request);

  // POST /v1/samovar/turns/{id}/continue: a reply that was cut goes on where it ended. The answer
  // is a chat completion with the whole reply, what was said before included. The body may be
  // empty, or say how to sample, stream and so on, as a chat request does.
  [[nodiscard]] HttpResponse continue_turn(const HttpRequest& request, const std::string& id);

 private:
  [[nodiscard]] std::unique_ptr<ReplyDialect> dialect(const std::string& id,
                                                      const ChatCompletionRequest& parsed) const;

  TurnRunner& runner_;
  const std::string model_id_;
  MessageMemo messages_;
};

}  // namespace samovar
