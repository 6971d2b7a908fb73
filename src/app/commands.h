// The program's commands: the first word chooses one. Returns the exit code. Called once by main().
#pragma once

#include <string>
#include <vector>

namespace samovar::app {

[[nodiscard]] int run_command(const std::vector<std::string>& arguments);

}  // namespace samovar::app
