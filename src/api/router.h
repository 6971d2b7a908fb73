// Router: from method and path to a handler. The one entrance of api/: http/ calls handle() for
// every request, on the connection's thread. Keys and Host are checked by http/ before it gets
// here.
//
// All that is answered stands in one table (router.cc), from which the 404s and 405s follow;
// docs/openapi.json is held to it by a test.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/chat_completions.h"
#include "api/http_types.h"
#include "api/messages_api.h"
#include "api/models.h"
#include "api/page_api.h"
#include "api/responses_api.h"
#include "api/text_api.h"
#include "api/turns_api.h"

namespace samovar {

class Router {
 public:
  // All must outlive the router.
  struct Parts {
    ChatCompletions& chat;
    MessagesApi& messages;
    ResponsesApi& responses;
    TextApi& text;
    TurnsApi* turns;  // may be null: there is no ledger
    const Models& models;
    std::function<bool()> ready;  // whether turns are accepted; cheap, any thread
    PageApi* page = nullptr;      // null: nothing watches
    std::function<std::string()> metrics = [] { return std::string(); };  // any thread
  };
  explicit Router(Parts parts);

  [[nodiscard]] HttpResponse handle(const HttpRequest& request) const;

  // What is answered, as "GET /v1/models/{id}".
  [[nodiscard]] std::vector<std::string> endpoints() const;

 private:
  // `rest` is what stands in the path for the pattern's "{name}".
  using Handler = std::function<HttpResponse(const HttpRequest& request, std::string_view rest)>;
  struct Route {
    std::string_view method;
    std::string_view pattern;  // with at most one "{name}", which takes no '/' unless at the end
    Handler handler;
  };
  void add_replies();
  void add_turns();
  void add_state();
  void add_page();
  [[nodiscard]] HttpResponse route(const HttpRequest& request) const;
  [[nodiscard]] HttpResponse ready() const;

  const Parts parts_;
  std::vector<Route> routes_;
};

}  // namespace samovar
