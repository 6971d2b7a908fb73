#include "app/cache_command.h"

#include <fmt/core.h>

#include <cstdio>

#include "app/cache_run.h"
#include "app/command_words.h"
#include "app/progress_display.h"
#include "app/serve.h"
#include "base/size_text.h"
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
  CacheAnswer answer;
  {
    ProgressDisplay display([](const std::string& line) { fmt::print(stderr, "{}\n", line); },
                            {.amount = format_bytes, .verb = "checking", .rate = true});
    CacheTools tools{fs, system_clock()};
    tools.progress = [&display](const Progress& progress) { display.progress(progress); };
    answer = run_cache(*request, tools);
  }
  fmt::print("{}", answer.text);
  std::fflush(stdout);
  fmt::print(stderr, "{}", answer.error);
  return answer.code;
}

}  // namespace samovar::app
