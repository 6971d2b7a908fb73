#include "app/commands.h"

#include <fmt/core.h>

#include "app/bench_command.h"
#include "app/cache_command.h"
#include "app/chat_command.h"
#include "app/explain_command.h"
#include "app/models_command.h"
#include "app/options.h"
#include "app/serve.h"
#include "app/version.h"

namespace samovar::app {

namespace {

constexpr const char* kUsage =
    R"(Samovar: a local inference server that keeps long conversations warm.

Usage: samovar COMMAND [options]

Commands:
  serve       serve a model over HTTP; `samovar serve --help` lists its options
  chat        talk with a model in the terminal; `samovar chat --help` lists its options
  cache       look into and look after the sessions on disk; `samovar cache --help` lists what
              it can do
  models      list, download and remove models of the hub; `samovar models --help` has more
  explain     say why one request could not reuse what another had computed; `samovar explain
              --help` has more
  bench       measure Samovar and other servers; `samovar bench --help` lists what
  help        show this text
  --version   show the version
)";

int usage_error(const std::string& message) {
  fmt::print(stderr, "samovar: {}. `samovar help` lists the commands\n", message);
  return kExitUsage;
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "help" : arguments.front();
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1),
                                      arguments.end());
  if (command == "serve") return serve(rest);
  if (command == "cache") return cache(rest);
  if (command == "models") return models(rest);
  if (command == "explain") return explain_command(rest);
  if (command == "chat") return chat(rest);
  if (command == "bench") return bench_command(rest);
  if (command == "help" && rest == std::vector<std::string>{"chat"}) return chat({"--help"});
  if (command == "help" && rest == std::vector<std::string>{"bench"}) {
    return bench_command({"--help"});
  }
  if (command == "help" && rest == std::vector<std::string>{"serve"}) return serve({"--help"});
  if (command == "help" && rest == std::vector<std::string>{"cache"}) return cache({"--help"});
  if (command == "help" && rest == std::vector<std::string>{"models"}) return models({"--help"});
  if (command == "help" && rest == std::vector<std::string>{"explain"}) {
    return explain_command({"--help"});
  }
  if (command == "help" || command == "--help" || command == "-h") {
    fmt::print("{}", kUsage);
    return 0;
  }
  if (command == "--version" || command == "version") {
    fmt::print("samovar {}\n", kVersion);
    return 0;
  }
  if (command == "options") {  // makes docs/options.md
    fmt::print("{}", options_markdown());
    return 0;
  }
  // llama-server has no commands: a line that moves over starts with an option.
  if (command.starts_with("-")) return usage_error("put `serve` before the options");
  return usage_error("unknown command: " + command);
}

}  // namespace samovar::app
