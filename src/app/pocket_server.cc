#include "app/pocket_server.h"

#include <filesystem>
#include <utility>

#include "app/options.h"
#include "app/pocket_model.h"
#include "base/log.h"
#include "engine/llama_log.h"

namespace samovar::app {
namespace {

constexpr std::uint64_t kStoreSize = std::uint64_t{256} << 20;
constexpr int kThreads = 16;  // one chat asks
constexpr Micros kDrain = 1 * kSecond;

Result<ServeOptions> pocket_options() {
  ServeOptions options;
  if (auto status = use_pocket(options); !status) return std::unexpected(status.error());
  options.announce = false;
  options.http_threads = kThreads;
  options.store_size = kStoreSize;
  const std::filesystem::path usual = default_store_dir();
  options.store = !usual.empty();
  if (options.store) options.store_dir = (usual.parent_path() / "pocket").string();
  if (auto status = resolve(options); !status) return std::unexpected(status.error());
  return options;
}

}  // namespace

Result<std::unique_ptr<PocketServer>> PocketServer::start() {
  log_set_level(LogLevel::error);  // the terminal belongs to the conversation
  route_llama_log();
  auto options = pocket_options();
  if (!options) return std::unexpected(options.error());
  auto service = Service::load(*options);
  std::string not_kept;
  if (!service && options->store) {
    not_kept = service.error().message;
    options->store = false;
    service = Service::load(*options);
  }
  if (!service) return std::unexpected(service.error());
  std::unique_ptr<PocketServer> server(new PocketServer(std::move(*service)));
  server->not_kept_ = std::move(not_kept);
  HttpServerOptions http;
  http.threads = kThreads;
  const Service& answering = *server->service_;
  auto bound = HttpServer::bind(
      http, [&answering](const HttpRequest& request) { return answering.handle(request); });
  if (!bound) return std::unexpected(bound.error());
  server->http_ = std::move(*bound);
  server->http_->start();
  return server;
}

PocketServer::~PocketServer() {
  service_->close();
  service_->drain(kDrain);
  service_->stop();
  if (http_ != nullptr) http_->stop(0);
}

}  // namespace samovar::app
