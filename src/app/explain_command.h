// `samovar explain before.json after.json`: why the second of two requests could not reuse all that
// the first had computed, without a server. parse_explain() makes an ExplainRequest of the words,
// run_explain() reads the files and answers in text, explain_command() is both on the machine's own
// terminal. Called once, on the main thread. Errors name the file and the field in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace samovar::app {

struct ExplainRequest {
  std::string before;  // paths; "-" is standard input
  std::string after;
  std::string model;                   // GGUF file; empty: estimates
  std::string chat_template_file;      // jinja; empty: the model's own
  std::optional<double> rate;          // prompt tokens per second
  std::string neutralise = "default";  // as --neutralise of samovar serve
  bool sort_tools = false;
  bool json = false;
  bool colour = false;
  std::string help;  // not empty: print this and do nothing
};

// `arguments` are the words after "explain".
[[nodiscard]] Result<ExplainRequest> parse_explain(const std::vector<std::string>& arguments);

// The answer's text. Errors: not_found, invalid_argument.
[[nodiscard]] Result<std::string> run_explain(const ExplainRequest& request);

[[nodiscard]] int explain_command(const std::vector<std::string>& arguments);

}  // namespace samovar::app
