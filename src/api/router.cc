#include "api/router.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "api/errors.h"
#include "api/json_response.h"
#include "api/page_files.h"
#include "obs/metrics.h"

namespace samovar {
namespace {

constexpr std::string_view kKnownPaths =
    "POST /v1/chat/completions, /v1/messages and /v1/responses, GET / (a page), /v1/models, "
    "/v1/samovar/turns, /v1/samovar/state, /metrics, /health and /ready";

// Clients are configured with and without /v1.
std::string_view full_path(std::string_view path) {
  if (path == "/chat/completions") return "/v1/chat/completions";
  if (path == "/completions") return "/v1/completions";
  if (path == "/models") return "/v1/models";
  return path;
}

// What stands for "{name}", empty if the pattern has none; nullopt if the path does not fit. A name
// at the pattern's end takes the rest of the path, because ids of models have slashes.
std::optional<std::string_view> fit(std::string_view pattern, std::string_view path) {
  const std::size_t open = pattern.find('{');
  if (open == std::string_view::npos) {
    return pattern == path ? std::optional(std::string_view()) : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, open);
  const std::string_view after = pattern.substr(pattern.find('}') + 1);
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) ||
      !path.ends_with(after)) {
    return std::nullopt;
  }
  path = path.substr(before.size(), path.size() - before.size() - after.size());
  const bool one_part = path.find('/') == std::string_view::npos;
  return one_part || after.empty() ? std::optional(path) : std::nullopt;
}

// Endpoints that a client may expect from a server that has these others, and what to do instead.
Error not_found(const std::string& path) {
  const auto below = [&](std::string_view prefix) {
    return path == prefix || path.starts_with(std::string(prefix) + "/");
  };
  for (const std::string_view embeddings : {"/v1/embeddings", "/embeddings", "/embedding"}) {
    if (!below(embeddings)) continue;
    return {ErrorKind::not_found, "embeddings are not made here: the model is one that writes text",
            "", "serve an embedding model with another server, and send these requests there"};
  }
  if (path == "/props" || path == "/slots") {
    return {
        ErrorKind::not_found, path + " is not served", "",
        "GET /v1/models and /v1/models/{id} describe the model, GET /v1/samovar/turns the turns"};
  }
  Error error{ErrorKind::not_found, "there is no " + path + " here", "",
              "this server has " + std::string(kKnownPaths)};
  for (const std::string_view other :
       {"/completion", "/v1/rerank", "/rerank", "/infill", "/v1/audio", "/v1/images"}) {
    if (below(other)) error.message = path + " is not served";
  }
  return error;
}

}  // namespace

Router::Router(Parts parts) : parts_(std::move(parts)) {
  add_replies();
  if (parts_.turns != nullptr) add_turns();
  add_state();
  add_page();
}

void Router::add_replies() {
  const Parts& parts = parts_;
  using Request = const HttpRequest&;
  using Rest = std::string_view;
  const auto add = [&](std::string_view method, std::string_view pattern, Handler handler) {
    routes_.push_back({method, pattern, std::move(handler)});
  };
  const auto responses = [&](std::string_view end) {
    return [&parts, end](Request request, Rest id) {
      return parts.responses.handle(request, "/" + std::string(id) + std::string(end));
    };
  };
  add("POST", "/v1/chat/completions", [&](Request r, Rest) { return parts.chat.handle(r); });
  add("POST", "/v1/messages", [&](Request r, Rest) { return parts.messages.create(r); });
  add("POST", "/v1/messages/count_tokens",
      [&](Request r, Rest) { return parts.messages.count_tokens(r); });
  add("POST", "/v1/responses", [&](Request r, Rest) { return parts.responses.handle(r, ""); });
  add("POST", "/v1/responses/{id}/cancel", responses("/cancel"));
  add("GET", "/v1/responses/{id}/input_items", responses("/input_items"));
  add("GET", "/v1/responses/{id}", responses(""));
  add("DELETE", "/v1/responses/{id}", responses(""));
  add("POST", "/v1/completions", [&](Request r, Rest) { return parts.text.complete(r); });
  add("POST", "/tokenize", [&](Request r, Rest) { return parts.text.tokenize(r); });
  add("POST", "/detokenize", [&](Request r, Rest) { return parts.text.detokenize(r); });
  add("POST", "/apply-template", [&](Request r, Rest) { return parts.text.apply_template(r); });
}

void Router::add_turns() {
  TurnsApi& turns = *parts_.turns;
  using Request = const HttpRequest&;
  using Rest = std::string_view;
  const auto add = [&](std::string_view method, std::string_view pattern, Handler handler) {
    routes_.push_back({method, pattern, std::move(handler)});
  };
  const auto turn = [&](std::string_view end) {
    return [&turns, end](Request request, Rest id) {
      return turns.turns(request, "/" + std::string(id) + std::string(end));
    };
  };
  const auto completion = [&](Request request, Rest id) { return turns.completions(request, id); };
  add("GET", "/v1/chat/completions", completion);
  add("GET", "/v1/chat/completions/{id}", completion);
  add("DELETE", "/v1/chat/completions/{id}", completion);
  add("GET", "/v1/samovar/turns", [&](Request r, Rest) { return turns.turns(r, ""); });
  add("GET", "/v1/samovar/turns/{id}/explain", turn("/explain"));
  add("POST", "/v1/samovar/turns/{id}/continue", [this](Request request, Rest id) {
    return parts_.chat.continue_turn(request, std::string(id));
  });
  add("GET", "/v1/samovar/turns/{id}", turn(""));
  add("DELETE", "/v1/samovar/turns/{id}", turn(""));
  add("DELETE", "/v1/samovar/sessions/{key}",
      [&](Request request, Rest key) { return turns.session(request, key); });
}

void Router::add_state() {
  using Request = const HttpRequest&;
  using Rest = std::string_view;
  const auto add = [&](std::string_view pattern, Handler handler) {
    routes_.push_back({"GET", pattern, std::move(handler)});
  };
  add("/v1/models", [this](Request, Rest) { return parts_.models.list(); });
  add("/v1/models/{id}", [this](Request, Rest id) { return parts_.models.get(id); });
  add("/health", [](Request, Rest) { return json_response(R"({"status":"ok"})"); });
  add("/ready", [this](Request, Rest) { return ready(); });
  add("/metrics", [this](Request, Rest) {
    HttpResponse response;
    response.content_type = Metrics::kContentType;
    response.body = parts_.metrics();
    return response;
  });
}

void Router::add_page() {
  using Request = const HttpRequest&;
  using Rest = std::string_view;
  const auto add = [&](std::string_view pattern, Handler handler) {
    routes_.push_back({"GET", pattern, std::move(handler)});
  };
  const auto file = [](Request request, Rest) {
    auto response = page_response(request);
    return response ? std::move(*response) : error_response(not_found(request.path));
  };
  add("/", file);
  add("/assets/{name}", file);
  if (parts_.page == nullptr) return;
  PageApi& page = *parts_.page;
  add("/v1/samovar/state", [&page](Request, Rest) { return page.state(); });
  add("/v1/samovar/sessions", [&page](Request, Rest) { return page.sessions(); });
  add("/v1/samovar/events", [&page](Request r, Rest) { return page.events(r); });
}

HttpResponse Router::handle(const HttpRequest& request) const {
  try {
    return route(request);
  } catch (const std::exception& error) {
    return error_response({ErrorKind::internal, std::string("the server failed: ") + error.what(),
                           "", "this is a bug; please report it"},
                          1, error_form_of(request.path));
  }
}

HttpResponse Router::route(const HttpRequest& request) const {
  const std::string_view path = full_path(request.path);
  std::string allowed;  // by the routes that the path fits
  std::string_view fitted;
  for (const Route& route : routes_) {
    const auto rest = fit(route.pattern, path);
    // The first pattern that fits is meant; others that do are less exact.
    if (!rest || (!fitted.empty() && route.pattern != fitted)) continue;
    fitted = route.pattern;
    if (route.method == request.method || (route.method == "GET" && reads(request))) {
      return route.handler(request, *rest);
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
    if (route.method == "GET") allowed += ", HEAD";
  }
  if (!allowed.empty()) return wrong_method(request, allowed);
  return error_response(not_found(request.path), 1, error_form_of(path));
}

std::vector<std::string> Router::endpoints() const {
  std::vector<std::string> endpoints;
  endpoints.reserve(routes_.size());
  for (const Route& route : routes_) {
    endpoints.push_back(std::string(route.method) + " " + std::string(route.pattern));
  }
  return endpoints;
}

HttpResponse Router::ready() const {
  if (parts_.ready()) return json_response(R"({"status":"ready"})");
  return error_response({ErrorKind::unavailable, "the server does not accept turns", "",
                         "it is starting or shutting down; try again later"});
}

}  // namespace samovar
