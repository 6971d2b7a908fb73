#include "app/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "app/bench_command.h"
#include "app/cache_command.h"
#include "app/chat_command.h"
#include "app/explain_command.h"
#include "app/models_command.h"
#include "app/options.h"
#include "app/replay_command.h"
#include "app/serve.h"
#include "app/trace_command.h"
#include "app/version.h"

namespace samovar::app {

namespace {

using Words = std::vector<std::string>;

struct Command {
  std::string_view name;
  int (*run)(const Words& words);
  std::string_view about;
};

int serve_model(const Words& words) { return serve(words); }

constexpr std::array kCommands = {
    Command{"serve", serve_model, "serve a model over HTTP"},
    Command{"chat", chat, "talk with a model in the terminal"},
    Command{"cache", cache, "look into and look after the sessions on disk"},
    Command{"models", models, "list, download and remove models of the hub"},
    Command{"explain", explain_command,
            "say why one request could not reuse what another had computed"},
    Command{"bench", bench_command, "measure Samovar and other servers"},
    Command{"trace", trace, "look into traces of traffic, make them, take their words out"},
    Command{"replay", replay_command, "make the requests of a trace again and say what they cost"},
};

std::string usage() {
  std::string text =
      "Samovar: a local inference server that keeps long conversations warm.\n\n"
      "Usage: samovar COMMAND [options]\n\nCommands:\n";
  for (const Command& command : kCommands) {
    text += fmt::format("  {:<11} {}\n", command.name, command.about);
  }
  return text +
         "  help        show this text; `samovar help COMMAND` what a command can do\n"
         "  --version   show the version\n";
}

int usage_error(const std::string& message) {
  fmt::print(stderr, "samovar: {}. `samovar help` lists the commands\n", message);
  return kExitUsage;
}

const Command* find_command(const std::string& name) {
  const auto* const found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : found;
}

int help(const Words& about) {
  if (about.empty()) {
    fmt::print("{}", usage());
    return 0;
  }
  if (const Command* command = find_command(about.front())) return command->run({"--help"});
  return usage_error("unknown command: " + about.front());
}

}  // namespace

int run_command(const std::vector<std::string>& arguments) {
  const std::string name = arguments.empty() ? "help" : arguments.front();
  const Words rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (const Command* command = find_command(name)) return command->run(rest);
  if (name == "help" || name == "--help" || name == "-h") return help(rest);
  if (name == "--version" || name == "version") {
    fmt::print("samovar {}\n", kVersion);
    return 0;
  }
  if (name == "options") {  // makes docs/options.md
    fmt::print("{}", options_markdown());
    return 0;
  }
  // llama-server has no commands: a line that moves over starts with an option.
  if (name.starts_with("-")) return usage_error("put `serve` before the options");
  return usage_error("unknown command: " + name);
}

}  // namespace samovar::app
