#include "api/router.h"

#include <exception>
#include <string>
#include <utility>

#include "api/errors.h"

namespace samovar {
namespace {

constexpr std::string_view kKnownPaths =
    "POST /v1/chat/completions and /v1/responses, GET /v1/models, /v1/samovar/turns, /health and "
    "/ready";

HttpResponse json_response(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

// Endpoints of the same APIs that a client may expect from a server that has the chat one.
bool known_elsewhere(std::string_view path) {
  for (const std::string_view other :
       {"/v1/messages", "/v1/completions", "/v1/embeddings", "/completions", "/completion",
        "/embeddings", "/v1/rerank"}) {
    if (path == other || path.starts_with(std::string(other) + "/")) return true;
  }
  return false;
}

// What is left of `path` after `prefix`, if that is a whole part of it.
std::optional<std::string_view> after(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return std::nullopt;
  path.remove_prefix(prefix.size());
  return path.empty() || path.front() == '/' ? std::optional(path) : std::nullopt;
}

HttpResponse not_found(const std::string& path) {
  Error error{ErrorKind::not_found, "there is no " + path + " here", "",
              "this server has " + std::string(kKnownPaths)};
  if (known_elsewhere(path)) error.message = path + " is not served by this version";
  return error_response(error);
}

}  // namespace

Router::Router(ChatCompletions& chat, ResponsesApi& responses, TurnsApi* turns,
               const Models& models, std::function<bool()> ready)
    : chat_(chat),
      responses_(responses),
      turns_(turns),
      models_(models),
      ready_(std::move(ready)) {}

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
  const std::string_view path = request.path;
  if (path == "/health") {
    return reads(request) ? json_response(R"({"status":"ok"})")
                          : wrong_method(request, "GET, HEAD");
  }
  if (path == "/ready") return reads(request) ? ready() : wrong_method(request, "GET, HEAD");
  if (auto response = route_turns(request)) return std::move(*response);
  if (path == "/v1/chat/completions" || path == "/chat/completions") {
    return request.method == "POST" ? chat_.handle(request) : wrong_method(request, "POST");
  }
  if (const auto rest = after(path, "/v1/responses")) return responses_.handle(request, *rest);
  if (path == "/v1/models" || path == "/models") {
    return reads(request) ? models_.list() : wrong_method(request, "GET, HEAD");
  }
  constexpr std::string_view kModel = "/v1/models/";
  if (path.starts_with(kModel) && path.size() > kModel.size()) {
    return reads(request) ? models_.get(path.substr(kModel.size()))
                          : wrong_method(request, "GET, HEAD");
  }
  return not_found(request.path);
}

std::optional<HttpResponse> Router::route_turns(const HttpRequest& request) const {
  if (turns_ == nullptr) return std::nullopt;
  const std::string_view path = request.path;
  if (const auto rest = after(path, "/v1/samovar/turns")) {
    constexpr std::string_view kContinue = "/continue";
    if (rest->ends_with(kContinue) && rest->size() > kContinue.size() + 1) {
      const std::string id(rest->substr(1, rest->size() - kContinue.size() - 1));
      return request.method == "POST" ? chat_.continue_turn(request, id)
                                      : wrong_method(request, "POST");
    }
    return turns_->turns(request, *rest);
  }
  if (const auto rest = after(path, "/v1/samovar/sessions"); rest && rest->size() > 1) {
    return turns_->session(request, rest->substr(1));
  }
  const auto kept = after(path, "/v1/chat/completions");
  if (kept && (kept->size() > 1 || request.method != "POST")) {
    return turns_->completions(request, kept->size() > 1 ? kept->substr(1) : "");
  }
  return std::nullopt;
}

HttpResponse Router::ready() const {
  if (ready_()) return json_response(R"({"status":"ready"})");
  return error_response({ErrorKind::unavailable, "the server does not accept turns", "",
                         "it is starting or shutting down; try again later"});
}

}  // namespace samovar
