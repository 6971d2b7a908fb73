// cpp-httplib parses requests and writes responses. Accepting, threads and the sockets' life are
// our own: the reception holds connections until a request is there, workers serve it over our own
// Connection instead of the library's stream. That takes a client that has shut down its sending
// side for gone and would refuse to stream to it; and it drops bytes that arrive early. See
// docs/decisions/reception.md and client-gone.md.
#include "http/server.h"

#include <cpp-httplib/httplib.h>

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "api/errors.h"
#include "base/log.h"
#include "http/access.h"
#include "http/connection_stream.h"
#include "http/open_sockets.h"
#include "http/reception.h"
#include "http/refusals.h"
#include "http/request_scan.h"
#include "http/sockets.h"
#include "http/workers.h"

// The first release without the header-injection hole CVE-2026-45372 is 0.44.0; what is written
// here was checked against 0.54.
static_assert(std::string_view(CPPHTTPLIB_VERSION_NUM) >= "0x003600",
              "cpp-httplib is older than 0.54: take a newer llama.cpp bundle");

namespace samovar {

namespace {

constexpr std::size_t kProbeThreads = 2;
constexpr std::size_t kOtherDescriptors = 256;  // the store's, the ledger's, the engine's
constexpr std::size_t kConnectionsMin = 64;
constexpr int kRequestsPerConnection = 1'000;

// What this worker thread is serving. httplib hands its handlers a request, not the socket behind
// it.
struct Serving {
  Connection* connection = nullptr;
  bool closing = false;  // the response said so
};
thread_local Serving serving;

class SinkWriter final : public BodyWriter {
 public:
  SinkWriter(httplib::DataSink& sink, Connection& connection)
      : sink_(sink), connection_(connection) {}

  bool write(std::string_view bytes) override { return sink_.write(bytes.data(), bytes.size()); }

  // A FIN is not the end here: the client may only have finished sending. If it closed, it answers
  // the next write with a reset.
  bool client_gone() override { return connection_.peer() == Peer::gone; }

 private:
  httplib::DataSink& sink_;
  Connection& connection_;
};

HttpRequest convert(const httplib::Request& request) {
  HttpRequest result;
  result.method = request.method;
  result.path = request.path;
  const std::size_t question = request.target.find('?');
  if (question != std::string::npos) result.query = request.target.substr(question + 1);
  for (const auto& [name, value] : request.headers) result.headers.emplace_back(name, value);
  result.body = request.body;
  result.remote = request.remote_addr;
  result.arrived = system_clock().now();
  result.client_gone = [connection = serving.connection] {
    return connection->gone_before_response();
  };
  return result;
}

bool framed(const httplib::Request& request) {
  return request.has_header("Content-Length") || request.has_header("Transfer-Encoding");
}

bool brings_body(const httplib::Request& request) {
  return request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
}

void apply(HttpResponse response, httplib::Response& target) {
  target.status = response.status;
  for (const auto& [name, value] : response.headers) target.set_header(name, value);
  if (!response.stream) {
    target.set_content(std::move(response.body), response.content_type);
    return;
  }
  target.set_chunked_content_provider(
      response.content_type,
      [stream = std::move(response.stream)](std::size_t, httplib::DataSink& sink) {
        SinkWriter writer(sink, *serving.connection);
        stream(writer);
        sink.done();
        return true;
      });
}

}  // namespace

struct HttpServer::Impl final : httplib::Server {
  Impl(HttpServerOptions server_options, Access server_access, HttpHandler server_handler)
      : options(std::move(server_options)),
        access(std::move(server_access)),
        handler(std::move(server_handler)),
        workers(
            options.threads, [this](Connection& c) { return serve(c); }, done()),
        probe_workers(kProbeThreads, [this](Connection& c) { return serve(c); }, done()) {
    set_limits();
    set_handlers();
  }

  void set_limits() {
    set_payload_max_length(options.body_bytes_max);
    set_keep_alive_max_count(kRequestsPerConnection);
    set_keep_alive_timeout(std::chrono::ceil<std::chrono::seconds>(options.timeouts.idle).count());
    // Not SO_REUSEPORT, its default: two servers would share the port without noticing.
    set_socket_options([](socket_t socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
  }

  // Connections are held within what the process may open.
  [[nodiscard]] ReceptionOptions reception_options() const {
    ReceptionOptions result;
    const std::size_t kept = options.threads + kProbeThreads + kOtherDescriptors;
    const std::size_t limit = descriptor_limit();
    const std::size_t left = limit > kept + kConnectionsMin ? limit - kept : kConnectionsMin;
    result.connections = std::min(options.connections, left);
    result.waiting = options.waiting;
    result.bytes = options.waiting_bytes;
    result.request.body_bytes_max = options.body_bytes_max;
    result.timeouts = options.timeouts;
    return result;
  }

  void set_handlers() {
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const auto allowed = access.check(convert(request), request.version == "HTTP/1.0");
      if (!allowed) {
        apply(error_response(allowed.error(), 1, error_form_of(request.path)), response);
      } else if (!framed(request) && brings_body(request)) {
        apply(length_required(request.path), response);
      } else {
        return HandlerResponse::Unhandled;
      }
      return HandlerResponse::Handled;
    });
    set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (!response.body.empty()) return HandlerResponse::Unhandled;
      const Error error = refusal(response.status, options.body_bytes_max);
      response.set_content(error_json(error, error_form_of(request.path)),
                           "application/json; charset=utf-8");
      return HandlerResponse::Handled;
    });
    // After an error httplib announces that it closes, but leaves that to the client.
    set_post_routing_handler([](const httplib::Request&, httplib::Response& response) {
      serving.closing = response.get_header_value("Connection") == "close";
    });
    const auto serve = [this](const httplib::Request& request, httplib::Response& response) {
      serving.connection->before_response();
      apply(guarded(convert(request)), response);
    };
    Get(".*", serve).Post(".*", serve).Put(".*", serve).Patch(".*", serve);
    Delete(".*", serve).Options(".*", serve);
  }

  HttpResponse guarded(const HttpRequest& request) {
    try {
      HttpResponse response = handler(request);
      if (response.stream)
        response.stream = guarded_stream(std::move(response.stream), request.path);
      return response;
    } catch (const std::exception& exception) {
      log_error("{} {}: {}", request.method, request.path, exception.what());
    } catch (...) {
      log_error("{} {}: unknown exception", request.method, request.path);
    }
    return error_response({ErrorKind::internal, "internal error"}, 1, error_form_of(request.path));
  }

  // The status line is out already: what is left is to log and to break the connection off, so that
  // the client sees an incomplete reply as incomplete.
  static std::function<void(BodyWriter&)> guarded_stream(std::function<void(BodyWriter&)> stream,
                                                         std::string path) {
    return [stream = std::move(stream), path = std::move(path)](BodyWriter& writer) {
      try {
        stream(writer);
      } catch (const std::exception& exception) {
        log_error("streaming {}: {}", path, exception.what());
        throw;
      }
    };
  }

  // Clears what would make httplib treat a chat request as a form or a file download, or read a
  // body that ends with the connection: there is none, or it is refused (411).
  static void simplify(httplib::Request& request) {
    const bool last = request.version == "HTTP/1.0" ||
                      httplib::detail::has_header_token(request.headers, "Connection", "close");
    if (!framed(request) && !(last && brings_body(request))) {
      request.set_header("Content-Length", "0");
    }
    request.ranges.clear();
    if (request.get_header_value("Content-Type").find("urlencoded") != std::string::npos ||
        request.is_multipart_form_data()) {
      request.headers.erase("Content-Type");
    }
  }

  void open() {
    reception.emplace(svr_sock_.load(), reception_options(),
                      [this](auto& c, bool overtakes) { return take(c, overtakes); });
  }

  // On the reception's thread. Probes get a thread whatever else runs, and overtake only on those.
  bool take(std::unique_ptr<Connection>& connection, bool overtakes) {
    const bool probe = is_probe(connection->buffered());
    if (overtakes && !probe) return false;
    const int socket = connection->socket();
    open_sockets.add(socket);
    if (probe && probe_workers.take(connection)) return true;
    if (!overtakes && workers.take(connection)) return true;
    open_sockets.remove(socket);
    return false;
  }

  // On a worker's thread: one request. True: the connection can be used again.
  bool serve(Connection& connection) {
    serving = {&connection};
    bool close = false;
    const bool ok = serve_guarded([&] {
      ConnectionStream stream(connection);
      const bool last = stopping || connection.requests() >= kRequestsPerConnection;
      const bool served =
          process_request(stream, connection.remote(), 0, {}, 0, last, close, simplify);
      return served && !last;
    });
    const bool keep = ok && !close && !serving.closing;
    serving = {};
    return keep;
  }

  Workers::Done done() {
    return [this](std::unique_ptr<Connection> connection, bool keep) {
      open_sockets.remove(connection->socket());
      reception->give_back(std::move(connection), keep);
    };
  }

  // The library takes a server without socket for one that is being stopped, and would cut replies
  // off. So it keeps the number of the socket, which the reception has closed, until all are over.
  void stop(Micros grace) {
    if (!reception) return;
    stopping = true;
    reception->close();
    open_sockets.wait_none(std::chrono::steady_clock::now() + std::chrono::microseconds(grace));
    open_sockets.shut_all();
    workers.stop();
    probe_workers.stop();
    reception.reset();
    svr_sock_ = INVALID_SOCKET;
  }

  const HttpServerOptions options;
  const Access access;
  const HttpHandler handler;
  int port = 0;
  std::atomic<bool> stopping = false;
  OpenSockets open_sockets;
  std::optional<Reception> reception;
  Workers workers;
  Workers probe_workers;
};

Result<std::unique_ptr<HttpServer>> HttpServer::bind(HttpServerOptions options,
                                                     HttpHandler handler) {
  auto access =
      Access::create({options.host, options.api_keys, options.allowed_hosts, options.open_paths});
  if (!access) return std::unexpected(access.error());
  const std::string place = options.host + ":" + std::to_string(options.port);
  const int port = options.port;
  auto impl = std::make_unique<Impl>(std::move(options), std::move(*access), std::move(handler));
  errno = 0;
  const std::string& host = impl->options.host;
  impl->port =
      port == 0 ? impl->bind_to_any_port(host) : (impl->bind_to_port(host, port) ? port : -1);
  if (impl->port < 0) {
    const bool in_use = errno == EADDRINUSE;
    const std::string reason = errno != 0 ? std::strerror(errno) : "no such address";
    return fail(ErrorKind::invalid_argument, "cannot listen on " + place + ": " + reason,
                in_use || errno == EACCES ? "--port" : "--host",
                in_use ? "Another program uses the port: stop it or choose another one"
                       : "Use an address of this machine and a port above 1023");
  }
  impl->open();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { stop(0); }

void HttpServer::start() { impl_->reception->start(); }

void HttpServer::stop(Micros grace) { impl_->stop(grace); }

int HttpServer::port() const { return impl_->port; }

std::string HttpServer::url() const {
  const std::string& host = impl_->options.host;
  const bool v6 = host.find(':') != std::string::npos;
  return "http://" + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(impl_->port);
}

}  // namespace samovar
