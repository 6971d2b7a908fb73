// ConnectionStream: a Connection as cpp-httplib reads and writes it. For server.cc only. Used by
// the thread that serves the connection; failures are -1, as the library has them.
#pragma once

#include <cpp-httplib/httplib.h>

#include <string>
#include <string_view>

#include "http/connection.h"

namespace samovar {

class ConnectionStream final : public httplib::Stream {
 public:
  explicit ConnectionStream(Connection& connection) : connection_(connection) {}

  bool is_readable() const override { return !connection_.buffered().empty(); }
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
    const std::string_view bytes = connection_.buffered();
    size = bytes.size();
    return bytes.empty() ? nullptr : bytes.data();
  }
  void consume_buffered(std::size_t size) override { connection_.consume(size); }

 private:
  Connection& connection_;
};

}  // namespace samovar
