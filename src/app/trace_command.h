// `samovar trace COMMAND`: looks into traces, makes them up, takes in the logs of others, takes the
// words out. parse_trace() makes a TraceRequest of the words, run_trace() does what it says and
// answers in text, trace() is both. Called once, on the main thread. Errors go to stderr.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/generator.h"

namespace samovar::app {

struct TraceRequest {
  std::string command;  // "info", "generate", "import", "redact"
  std::string input;    // a file
  std::string output;   // a new file; "-": stdout
  std::string help;     // not empty: print this and do nothing
  bool json = false;    // info
  replay::GeneratorOptions generator;
  bool keep_names = false;          // redact
  std::optional<std::string> seed;  // redact: key of the hash; nullopt: one that nobody learns
};

// `arguments` are the words after "trace".
[[nodiscard]] Result<TraceRequest> parse_trace(const std::vector<std::string>& arguments);

struct TraceAnswer {
  std::string text;                // for stdout
  std::vector<std::string> notes;  // for stderr, a line each
};
[[nodiscard]] Result<TraceAnswer> run_trace(const TraceRequest& request);

[[nodiscard]] int trace(const std::vector<std::string>& arguments);

}  // namespace samovar::app
