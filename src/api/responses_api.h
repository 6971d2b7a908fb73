// The Responses API. One instance for the process, called by all HTTP threads at once; as
// ChatCompletions, a call blocks its thread until the reply is complete, but for background ones.
//
//   POST   /v1/responses                    a reply: whole, streamed, or in the background
//   GET    /v1/responses/{id}               as it stands; ?stream=true&starting_after=N: its events
//   DELETE /v1/responses/{id}               forgets it; one that runs in the background ends
//   POST   /v1/responses/{id}/cancel        ends a background one
//   GET    /v1/responses/{id}/input_items   ?limit=&after=&order=
//
// Errors in OpenAI's form: invalid_argument with field and remedy, not_found.
#pragma once

#include <string>
#include <string_view>

#include "api/background_replies.h"
#include "api/http_types.h"
#include "api/message_memo.h"
#include "api/stored_responses.h"
#include "api/turn_runner.h"

namespace samovar {

class ResponsesApi {
 public:
  // `runner` and `background` must outlive this object and every response made by it.
  ResponsesApi(TurnRunner& runner, BackgroundReplies& background, std::string model_id);

  // `rest` is the path after /v1/responses ("", "/id", "/id/cancel", "/id/input_items").
  [[nodiscard]] HttpResponse handle(const HttpRequest& request, std::string_view rest);

 private:
  [[nodiscard]] HttpResponse create(const HttpRequest& request);
  [[nodiscard]] HttpResponse create_background(const HttpRequest& request, ResponsesRequest& parsed,
                                               const ResponseHead& head, TurnOrigin origin,
                                               std::unique_ptr<ReplyDialect> dialect, Micros began);
  [[nodiscard]] HttpResponse one(const HttpRequest& request, const std::string& id);
  [[nodiscard]] HttpResponse resume(const HttpRequest& request, const std::string& id);
  [[nodiscard]] HttpResponse remove(const std::string& id);
  [[nodiscard]] HttpResponse cancel(const std::string& id);
  [[nodiscard]] HttpResponse input_items(const HttpRequest& request, const std::string& id);
  [[nodiscard]] std::string json_now(const StoredResponse& response) const;

  TurnRunner& runner_;
  BackgroundReplies& background_;
  const std::string model_id_;
  StoredResponses stored_;
  MessageMemo items_;
};

}  // namespace samovar
