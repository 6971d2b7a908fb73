// POST /v1/messages and /v1/messages/count_tokens, Anthropic's Messages API. One instance for the
// process, called by all HTTP threads at once; as ChatCompletions, with Anthropic's errors.
#pragma once

#include <string>

#include "api/http_types.h"
#include "api/message_memo.h"
#include "api/turn_runner.h"

namespace samovar {

class MessagesApi {
 public:
  // `runner` must outlive this object and every response made by it.
  MessagesApi(TurnRunner& runner, std::string model_id);

  [[nodiscard]] HttpResponse create(const HttpRequest& request);

  // How many tokens the prompt of such a request has. Leaves no trace.
  [[nodiscard]] HttpResponse count_tokens(const HttpRequest& request);

 private:
  TurnRunner& runner_;
  const std::string model_id_;
  MessageMemo messages_;
};

}  // namespace samovar
