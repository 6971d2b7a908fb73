// Router: from method and path to a handler. The one entrance of api/: http/ calls handle() for
// every request, on the connection's thread. Keys and Host are checked by http/ before it gets
// here.
//
//   POST /v1/chat/completions, /chat/completions    ChatCompletions
//   GET  /v1/models, /models, /v1/models/{id}       Models
//   GET  /health                                    constant; touches nothing, never blocks
//   GET  /ready                                     200 if turns are accepted, else 503
#pragma once

#include <functional>

#include "api/chat_completions.h"
#include "api/http_types.h"
#include "api/models.h"

namespace samovar {

class Router {
 public:
  // `ready` is asked by GET /ready; cheap, any thread.
  Router(ChatCompletions& chat, const Models& models, std::function<bool()> ready);

  [[nodiscard]] HttpResponse handle(const HttpRequest& request) const;

 private:
  [[nodiscard]] HttpResponse route(const HttpRequest& request) const;
  [[nodiscard]] HttpResponse ready() const;

  ChatCompletions& chat_;
  const Models& models_;
  std::function<bool()> ready_;
};

}  // namespace samovar
