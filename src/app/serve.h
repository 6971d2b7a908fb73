// `samovar serve`: from options to a running server and to its end. Called once, on the main
// thread; returns the process's exit code. Errors go to stderr as one message.
#pragma once

#include <string>
#include <vector>

#include "app/service.h"

namespace samovar::app {

inline constexpr int kExitFailure = 1;  // could not serve
inline constexpr int kExitUsage = 2;    // the command line is wrong

[[nodiscard]] int serve(const std::vector<std::string>& arguments, const WrapEngine& wrap = {});

}  // namespace samovar::app
