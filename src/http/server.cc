// cpp-httplib parses requests and writes responses; accepting, threads and sockets' life follow its
// server loop, except for one thing: each connection runs over our own Connection instead of its
// stream. Its stream takes a client that has shut down its sending side for gone and would refuse
// to stream to it; and it drops bytes that arrive early. See docs/decisions/client-gone.md.
#include "http/server.h"

#include <cpp-httplib/httplib.h>

#include <sys/socket.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include "api/errors.h"
#include "base/log.h"
#include "http/access.h"
#include "http/open_sockets.h"
#include "http/refusals.h"

// The first release without the header-injection hole CVE-2026-45372 is 0.44.0; what is written
// here was checked against 0.54.
static_assert(std::string_view(CPPHTTPLIB_VERSION_NUM) >= "0x003600",
              "cpp-httplib is older than 0.54: take a newer llama.cpp bundle");

namespace samovar {

namespace {

constexpr std::size_t kIdleThreads = 4;
constexpr std::size_t kWaitingConnections = 256;
constexpr int kRequestsPerConnection = 1'000;

// What this worker thread is serving. httplib hands its handlers a request, not the socket behind
// it.
struct Serving {
  Connection* connection = nullptr;
  bool closing = false;  // the response said so
};
thread_local Serving serving;

class Stream final : public httplib::Stream {
 public:
  explicit Stream(Connection& connection) : connection_(connection) {}

  bool is_readable() const override { return connection_.buffered() > 0; }
  bool wait_readable() const override { return connection_.wait_readable(); }
  bool wait_writable() const override { return connection_.wait_writable(); }
  bool is_peer_alive() const override { return connection_.peer() != Peer::gone; }
  ssize_t read(char* target, std::size_t size) override { return connection_.read(target, size); }
  ssize_t write(const char* bytes, std::size_t size) override {
    return connection_.write(bytes, size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return connection_.socket(); }
  time_t duration() const override { return 0; }
  const char* buffered_data(std::size_t& size) const override {
    size = connection_.buffered();
    return size > 0 ? connection_.buffered_bytes() : nullptr;
  }
  void consume_buffered(std::size_t size) override { connection_.consume(size); }

 private:
  Connection& connection_;
};

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
    return connection->peer() != Peer::open;
  };
  return result;
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
        handler(std::move(server_handler)) {
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
    new_task_queue = [threads = options.threads] {
      return new httplib::ThreadPool(std::min(kIdleThreads, threads), threads, kWaitingConnections);
    };
  }

  void set_handlers() {
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const auto allowed = access.check(convert(request), request.version == "HTTP/1.0");
      if (allowed) return HandlerResponse::Unhandled;
      apply(error_response(allowed.error(), 1, error_form_of(request.path)), response);
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

  // Clears what would make httplib treat a chat request as a form or a file download.
  static void simplify(httplib::Request& request) {
    request.ranges.clear();
    if (request.get_header_value("Content-Type").find("urlencoded") != std::string::npos ||
        request.is_multipart_form_data()) {
      request.headers.erase("Content-Type");
    }
  }

  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, options.timeouts);
    open_sockets.add(socket);
    serving = {&connection};
    const std::string remote = peer_address(socket);
    const bool result = serve_guarded([&] { return serve_requests(connection, remote); });
    serving = {};
    open_sockets.remove(socket);
    return result;
  }

  bool serve_requests(Connection& connection, const std::string& remote) {
    bool ok = false;
    for (int left = kRequestsPerConnection; left > 0 && connection.wait_request(stopping); --left) {
      Stream stream(connection);
      bool close = false;
      const bool last = left == 1 || stopping;
      ok = process_request(stream, remote, 0, {}, 0, last, close, simplify);
      if (!ok || close || last || serving.closing) break;
    }
    return ok;
  }

  const HttpServerOptions options;
  const Access access;
  const HttpHandler handler;
  int port = 0;
  std::atomic<bool> stopping = false;
  std::jthread listener;
  OpenSockets open_sockets;
};

Result<std::unique_ptr<HttpServer>> HttpServer::bind(HttpServerOptions options,
                                                     HttpHandler handler) {
  auto access = Access::create({options.host, options.api_keys, options.allowed_hosts});
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
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { stop(0); }

void HttpServer::start() {
  assert(!impl_->listener.joinable());
  impl_->listener = std::jthread([impl = impl_.get()] { impl->listen_after_bind(); });
  impl_->wait_until_ready();
}

void HttpServer::stop(Micros grace) {
  impl_->stopping = true;
  impl_->Server::stop();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(grace);
  while (impl_->open_sockets.count() > 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  impl_->open_sockets.shut_all();
  if (impl_->listener.joinable()) impl_->listener.join();
}

int HttpServer::port() const { return impl_->port; }

std::string HttpServer::url() const {
  const std::string& host = impl_->options.host;
  const bool v6 = host.find(':') != std::string::npos;
  return "http://" + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(impl_->port);
}

}  // namespace samovar
