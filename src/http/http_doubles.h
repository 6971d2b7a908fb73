// What the tests of http/ share: servers on loopback with a handler made by the test, requests as
// text, and waiting for a condition.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "http/server.h"
#include "tests/e2e/raw_client.h"

namespace samovar::testing {

inline std::unique_ptr<HttpServer> serve(HttpHandler handler, HttpServerOptions options = {}) {
  auto server = HttpServer::bind(std::move(options), std::move(handler));
  if (!server) ADD_FAILURE() << server.error().describe();
  (*server)->start();
  return std::move(*server);
}

inline std::string get(std::string_view path, std::string_view headers = "Host: localhost\r\n",
                       std::string_view connection = "Connection: close\r\n") {
  return "GET " + std::string(path) + " HTTP/1.1\r\n" + std::string(headers) +
         std::string(connection) + "\r\n";
}

inline std::string ask(const HttpServer& server, const std::string& request) {
  RawClient client(server.port());
  client.send(request);
  return client.receive_all();
}

inline HttpResponse echo(const HttpRequest& request) {
  HttpResponse response;
  response.body = request.method + " " + request.path + " " + request.query + " " + request.body;
  return response;
}

// Waits until `condition`, at most 20 s, and says whether it came true.
template <class Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace samovar::testing
