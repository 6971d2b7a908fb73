// FakeOpenAi: a server of the chat API that does what a test's script says, with bytes as the test
// wants them: slow, cut, wrong. Remembers every request. One thread a connection, one request a
// connection; every wait is bounded. Used from one thread.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/e2e/server_process.h"

namespace samovar::testing {

struct FakeRequest {
  std::string method;
  std::string path;
  std::string head;
  std::string body;
  int number = 0;  // of its path, from 0

  [[nodiscard]] nlohmann::json messages() const {
    return nlohmann::json::parse(body, nullptr, false).value("messages", nlohmann::json());
  }
};

class FakeConnection {
 public:
  explicit FakeConnection(int socket) : socket_(socket) {}

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void answer(int status, const std::string& body, const std::string& headers = "") const {
    send("HTTP/1.1 " + std::to_string(status) + " Said\r\nContent-Type: application/json\r\n" +
         headers + "Connection: close\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body);
  }
  void begin_stream(const std::string& headers = "") const {
    send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
        "Transfer-Encoding: chunked\r\n" +
        headers + "\r\n");
  }
  void chunk(std::string_view bytes) const {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    send(std::string(size) + std::string(bytes) + "\r\n");
  }
  void event(const nlohmann::json& json) const { chunk("data: " + json.dump() + "\n\n"); }
  void content(const std::string& text) const {
    event({{"id", "fake-1"}, {"choices", {{{"index", 0}, {"delta", {{"content", text}}}}}}});
  }
  void reasoning(const std::string& text) const {
    event({{"choices", {{{"index", 0}, {"delta", {{"reasoning_content", text}}}}}}});
  }
  void finish(const nlohmann::json& extra = nlohmann::json::object()) const {
    nlohmann::json last = {
        {"choices",
         {{{"index", 0}, {"delta", nlohmann::json::object()}, {"finish_reason", "stop"}}}}};
    last.update(extra);
    event(last);
    chunk("data: [DONE]\n\n");
    send("0\r\n\r\n");
  }

  // Waits until the client closes the connection; false: it did not.
  [[nodiscard]] bool closed_by_client(int seconds = 30) const {
    pollfd entry = {socket_, POLLIN, 0};
    char byte = 0;
    return ::poll(&entry, 1, seconds * 1000) > 0 && ::recv(socket_, &byte, 1, 0) <= 0;
  }

 private:
  int socket_;
};

class FakeOpenAi {
 public:
  using Script = std::function<void(const FakeRequest&, const FakeConnection&)>;

  // `chat` answers POST /v1/chat/completions, `other` everything else but the list of models.
  explicit FakeOpenAi(Script chat, Script other = {})
      : chat_(std::move(chat)),
        other_(std::move(other)),
        listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~FakeOpenAi() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
      const std::lock_guard lock(mutex_);
      for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    }
    for (std::thread& worker : workers_) worker.join();
    for (const int socket : sockets_) ::close(socket);
  }
  FakeOpenAi(const FakeOpenAi&) = delete;
  FakeOpenAi& operator=(const FakeOpenAi&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // Of the chat; waits until there are so many.
  std::vector<FakeRequest> chats(std::size_t count) {
    EXPECT_TRUE(eventually([&] { return kept().size() >= count; }))
        << "requests: " << kept().size();
    auto all = kept();
    all.resize(std::max(all.size(), count));
    return all;
  }
  std::vector<FakeRequest> kept() {
    const std::lock_guard lock(mutex_);
    return chats_;
  }

 private:
  void accept_all() {
    for (;;) {
      const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      const std::lock_guard lock(mutex_);
      sockets_.push_back(socket);
      workers_.emplace_back([this, socket] { serve(socket); });
    }
  }

  void serve(int socket) {
    FakeRequest request;
    if (!receive(socket, request)) return;
    const FakeConnection connection(socket);
    if (request.path == "/v1/chat/completions") {
      {
        const std::lock_guard lock(mutex_);
        request.number = static_cast<int>(chats_.size());
        chats_.push_back(request);
      }
      chat_(request, connection);
    } else if (request.path == "/v1/models") {
      connection.answer(200, R"({"object":"list","data":[{"id":"fake-model"}]})");
    } else if (other_) {
      other_(request, connection);
    } else {
      connection.answer(404, R"({"error":{"message":"no such path"}})");
    }
    ::shutdown(socket, SHUT_RDWR);
  }

  static bool receive(int socket, FakeRequest& request) {
    std::string all;
    std::size_t end = std::string::npos;
    std::size_t length = 0;
    while (end == std::string::npos || all.size() < end + 4 + length) {
      char buffer[4096];
      const ssize_t count = ::recv(socket, buffer, sizeof buffer, 0);
      if (count <= 0) return false;
      all.append(buffer, static_cast<std::size_t>(count));
      end = all.find("\r\n\r\n");
      const std::size_t at = all.find("Content-Length: ");
      if (at != std::string::npos) length = std::strtoul(all.c_str() + at + 16, nullptr, 10);
    }
    request.head = all.substr(0, end + 2);
    request.body = all.substr(end + 4);
    request.method = all.substr(0, all.find(' '));
    const std::size_t path = request.method.size() + 1;
    request.path = all.substr(path, all.find(' ', path) - path);
    return true;
  }

  Script chat_;
  Script other_;
  int listener_;
  int port_ = 0;
  std::thread acceptor_;
  std::mutex mutex_;
  std::vector<FakeRequest> chats_;    // guarded by mutex_
  std::vector<int> sockets_;          // guarded by mutex_
  std::vector<std::thread> workers_;  // guarded by mutex_
};

}  // namespace samovar::testing
