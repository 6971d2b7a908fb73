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
#include "api/message_memo.h"
#include "base/clock.h"
#include "base/limits.h"
#include "turn/turn_records.h"
#include "turn/turn_service.h"

namespace samovar {

// How often waiting looks around. Tests shorten them.
struct WaitTiming {
  Micros poll = 50 * kMillisecond;  // is the client still there?
  // An SSE comment after this much silence; one poll early, so that the promise holds.
  Micros keepalive = limits::keepalive_us - 50 * kMillisecond;
  // How long a streamed response's headers wait for the plan, of which they tell.
  Micros headers = 200 * kMillisecond;
};

class ChatCompletions {
 public:
  // All references must outlive this object and every response made by it. `records` may be null:
  // then turns leave no trace.
  ChatCompletions(const ChatPath& chat, TurnService& turns, TurnRecords* records,
                  const Clock& clock, std::string model_id, ChatDefaults defaults,
                  WaitTiming timing = {});

  [[nodiscard]] HttpResponse handle(const HttpRequest& request);

  // POST /v1/samovar/turns/{id}/continue: a reply that was cut goes on where it ended. The answer
  // is a chat completion with the whole reply, what was said before included. The body may be
  // empty, or say how to sample, stream and so on, as a chat request does.
  [[nodiscard]] HttpResponse continue_turn(const HttpRequest& request, const std::string& id);

 private:
  // Submits what was rendered and answers with its reply.
  [[nodiscard]] HttpResponse run(const HttpRequest& request, TurnOrigin origin,
                                 ChatCompletionRequest& parsed, RenderedChat& rendered,
                                 Micros began);

  const ChatPath& chat_;
  TurnService& turns_;
  TurnRecords* const records_;
  const Clock& clock_;
  const std::string model_id_;
  const ChatDefaults defaults_;
  const WaitTiming timing_;
  MessageMemo messages_;
};

}  // namespace samovar
