// HttpTarget: a running server, asked over HTTP. Its restart is a command of the user's; what its
// store holds can be seen if the folder is named and on this machine.
//
// ask() by several threads at once, each with a connection of its own that is kept for the next.
// Errors name --against or --restart-cmd.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "bench/store_folder.h"
#include "bench/target.h"
#include "client/transfer.h"

namespace samovar::bench {

struct HttpTargetOptions {
  std::string name;
  std::string url;                      // "http://127.0.0.1:8080", or what base_url() makes that of
  std::string key;                      // empty: none
  std::string restart_command;          // for `sh -c`; empty: cannot be restarted
  std::string store_folder;             // empty: not known
  Micros ready_within = 300 * kSecond;  // after a restart
};

class HttpTarget final : public Target {
 public:
  HttpTarget(HttpTargetOptions options, const Clock& clock);
  ~HttpTarget() override;

  [[nodiscard]] const std::string& name() const override { return options_.name; }
  [[nodiscard]] const std::string& url() const { return options_.url; }
  [[nodiscard]] const Lacks& lacks() const override { return lacks_; }
  Answer ask(const Ask& ask, const Stop& stop) override;
  Result<TargetFacts> facts(const Stop& stop) override;
  Status restart(const Stop& stop) override;
  Result<std::uint64_t> forget_files() override { return store_.forget(); }
  Result<std::map<std::string, std::uint64_t>> stored_files() override { return store_.files(); }

  // Waits until it answers /health (where it has that) and /v1/models. `within` 0: it must do so
  // now.
  Status wait_ready(const Stop& stop, Micros within);

  // The body of a GET, at most ten seconds.
  Result<std::string> get(const std::string& path, const Stop& stop);

 private:
  struct Lease;
  // It answers `path` with success, or says that there is no such path.
  Status answers(const std::string& path, const Stop& stop);

  const HttpTargetOptions options_;
  const Clock& clock_;
  StoreFolder store_;
  Lacks lacks_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<client::Transfer>> idle_;  // guarded by mutex_
};

}  // namespace samovar::bench
