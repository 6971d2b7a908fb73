// IdleServer: a server that says when it has computed in its idle time what the next message will
// need, and a second one that counts tokens, so that counting disturbs nothing.
#pragma once

#include "tests/e2e/agent_client.h"
#include "tests/e2e/server_process.h"

namespace samovar::testing {

class IdleServer {
 public:
  explicit IdleServer(const ServerProcess::Words& more = {})
      : server_(options(more)), counts_({"-c", "4096"}) {}

  [[nodiscard]] int port() const { return server_.port(); }
  [[nodiscard]] AgentClient client(AgentClient::Habits habits) const {
    return {server_.port(), counts_.port(), std::move(habits)};
  }
  [[nodiscard]] ServerProcess& process() { return server_; }

  [[nodiscard]] int rewarms_begun() { return occurrences("re-warm: fork"); }
  // Waits until so many re-warms, all in all, have come to their end.
  bool rested(int rewarms) {
    return eventually([&] { return occurrences("re-warm: finished") >= rewarms; }, 20);
  }

 private:
  static ServerProcess::Words options(const ServerProcess::Words& more) {
    ServerProcess::Words words = {"-c", "65536", "--log-level", "debug"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  int occurrences(const std::string& part) {
    const std::string text = server_.output();
    int count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++count;
    }
    return count;
  }

  ServerProcess server_;
  ServerProcess counts_;
};

}  // namespace samovar::testing
