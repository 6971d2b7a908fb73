// The words after a command that has commands of its own (`samovar cache ls`), read by CLI11, which
// exits through exceptions: here they become a value, or an error that says where help is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace samovar::app {

// Which command was chosen, or what to print instead of running it.
struct ChosenCommand {
  std::string name;
  std::string help;  // not empty: print this
};

// Fills what `app` is bound to. `program` is what a user types before the command: "samovar cache".
// Without a command it is `otherwise`, or, where that is empty, the help of all of them. A program
// that has none says `otherwise`.
// Errors: invalid_argument, with the line that gets help.
Result<ChosenCommand> read_command_words(CLI::App& app, const std::string& program,
                                         std::vector<std::string> words,
                                         const std::string& otherwise = "");

// The error that such a command answers with; `command` may be empty.
std::unexpected<Error> refuse_words(std::string message, const std::string& program,
                                    const std::string& command);

// Prints "samovar: " and the error; `code`, for whoever returns it.
int report_error(const Error& error, int code);

// Prints the help, or what is wrong with the words, if that is all there is to do: the exit code
// then. nullopt: run the command.
std::optional<int> answer_without_running(const Error* error, const std::string& help);

template <class Request>
std::optional<int> answer_without_running(const Result<Request>& request) {
  return request ? answer_without_running(nullptr, request->help)
                 : answer_without_running(&request.error(), "");
}

}  // namespace samovar::app
