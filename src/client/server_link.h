// ServerLink: the server the chat talks to: its address, its key, what it is known not to accept,
// and the small questions (which models, why a miss). Owner: the chat; one thread. Errors are for
// the user, with the remedy.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/request_body.h"
#include "client/signal_pipe.h"
#include "client/transfer.h"

namespace samovar::client {

class ServerLink {
 public:
  ServerLink(std::string url, std::string key, SignalPipe& signals)
      : url_(base_url(std::move(url))), key_(std::move(key)), signals_(signals) {}

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] Transfer& transfer() { return transfer_; }

  [[nodiscard]] HttpCall completion(const History& history, const RequestSettings& settings) const;

  // Ids of the models; empty: the server does not list any. Error: it cannot be reached, or wants
  // another key.
  Result<std::vector<std::string>> models();

  // The server's explanation of a turn, as JSON. Error kind not_found: it has none.
  Result<std::string> explanation(const std::string& turn);

  LeftOut left_out;  // fields it refused

 private:
  // The body; Ctrl-C gives up.
  Result<std::string> get(const std::string& path);

  std::string url_;
  std::string key_;
  SignalPipe& signals_;
  Transfer transfer_;
};

}  // namespace samovar::client
