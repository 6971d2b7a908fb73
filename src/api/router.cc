#include "api/router.h"

#include <exception>
#include <string>
#include <utility>

#include "api/errors.h"

namespace samovar {
namespace {

constexpr std::string_view kKnownPaths =
    "POST /v1/chat/completions, GET /v1/models, /health and /ready";

HttpResponse json_response(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

HttpResponse wrong_method(const HttpRequest& request, std::string_view allowed) {
  HttpResponse response = error_response({ErrorKind::method_not_allowed,
                                          request.path + " does not answer " + request.method, "",
                                          "use " + std::string(allowed)});
  response.headers.emplace_back("Allow", allowed);
  return response;
}

// Endpoints of the same APIs that a client may expect from a server that has the chat one.
bool known_elsewhere(std::string_view path) {
  for (const std::string_view other :
       {"/v1/messages", "/v1/responses", "/v1/completions", "/v1/embeddings", "/completions",
        "/completion", "/embeddings", "/v1/rerank"}) {
    if (path == other || path.starts_with(std::string(other) + "/")) return true;
  }
  return false;
}

HttpResponse not_found(const std::string& path) {
  Error error{ErrorKind::not_found, "there is no " + path + " here", "",
              "this server has " + std::string(kKnownPaths)};
  if (known_elsewhere(path)) error.message = path + " is not served by this version";
  return error_response(error);
}

}  // namespace

Router::Router(ChatCompletions& chat, const Models& models, std::function<bool()> ready)
    : chat_(chat), models_(models), ready_(std::move(ready)) {}

HttpResponse Router::handle(const HttpRequest& request) const {
  try {
    return route(request);
  } catch (const std::exception& error) {
    return error_response({ErrorKind::internal, std::string("the server failed: ") + error.what(),
                           "", "this is a bug; please report it"});
  }
}

HttpResponse Router::route(const HttpRequest& request) const {
  const std::string_view path = request.path;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (path == "/health") {
    return reads ? json_response(R"({"status":"ok"})") : wrong_method(request, "GET, HEAD");
  }
  if (path == "/ready") return reads ? ready() : wrong_method(request, "GET, HEAD");
  if (path == "/v1/chat/completions" || path == "/chat/completions") {
    return request.method == "POST" ? chat_.handle(request) : wrong_method(request, "POST");
  }
  if (path == "/v1/models" || path == "/models") {
    return reads ? models_.list() : wrong_method(request, "GET, HEAD");
  }
  constexpr std::string_view kModel = "/v1/models/";
  if (path.starts_with(kModel) && path.size() > kModel.size()) {
    return reads ? models_.get(path.substr(kModel.size())) : wrong_method(request, "GET, HEAD");
  }
  return not_found(request.path);
}

HttpResponse Router::ready() const {
  if (ready_()) return json_response(R"({"status":"ready"})");
  return error_response({ErrorKind::unavailable, "the server does not accept turns", "",
                         "it is starting or shutting down; try again later"});
}

}  // namespace samovar
