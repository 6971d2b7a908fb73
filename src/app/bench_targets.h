// The words of `samovar bench` that name servers, and what a report shows of any words. Pure; any
// thread. Errors name the flag and the remedy.
#pragma once

#include <string>
#include <vector>

#include "app/bench_command.h"
#include "base/result.h"

namespace samovar::app {

// Of each option its values, as given.
struct BenchTargetWords {
  std::vector<std::string> against;
  std::vector<std::string> restarts;
  std::vector<std::string> folders;
  std::vector<std::string> flags;
};

// Into request.against and request.flags. `key` is all servers'; request.own is read before.
[[nodiscard]] Status read_targets(BenchRequest& request, const BenchTargetWords& words,
                                  const std::string& key);

// Each word as a report shows it: no folder, no key, no user of an address, no command.
[[nodiscard]] std::vector<std::string> shown(const std::vector<std::string>& words);

}  // namespace samovar::app
