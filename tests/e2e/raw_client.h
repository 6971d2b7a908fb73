// RawClient: a TCP client that says exactly the bytes it is told to, half-closes, resets and leaves
// in the middle, for what no HTTP client library would do. One thread. Failures show as empty
// results; every wait is bounded.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace samovar::testing {

class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void finish_sending() { ::shutdown(socket_, SHUT_WR); }

  // Waits for some bytes; none come when the peer closed or the time is over.
  void receive_more(int seconds) {
    pollfd entry = {socket_, POLLIN, 0};
    if (ended_ || ::poll(&entry, 1, seconds * 1000) <= 0) return;
    char buffer[4096];
    const ssize_t count = ::recv(socket_, buffer, sizeof buffer, 0);
    if (count <= 0) ended_ = true;
    if (count > 0) received_.append(buffer, static_cast<std::size_t>(count));
  }
  [[nodiscard]] const std::string& received() const { return received_; }

  // What came so far once `text` is in it, the peer closed, or nothing came for that long.
  const std::string& receive_until(std::string_view text, int seconds = 20) {
    while (received_.find(text) == std::string::npos) {
      const std::size_t before = received_.size();
      receive_more(seconds);
      if (received_.size() == before) break;
    }
    return received_;
  }
  const std::string& receive_all(int seconds = 20) {
    return receive_until(std::string_view("\0never\0", 7), seconds);
  }

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  // Closes with a reset instead of a FIN.
  void reset() {
    const linger now = {1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

 private:
  int socket_ = -1;
  bool connected_ = false;
  bool ended_ = false;
  std::string received_;
};

// A POST of JSON with the headers a client sends; `extra` are whole header lines.
inline std::string post(std::string_view path, std::string_view body, std::string_view extra = "") {
  std::string request = "POST " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n";
  request +=
      "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  request += std::string(extra) + "\r\n";
  return request + std::string(body);
}

}  // namespace samovar::testing
