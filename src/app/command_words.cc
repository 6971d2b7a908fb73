#include "app/command_words.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/serve.h"

namespace samovar::app {

std::unexpected<Error> refuse_words(std::string message, const std::string& program,
                                    const std::string& command) {
  return fail(
      ErrorKind::invalid_argument, std::move(message), "",
      fmt::format("`{} {}{}--help` says more", program, command, command.empty() ? "" : " "));
}

Result<ChosenCommand> read_command_words(CLI::App& app, const std::string& program,
                                         std::vector<std::string> words,
                                         const std::string& otherwise) {
  std::ranges::reverse(words);  // CLI11 takes them from the back
  const auto chosen = [&]() -> const CLI::App* {
    const auto commands = app.get_subcommands();
    return commands.empty() ? nullptr : commands.front();
  };
  const auto name = [&] { return chosen() == nullptr ? std::string() : chosen()->get_name(); };
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return ChosenCommand{name(), chosen() == nullptr ? app.help() : chosen()->help(program)};
  } catch (const CLI::ExtrasError&) {
    const auto extras = app.remaining(true);
    const bool no_command = chosen() == nullptr && !app.get_subcommands({}).empty();
    const std::string what = no_command ? "unknown command: " : "not expected: ";
    return refuse_words(what + (extras.empty() ? "" : extras.front()), program, name());
  } catch (const CLI::ParseError& error) {
    return refuse_words(error.what(), program, name());
  }
  if (chosen() != nullptr) return ChosenCommand{name(), ""};
  return ChosenCommand{otherwise, otherwise.empty() ? app.help() : ""};
}

int report_error(const Error& error, int code) {
  fmt::print(stderr, "samovar: {}\n", error.describe());
  return code;
}

std::optional<int> answer_without_running(const Error* error, const std::string& help) {
  if (error != nullptr) return report_error(*error, kExitUsage);
  if (help.empty()) return std::nullopt;
  fmt::print("{}", help);
  return 0;
}

}  // namespace samovar::app
