// Router: from method and path to a handler. The one entrance of api/: http/ calls handle() for
// every request, on the connection's thread. Keys and Host are checked by http/ before it gets
// here.
//
//   POST /v1/chat/completions, /chat/completions    ChatCompletions
//   GET  /v1/chat/completions, and .../{id}         TurnsApi: those that are kept
//   /v1/responses, and .../{id}...                  ResponsesApi
//   GET  /v1/samovar/turns, /v1/samovar/sessions    TurnsApi: the ledger
//   GET  /v1/models, /models, /v1/models/{id}       Models
//   GET  /health                                    constant; touches nothing, never blocks
//   GET  /ready                                     200 if turns are accepted, else 503
#pragma once

#include <functional>
#include <optional>

#include "api/chat_completions.h"
#include "api/http_types.h"
#include "api/models.h"
#include "api/responses_api.h"
#include "api/turns_api.h"

namespace samovar {

class Router {
 public:
  // `ready` is asked by GET /ready; cheap, any thread. `turns` may be null: there is no ledger.
  Router(ChatCompletions& chat, ResponsesApi& responses, TurnsApi* turns, const Models& models,
         std::function<bool()> ready);

  [[nodiscard]] HttpResponse handle(const HttpRequest& request) const;

 private:
  [[nodiscard]] HttpResponse route(const HttpRequest& request) const;
  [[nodiscard]] HttpResponse ready() const;
  [[nodiscard]] std::optional<HttpResponse> route_turns(const HttpRequest& request) const;

  ChatCompletions& chat_;
  ResponsesApi& responses_;
  TurnsApi* const turns_;
  const Models& models_;
  std::function<bool()> ready_;
};

}  // namespace samovar
