// The life of a server: bind, fetch the model, load, serve, drain.
//
// It binds before it loads, so that a taken port is reported at once, and listens while it loads,
// so that probes see a live server that is not ready yet. After the first signal it goes on
// answering: running replies end, new turns get 503, and /ready tells a load balancer to go
// elsewhere.
#include "app/serve.h"

#include <fmt/core.h>

#include <atomic>
#include <cstdio>
#include <memory>

#include "api/errors.h"
#include "api/page_files.h"
#include "app/model_source.h"
#include "app/options.h"
#include "app/pocket_model.h"
#include "app/service.h"
#include "app/signals.h"
#include "base/log.h"
#include "engine/llama_log.h"
#include "http/server.h"
#include "http/sockets.h"
#include "hub/repo_ref.h"

namespace samovar::app {

namespace {

constexpr Micros kStopGrace = 1 * kSecond;  // for the last bytes of replies that were ended

int report(const Error& error, int exit_code) {
  fmt::print(stderr, "samovar: {}\n", error.describe());
  return exit_code;
}

LogLevel log_level(const std::string& name) {
  if (name == "debug") return LogLevel::debug;
  if (name == "warn") return LogLevel::warning;
  if (name == "error") return LogLevel::error;
  return LogLevel::info;
}

HttpServerOptions http_options(const ServeOptions& options) {
  HttpServerOptions http;
  http.host = options.host;
  http.port = options.port;
  http.api_keys = options.api_keys;
  http.allowed_hosts = options.allowed_hosts;
  http.open_paths = page_paths();
  http.threads = static_cast<std::size_t>(options.http_threads);
  return http;
}

// Answers until the model is loaded.
HttpResponse answer_while_loading(const HttpRequest& request) {
  if (request.path == "/health") {
    HttpResponse response;
    response.body = R"({"status":"ok"})";
    return response;
  }
  if (auto page = page_response(request)) return std::move(*page);
  return error_response({ErrorKind::unavailable, "the model is being loaded", "", "try again soon"},
                        1, error_form_of(request.path));
}

void announce(const ServeOptions& options, const Service& service, const std::string& url,
              bool pocket) {
  const std::string key =
      options.api_keys.empty() ? "" : " -H \"Authorization: Bearer $SAMOVAR_API_KEY\"";
  fmt::print("\nserving {} at {}, where a browser sees what it does\n\n", service.model_id(), url);
  fmt::print(
      "  curl {}/v1/chat/completions{} -d "
      "'{{\"messages\":[{{\"role\":\"user\",\"content\":\"Hello\"}}]}}'"
      "\n\n",
      url, key);
  if (pocket) fmt::print("{} A real model:\n\n  {}\n\n", kPocketNotice, kRealModelLine);
  std::fflush(stdout);
}

void end_gracefully(const ServeOptions& options, Service& service, HttpServer& http) {
  log_info("stopping: running replies may go on for {} s; a second signal ends them",
           options.drain_seconds);
  service.close();
  if (!service.drain(options.drain_seconds * kSecond)) {
    log_warning("replies still ran after {} s and are cut", options.drain_seconds);
  }
  service.stop();
  http.stop(kStopGrace);
  log_info("stopped");
}

// The model's file, fetched if it is the hub's.
Result<std::string> find_model(const ServeOptions& options, StopSignals& signals) {
  if (options.hf_repo.empty()) return options.model;
  auto ref = hub::parse_repo_ref(options.hf_repo, "--hf-repo");
  if (!ref) return std::unexpected(ref.error());
  const auto settings = hub_settings(process_environment(), options.hf_token, options.offline);
  if (!settings) return std::unexpected(settings.error());
  auto path = fetch_shown({std::move(*ref), options.hf_file}, *settings, signals,
                          [](const std::string& line) { log_info("{}", line); });
  if (path) log_info("the model is {}", *path);
  return path;
}

int run(ServeOptions options, bool pocket, const WrapEngine& wrap) {
  StopSignals signals;
  raise_descriptor_limit();
  log_set_level(log_level(options.log_level));
  route_llama_log();

  std::unique_ptr<Service> service;
  std::atomic<const Service*> loaded = nullptr;
  auto http = HttpServer::bind(http_options(options), [&loaded](const HttpRequest& request) {
    const Service* answering = loaded;
    return answering == nullptr ? answer_while_loading(request) : answering->handle(request);
  });
  if (!http) return report(http.error(), kExitUsage);
  (*http)->start();
  fmt::print("listening on {}\n", (*http)->url());
  std::fflush(stdout);

  auto model = find_model(options, signals);
  if (!model || signals.received() != 0) {
    (*http)->stop(0);
    const int stopped = 128 + signals.received();
    return model ? stopped
                 : report(model.error(),
                          model.error().kind == ErrorKind::cancelled ? stopped : kExitFailure);
  }
  options.model = std::move(*model);
  auto loading = Service::load(options, wrap);
  if (!loading) {
    (*http)->stop(0);
    return report(loading.error(), kExitFailure);
  }
  service = std::move(*loading);
  loaded = service.get();
  signals.begin_graceful();
  announce(options, *service, (*http)->url(), pocket);
  signals.wait();
  end_gracefully(options, *service, **http);
  return 0;
}

}  // namespace

int serve(const std::vector<std::string>& arguments, const WrapEngine& wrap) {
  auto parsed = parse_serve(arguments);
  if (!parsed) return report(parsed.error(), kExitUsage);
  if (parsed->help) {
    fmt::print("{}", serve_help());
    return 0;
  }
  for (const std::string& note : parsed->notes) fmt::print(stderr, "samovar: {}\n", note);
  const bool pocket = names_no_model(parsed->options);
  auto status = pocket ? use_pocket(parsed->options) : Status();
  if (status) status = resolve(parsed->options);
  if (!status) return report(status.error(), kExitUsage);
  return run(std::move(parsed->options), pocket, wrap);
}

}  // namespace samovar::app
