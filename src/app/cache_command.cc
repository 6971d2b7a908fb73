#include "app/cache_command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

#include "app/cache_run.h"
#include "app/command_words.h"
#include "app/serve.h"
#include "fs/posix_fs.h"

namespace samovar::app {

CacheAnswer run_cache(const CacheRequest& request, const CacheTools& tools) {
  auto answer = CacheRun(request, tools).run();
  if (answer) return std::move(*answer);
  return {kExitFailure, "", fmt::format("samovar: {}\n", answer.error().describe())};
}

int cache(const std::vector<std::string>& arguments) {
  const auto request = parse_cache(arguments);
  if (const auto code = answer_without_running(request)) return *code;
  PosixFs fs;
  CacheTools tools{fs, system_clock()};
  if (isatty(STDERR_FILENO) != 0) {
    tools.progress = [](std::string_view line) { fmt::print(stderr, "\r{}\033[K", line); };
  }
  const CacheAnswer answer = run_cache(*request, tools);
  if (tools.progress) fmt::print(stderr, "\r\033[K");
  fmt::print("{}", answer.text);
  std::fflush(stdout);
  fmt::print(stderr, "{}", answer.error);
  return answer.code;
}

}  // namespace samovar::app
