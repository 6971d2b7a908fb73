#include "app/trace_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "app/command_words.h"
#include "app/random_key.h"
#include "app/serve.h"
#include "client/append_file.h"
#include "replay/log_import.h"
#include "replay/redactor.h"
#include "replay/trace_file.h"
#include "replay/trace_info.h"
#include "replay/trace_reader.h"

namespace samovar::app {
namespace {

constexpr const char* kAbout =
    "Traces of traffic: what `samovar serve --record` writes and `samovar replay` makes again. "
    "docs/trace-format.md describes the file.";

void add_generator(CLI::App* command, replay::GeneratorOptions& o) {
  const auto number = [&](const char* flag, auto& target, const char* about) {
    command->add_option(flag, target, about)->type_name("N")->capture_default_str();
  };
  number("--seed", o.seed, "of the chance; the same seed makes the same trace");
  number("--sessions", o.sessions, "conversations");
  number("--turns", o.turns, "requests of each, sub-agents not counted");
  number("--scale", o.scale, "of all sizes: 0.1 for a small model");
  number("--start", o.start_tokens, "tokens of system prompt and tools");
  number("--context", o.context, "tokens after which a history is compacted");
  number("--tools-per-user", o.tools_per_user, "requests of a tool loop, on average");
  number("--agents", o.agents, "chance of a tool to be a sub-agent");
  number("--cuts", o.cuts, "chance of a reply to a user to be cut");
  number("--arrivals", o.arrivals_s, "seconds within which sessions begin");
}

// `positional`: the output is the second word, else -o.
void add_output(CLI::App* command, TraceRequest& request, bool positional) {
  constexpr const char* kWhat = "a new file, its owner's alone; - is standard output";
  if (positional) {
    command->add_option("OUT", request.output, kWhat)->required()->type_name("");
  } else {
    command->add_option("-o,--output", request.output, kWhat)->type_name("FILE")->required();
  }
}

void add_commands(CLI::App& app, TraceRequest& request, std::string& seed) {
  const auto input = [&](CLI::App* command, const char* what) {
    command->add_option("FILE", request.input, what)->required()->type_name("");
  };
  CLI::App* info = app.add_subcommand("info", "say what a trace holds, in figures");
  input(info, "a trace");
  info->add_flag("--json", request.json, "print JSON");
  CLI::App* generate = app.add_subcommand(
      "generate", "make up a trace whose shape is that of published studies of coding agents");
  add_generator(generate, request.generator);
  add_output(generate, request, false);
  CLI::App* import = app.add_subcommand(
      "import",
      "make a trace of a log of chat completions: a request a line, or {\"request\": …, "
      "\"response\": …, \"timestamp\": …}");
  input(import, "the log");
  add_output(import, request, false);
  CLI::App* redact = app.add_subcommand(
      "redact", "put words that mean nothing in the place of every text of a trace");
  input(redact, "a trace");
  add_output(redact, request, true);
  redact->add_flag("--keep-names", request.keep_names,
                   "leave names of tools and keys of arguments as they are");
  redact
      ->add_option("--seed", seed,
                   "the same for traces that are to stay comparable; whoever knows it can check "
                   "guesses")
      ->type_name("TEXT");
}

Result<TraceAnswer> put(const TraceRequest& request, const replay::Trace& trace) {
  TraceAnswer answer;
  for (const std::string& note : trace.notes) answer.notes.push_back(note);
  std::string text = replay::write_trace(trace);
  if (request.output == "-") {
    answer.text = std::move(text);
    return answer;
  }
  if (auto written = client::write_new(request.output, text); !written) {
    return std::unexpected(written.error());
  }
  answer.notes.push_back(fmt::format("{}: {} turns", request.output, trace.turns.size()));
  return answer;
}

Result<replay::Trace> make(const TraceRequest& request) {
  if (request.command == "generate") return replay::generate_trace(request.generator);
  if (request.command == "import") {
    auto text = client::read_whole(request.input);
    if (!text) return std::unexpected(text.error());
    auto trace = replay::import_log(*text);
    if (!trace) trace.error().message = fmt::format("{}: {}", request.input, trace.error().message);
    return trace;
  }
  auto trace = replay::read_trace_file(request.input);
  if (!trace) return trace;
  const replay::Redactor redactor(
      {.key = request.seed ? *request.seed : random_key(), .keep_names = request.keep_names});
  return redactor.trace(std::move(*trace));
}

}  // namespace

Result<TraceRequest> parse_trace(const std::vector<std::string>& arguments) {
  TraceRequest request;
  std::string seed;
  CLI::App app(kAbout, "samovar trace");
  app.require_subcommand(0, 1);
  add_commands(app, request, seed);
  const auto chosen = read_command_words(app, "samovar trace", arguments);
  if (!chosen) return std::unexpected(chosen.error());
  request.command = chosen->name;
  request.help = chosen->help;
  if (!request.help.empty()) return request;
  if (!seed.empty()) request.seed = seed;
  return request;
}

Result<TraceAnswer> run_trace(const TraceRequest& request) {
  if (request.command == "info") {
    const auto trace = replay::read_trace_file(request.input);
    if (!trace) return std::unexpected(trace.error());
    const replay::TraceInfo info = replay::trace_info(*trace);
    return TraceAnswer{
        request.json ? replay::info_json(*trace, info) : replay::info_text(*trace, info), {}};
  }
  auto trace = make(request);
  if (!trace) return std::unexpected(trace.error());
  return put(request, *trace);
}

int trace(const std::vector<std::string>& arguments) {
  const auto request = parse_trace(arguments);
  if (const auto code = answer_without_running(request)) return *code;
  const auto answer = run_trace(*request);
  if (!answer) return report_error(answer.error(), kExitFailure);
  for (const std::string& note : answer->notes) fmt::print(stderr, "samovar: {}\n", note);
  fmt::print("{}", answer->text);
  return 0;
}

}  // namespace samovar::app
