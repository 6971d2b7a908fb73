// TurnRunner: what happens to a request once its dialect has read it: render, submit, then stream
// or collect the reply. One for the process, used by every dialect on all HTTP threads at once.
//
// When the client leaves, the turn is cancelled and its events are not waited for: the stream
// object is shared with the engine thread, which lets go of it within one engine call.
#pragma once

#include <memory>
#include <string>

#include "api/chat_path.h"
#include "api/dialect_request.h"
#include "api/http_types.h"
#include "api/reply_dialect.h"
#include "api/running_reply.h"
#include "base/clock.h"
#include "turn/turn_records.h"
#include "turn/turn_service.h"

namespace samovar {

class TurnRunner {
 public:
  // All references must outlive this object and every response made by it. `records` may be null:
  // then turns leave no trace.
  TurnRunner(const ChatPath& chat, TurnService& turns, TurnRecords* records, const Clock& clock,
             ChatDefaults defaults, WaitTiming timing = {});

  // A conversation: fixes volatile lines and the order of tools where the owner wants that, finds
  // the session's name, renders, and goes on as run() does. `origin` has id and dialect.
  [[nodiscard]] HttpResponse converse(const HttpRequest& request, DialectRequest& parsed,
                                      TurnOrigin origin, std::unique_ptr<ReplyDialect> dialect,
                                      Micros began);

  // Submits what was rendered and answers with its reply, or with what went wrong in the form of
  // the dialect. Blocks until the reply is complete (or, streaming, returns a response whose
  // `stream` does).
  [[nodiscard]] HttpResponse run(const HttpRequest& request, DialectRequest& parsed,
                                 RenderedChat& rendered, TurnOrigin origin,
                                 std::unique_ptr<ReplyDialect> dialect, Micros began);

  // The prompt that converse() would submit.
  [[nodiscard]] Result<RenderedChat> render(DialectRequest& parsed) const;

  [[nodiscard]] const ChatPath& chat() const { return chat_; }
  [[nodiscard]] const ChatDefaults& defaults() const { return defaults_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] TurnRecords* records() const { return records_; }

  // converse() in its two halves, for who wants the reply itself: a reply that runs, streamed if
  // `parsed` says so, or why there is none. refuse(): that as a response.
  [[nodiscard]] Result<std::unique_ptr<RunningReply>> begin_conversation(
      const HttpRequest& request, DialectRequest& parsed, TurnOrigin origin,
      std::unique_ptr<ReplyDialect> dialect, Micros began);
  [[nodiscard]] HttpResponse refuse(const Error& error, ErrorForm form) const;

  [[nodiscard]] const WaitTiming& timing() const { return timing_; }

 private:
  // Volatile lines fixed, tools in order, then the template.
  [[nodiscard]] Result<RenderedChat> render(DialectRequest& parsed, TurnOrigin& origin) const;
  [[nodiscard]] Result<std::unique_ptr<RunningReply>> submit(
      const HttpRequest& request, DialectRequest& parsed, RenderedChat& rendered, TurnOrigin origin,
      std::unique_ptr<ReplyDialect> dialect, Micros began);

  const ChatPath& chat_;
  TurnService& turns_;
  TurnRecords* const records_;
  const Clock& clock_;
  const ChatDefaults defaults_;
  const WaitTiming timing_;
};

}  // namespace samovar
