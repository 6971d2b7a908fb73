// POST /v1/chat/completions: parse, render, submit, then stream or collect the reply. One instance
// for the process, called by all HTTP threads at once; each call blocks its thread until the reply
// is complete (or, streaming, returns a response whose `stream` does). Errors become responses in
// OpenAI's form; once a stream has begun, an `error` event in it.
//
// When the client leaves, the turn is cancelled and its events are not waited for: the stream
// object is shared with the engine thread, which lets go of it within one engine call.
#pragma once

#include <memory>
#include <string>

#include "api/chat_path.h"
#include "api/chat_request.h"
#include "api/http_types.h"
#include "base/clock.h"
#include "base/limits.h"
#include "turn/turn_service.h"

namespace samovar {

// How often waiting looks around. Tests shorten them.
struct WaitTiming {
  Micros poll = 50 * kMillisecond;  // is the client still there?
  // An SSE comment after this much silence; one poll early, so that the promise holds.
  Micros keepalive = limits::keepalive_us - 50 * kMillisecond;
};

class ChatCompletions {
 public:
  // All references must outlive this object and every response made by it.
  ChatCompletions(const ChatPath& chat, TurnService& turns, const Clock& clock,
                  std::string model_id, ChatDefaults defaults, WaitTiming timing = {});

  [[nodiscard]] HttpResponse handle(const HttpRequest& request);

 private:
  const ChatPath& chat_;
  TurnService& turns_;
  const Clock& clock_;
  const std::string model_id_;
  const ChatDefaults defaults_;
  const WaitTiming timing_;
};

}  // namespace samovar
