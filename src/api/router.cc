#include "api/router.h"

#include <exception>
#include <string>
#include <utility>

#include "api/errors.h"

namespace samovar {
namespace {

constexpr std::string_view kKnownPaths =
    "POST /v1/chat/completions and /v1/messages, GET /v1/models, /v1/samovar/turns, /health and "
    "/ready";

HttpResponse json_response(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

// Endpoints of the same APIs that a client may expect from a server that has the chat one.
bool known_elsewhere(std::string_view path) {
  for (const std::string_view other : {"/v1/responses", "/completion", "/v1/rerank", "/rerank",
                                       "/infill", "/v1/audio", "/v1/images"}) {
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
  if (path == "/v1/embeddings" || path == "/embeddings" || path == "/embedding") {
    error.message = "embeddings are not made here: the model is one that writes text";
    error.remedy = "serve an embedding model with another server, and send these requests there";
  } else if (path == "/props") {
    error.message = path + " is not served";
    error.remedy = "GET /v1/models and /v1/models/{id} describe the model";
  }
  if (known_elsewhere(path)) error.message = path + " is not served by this version";
  return error_response(error, 1, error_form_of(path));
}

}  // namespace

Router::Router(ChatCompletions& chat, MessagesApi& messages, TextApi& text, TurnsApi* turns,
               const Models& models, std::function<bool()> ready)
    : chat_(chat),
      messages_(messages),
      text_(text),
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
  if (auto response = route_replies(request)) return std::move(*response);
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

std::optional<HttpResponse> Router::route_replies(const HttpRequest& request) const {
  const std::string_view path = request.path;
  const auto post = [&](auto&& handle) {
    return request.method == "POST" ? handle() : wrong_method(request, "POST");
  };
  if (path == "/v1/chat/completions" || path == "/chat/completions") {
    return post([&] { return chat_.handle(request); });
  }
  if (path == "/v1/completions" || path == "/completions") {
    return post([&] { return text_.complete(request); });
  }
  if (path == "/tokenize") return post([&] { return text_.tokenize(request); });
  if (path == "/detokenize") return post([&] { return text_.detokenize(request); });
  if (path == "/apply-template") return post([&] { return text_.apply_template(request); });
  if (path == "/v1/messages") return post([&] { return messages_.create(request); });
  if (path == "/v1/messages/count_tokens") {
    return post([&] { return messages_.count_tokens(request); });
  }
  return std::nullopt;
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
