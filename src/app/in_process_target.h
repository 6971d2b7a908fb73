// InProcessTarget: Samovar itself as what is measured, in this process and without sockets:
// requests go straight to Service::handle(). What is measured lacks HTTP and nothing else.
//
// Without a folder of the user's, its store is a new one beside the usual one, removed at the end.
// ask() by several threads at once; all else by one. load() takes as long as reading the model
// does.
#pragma once

#include <memory>
#include <string>

#include "app/options.h"
#include "app/service.h"
#include "base/clock.h"
#include "bench/store_folder.h"
#include "bench/target.h"

namespace samovar::app {

class InProcessTarget final : public bench::Target {
 public:
  // `options` are resolved already. `flags` are what the user gave, for the report.
  static Result<std::unique_ptr<InProcessTarget>> load(ServeOptions options,
                                                       std::vector<std::string> flags,
                                                       const Clock& clock);
  ~InProcessTarget() override;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const bench::Lacks& lacks() const override { return lacks_; }
  bench::Answer ask(const bench::Ask& ask, const bench::Stop& stop) override;
  Result<bench::TargetFacts> facts(const bench::Stop& stop) override;
  Status restart(const bench::Stop& stop) override;
  Result<std::uint64_t> forget_files() override { return folder_.forget(); }
  Result<std::map<std::string, std::uint64_t>> stored_files() override { return folder_.files(); }

 private:
  InProcessTarget(ServeOptions options, std::vector<std::string> flags, bool own_folder,
                  const Clock& clock);
  Status start();
  void end();

  const std::string name_ = "samovar";
  const ServeOptions options_;
  const std::vector<std::string> flags_;
  const bool own_folder_;  // to be removed at the end
  const Clock& clock_;
  bench::StoreFolder folder_;
  bench::Lacks lacks_;
  std::unique_ptr<Service> service_;
};

}  // namespace samovar::app
