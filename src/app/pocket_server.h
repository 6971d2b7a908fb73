// PocketServer: Pocket served in this process, on loopback and a port of the system's choice, for a
// chat that found no server. What it has computed is kept in a folder of its own, so that a chat
// goes on warm; where that cannot be (another chat has it, the disk is full), nothing is kept, and
// not_kept() says why. One thread makes and destroys
// it; that takes a moment each.
#pragma once

#include <memory>
#include <string>

#include "app/service.h"
#include "base/result.h"
#include "http/server.h"

namespace samovar::app {

class PocketServer {
 public:
  static Result<std::unique_ptr<PocketServer>> start();
  ~PocketServer();
  PocketServer(const PocketServer&) = delete;
  PocketServer& operator=(const PocketServer&) = delete;

  [[nodiscard]] std::string url() const { return http_->url(); }
  [[nodiscard]] const std::string& not_kept() const { return not_kept_; }  // empty: all is well

 private:
  explicit PocketServer(std::unique_ptr<Service> service) : service_(std::move(service)) {}

  std::unique_ptr<Service> service_;
  std::unique_ptr<HttpServer> http_;
  std::string not_kept_;
};

}  // namespace samovar::app
