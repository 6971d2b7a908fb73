// `samovar bench COMMAND`: measures servers. parse_bench() makes a BenchRequest of the words,
// bench() carries it out: the table goes to stdout, progress to stderr, and what else is asked for
// into files. Called once, on the main thread. Errors go to stderr as one message.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/options.h"
#include "base/result.h"
#include "bench/http_target.h"
#include "bench/plan.h"
#include "bench/report.h"

namespace samovar::app {

// Where results go; empty: nowhere. "-": stdout, instead of the table.
struct BenchOutputs {
  std::string json;
  std::string csv;
  std::string html;
  std::string markdown;
};

struct BenchRequest {
  std::string command;  // "prefill", ..., "report"
  std::string help;     // not empty: print this and do nothing
  bench::PlanOptions plan;
  std::optional<ServeOptions> own;     // in this process; goes first
  std::vector<std::string> own_flags;  // for the report
  std::vector<bench::HttpTargetOptions> against;
  std::vector<std::pair<std::string, std::string>> flags;  // target, its flags: for the report
  bench::Facts notes;                                      // for the report's conditions
  BenchOutputs outputs;
  std::vector<std::string> files;  // report
  std::string reasons;             // report: a folder of STEP.md
};

// What is taken from outside the command line.
struct BenchSurroundings {
  std::optional<std::string> key;  // SAMOVAR_API_KEY
};

// `arguments` are the words after "bench".
[[nodiscard]] Result<BenchRequest> parse_bench(const std::vector<std::string>& arguments,
                                               const BenchSurroundings& around);

// The words as a report shows them: no folder, no key, no command of the user's.
[[nodiscard]] std::string shown_words(const std::vector<std::string>& arguments);

[[nodiscard]] int bench_command(const std::vector<std::string>& arguments);

}  // namespace samovar::app
