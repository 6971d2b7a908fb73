// Transfer: one HTTP exchange at a time, by libcurl, without threads: wait() moves it along while
// it also watches other descriptors. cancel() closes the connection, which is how a server learns
// that nobody reads. Owner: the chat; one thread. Failures are told apart from replies: failure()
// is about the connection, status() is the server's word.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace samovar::client {

struct HttpCall {
  std::string url;
  std::optional<std::string> body;  // POSTs it as JSON; nullopt: GET
  std::string key;                  // API key; empty: none
  Micros timeout = 0;               // for the whole exchange; 0: none, a prompt may take hours
  std::vector<std::string> headers = {};  // "Name: value", besides those of every call
};

class Transfer {
 public:
  Transfer();
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  void start(const HttpCall& call);  // ends the one before
  void cancel();

  // Returns when something came, when one of `watched` can be read, or after `timeout`.
  void wait(std::span<const int> watched, Micros timeout);

  [[nodiscard]] bool running() const;
  [[nodiscard]] int status() const;  // 0: no answer yet
  [[nodiscard]] bool answered() const { return status() != 0; }

  // Of the answer; name in lower case; empty: not there.
  [[nodiscard]] std::string header(std::string_view name) const;

  std::string take_body();  // what came since the last call

  // Why the exchange broke off; nullopt: it did not.
  [[nodiscard]] const std::optional<Error>& failure() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "http://127.0.0.1:8080" of what a user may write: without scheme, with "/" or "/v1" at the end.
[[nodiscard]] std::string base_url(std::string url);

// What a refusal by status means, with the remedy. `retry_after`: the header; may be empty.
[[nodiscard]] Error refusal(int status, std::string_view body, const std::string& url,
                            const std::string& retry_after);

}  // namespace samovar::client
