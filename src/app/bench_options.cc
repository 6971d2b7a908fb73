// The words after `samovar bench`, by CLI11. What stands after "--" are options of `samovar serve`.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <tuple>

#include "app/bench_command.h"
#include "app/bench_targets.h"
#include "app/bench_values.h"
#include "app/command_words.h"
#include "app/key_file.h"

namespace samovar::app {
namespace {

using bench::Step;

constexpr const char* kAbout =
    "Measures Samovar in this process (-m), and any OpenAI-compatible servers (--against), in "
    "turn, "
    "so that noise hits all of them. Prefill and decode are measured apart.";

constexpr const char* kFooter =
    "Options of `samovar serve` for -m stand at the end, after --: samovar bench prefill -m "
    "MODEL.gguf -- -t 4. The environment gives SAMOVAR_API_KEY.";

struct Scenario {
  const char* name;
  const char* about;
  std::vector<Step> steps;
  const char* depths;
};

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> table = {
      {"prefill", "cold prompts, by length", {Step::cold}, "1k,2k,4k,8k,16k,32k,64k,128k"},
      {"decode", "replies, by depth of context", {Step::decode}, "1k,2k,4k,8k,16k,32k,64k,128k"},
      {"followup",
       "the next question: cold, resident, after restarts",
       {Step::cold, Step::resident, Step::restart_warm, Step::restart_cold},
       "8k"},
      {"side", "the next question after an unrelated request", {Step::side}, "8k"},
      {"edit", "a change in the middle of the conversation", {Step::edit}, "8k"},
      {"sessions", "several conversations in turn", {Step::sessions}, "4k"},
      {"write", "bytes that turns leave on disk", {Step::write}, "8k"},
      {"all",
       "all of it but sessions, on the same conversations",
       {Step::cold, Step::decode, Step::resident, Step::write, Step::side, Step::edit,
        Step::restart_warm, Step::restart_cold},
       "8k"}};
  return table;
}

// What CLI11 writes into.
struct Parsed {
  BenchTargetWords targets;
  std::vector<std::string> notes;
  std::string key_file;
  std::string model;
  std::string depths;
  std::string steps;
  std::string cold_rounds;
  std::string edit_rounds;
  std::string restart_rounds;
  std::string replies = "own";
  double pause = 0.5;
  double settle = 3;
  std::optional<std::uint64_t> seed;
};

std::unexpected<Error> refuse(std::string message, std::string flag, std::string remedy) {
  return fail(ErrorKind::invalid_argument, std::move(message), std::move(flag), std::move(remedy));
}

void add_outputs(CLI::App* command, BenchRequest& request) {
  BenchOutputs& to = request.outputs;
  command->add_option("--json", to.json, "write everything as JSON")->type_name("FILE");
  command->add_option("--csv", to.csv, "write a row a measurement")->type_name("FILE");
  command->add_option("--html", to.html, "write a page with charts")->type_name("FILE");
  command->add_option("--markdown", to.markdown, "write tables in Markdown")->type_name("FILE");
  command->footer("FILE may be -: it is printed instead of the table.");
}

void add_targets(CLI::App* command, Parsed& parsed) {
  command
      ->add_option("-m,--model", parsed.model, "measure Samovar with this model, in this process")
      ->type_name("FILE");
  command
      ->add_option("--against", parsed.targets.against,
                   "measure this server; may be given several times. The first two are compared")
      ->type_name("[NAME=]URL");
  command
      ->add_option("--restart-cmd", parsed.targets.restarts,
                   "a shell command that restarts the server and leaves it in the background")
      ->type_name("[NAME=]COMMAND");
  command
      ->add_option("--store-dir", parsed.targets.folders,
                   "where the server keeps sessions, if that is on this machine")
      ->type_name("[NAME=]FOLDER");
  command->add_option("--key-file", parsed.key_file, "a file with the servers' API key")
      ->type_name("FILE");
  command->add_option("--flags", parsed.targets.flags, "a server's flags, for the report")
      ->type_name("[NAME=]TEXT");
  command->add_option("--note", parsed.notes, "something else for the report")
      ->type_name("NAME=TEXT");
}

void add_sizes(CLI::App* command, bench::PlanOptions& plan, Parsed& parsed,
               const Scenario& scenario) {
  const auto has = [&](Step step) {
    return std::ranges::find(scenario.steps, step) != scenario.steps.end();
  };
  command->add_option("--depth", parsed.depths, "lengths of context in tokens")
      ->type_name("N[k],...")
      ->default_str(scenario.depths);
  if (scenario.steps.size() > 1) {
    std::string names;
    for (const Step step : scenario.steps) {
      names += (names.empty() ? "" : ",") + std::string(to_string(step));
    }
    command->add_option("--steps", parsed.steps, "only these of " + names)->type_name("STEP,...");
  }
  if (has(Step::decode) || has(Step::resident) || has(Step::side) || has(Step::write) ||
      has(Step::sessions)) {
    command->add_option("--rounds", plan.rounds, "measurements of each kind")
        ->type_name("N")
        ->check(CLI::Range(1, 10000))
        ->default_str("5");
  }
  const auto rounds = [&](const char* flag, std::string& into, const char* what) {
    command->add_option(flag, into, what)->type_name("N,...")->default_str("3");
  };
  if (has(Step::cold)) rounds("--cold-rounds", parsed.cold_rounds, "of cold prompts, a depth each");
  if (has(Step::edit)) rounds("--edit-rounds", parsed.edit_rounds, "of edits, a depth each");
  if (has(Step::restart_warm)) {
    rounds("--restart-rounds", parsed.restart_rounds, "of restarts, a depth each");
  }
  if (has(Step::sessions)) {
    command->add_option("--sessions", plan.sessions, "how many conversations")
        ->type_name("N")
        ->check(CLI::Range(2, 1000))
        ->default_str("8");
  }
}

void add_shape(CLI::App* command, bench::PlanOptions& plan, Parsed& parsed) {
  const auto number = [&](const char* flag, std::int64_t& into, const char* what,
                          std::int64_t least) {
    command->add_option(flag, into, what)
        ->type_name("N")
        ->check(CLI::Range(least, std::int64_t{1'000'000}))
        ->default_str(fmt::format("{}", into));
  };
  number("--reply", plan.reply_tokens, "tokens of a reply whose decoding is measured", 2);
  number("--question", plan.question_words, "words of a question", 1);
  number("--message-tokens", plan.message_tokens, "tokens of a message of the history", 16);
  number("--side-tokens", plan.side_tokens, "tokens of an unrelated request", 64);
  command
      ->add_option("--replies", parsed.replies,
                   "what the history has for replies: the model's own, or always the same words")
      ->type_name("own|fixed")
      ->check(CLI::IsMember({"own", "fixed"}))
      ->default_str("own");
  command->add_option("--pause", parsed.pause, "seconds of quiet before each request")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 600.0))
      ->default_str("0.5");
  command->add_option("--seed", parsed.seed, "of the texts; the same one sends the same texts")
      ->type_name("N")
      ->default_str("at random");
  command
      ->add_option(
          "--settle", parsed.settle,
          "seconds for which the folders of --store-dir have to be without a change before "
          "a long request")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 60.0))
      ->default_str("3");
  command->add_option("--extra", plan.extra, "JSON object whose fields go into every request")
      ->type_name("JSON");
}

void add_commands(CLI::App& app, BenchRequest& request, Parsed& parsed) {
  app.require_subcommand(0, 1);
  app.footer(kFooter);
  for (const Scenario& scenario : scenarios()) {
    CLI::App* command = app.add_subcommand(scenario.name, scenario.about);
    add_targets(command, parsed);
    add_sizes(command, request.plan, parsed, scenario);
    add_shape(command, request.plan, parsed);
    add_outputs(command, request);
    command->footer(std::string("FILE may be -: it is printed instead of the table. ") + kFooter);
  }
  CLI::App* report = app.add_subcommand("report", "make one report of the JSON of several runs");
  report->add_option("FILE", request.files, "what --json wrote")->required()->type_name("");
  report
      ->add_option("--reasons", request.reasons,
                   "a folder with STEP.md: why the first server loses there")
      ->type_name("FOLDER");
  report->add_option("--note", parsed.notes, "something else for the report")
      ->type_name("NAME=TEXT");
  add_outputs(report, request);
}

Status one_on_stdout(const BenchOutputs& to) {
  const char* before = nullptr;
  for (const auto& [path, flag] : {std::pair{&to.json, "--json"},
                                   {&to.csv, "--csv"},
                                   {&to.html, "--html"},
                                   {&to.markdown, "--markdown"}}) {
    if (*path != "-") continue;
    if (before != nullptr) {
      return refuse(fmt::format("{} is printed already", before), flag, "give it a file");
    }
    before = flag;
  }
  return {};
}

Status read_plan(BenchRequest& request, const Parsed& parsed) {
  const auto scenario = std::ranges::find_if(
      scenarios(), [&](const Scenario& each) { return each.name == request.command; });
  bench::PlanOptions& plan = request.plan;
  if (auto ok = read_steps(parsed.steps, scenario->steps, plan.steps); !ok) return ok;
  const std::string depths = parsed.depths.empty() ? scenario->depths : parsed.depths;
  if (auto ok = read_depths(depths, plan.depths); !ok) return ok;
  for (const auto& [text, flag, into] :
       {std::tuple{&parsed.cold_rounds, "--cold-rounds", &plan.cold_rounds},
        {&parsed.edit_rounds, "--edit-rounds", &plan.edit_rounds},
        {&parsed.restart_rounds, "--restart-rounds", &plan.restart_rounds}}) {
    if (auto ok = read_rounds(*text, flag, *into); !ok) return ok;
  }
  plan.own_replies = parsed.replies == "own";
  plan.seed = parsed.seed ? *parsed.seed : std::random_device()();
  plan.settle = static_cast<Micros>(parsed.settle * static_cast<double>(kSecond));
  plan.pause = static_cast<Micros>(parsed.pause * static_cast<double>(kSecond));
  const auto extra = nlohmann::json::parse(plan.extra, nullptr, false);
  if (!plan.extra.empty() && !extra.is_object()) {
    return refuse("it is no JSON object", "--extra", R"(write it like '{"top_k": 1}')");
  }
  return {};
}

Status read_own(BenchRequest& request, const Parsed& parsed,
                const std::vector<std::string>& words) {
  if (parsed.model.empty()) {
    if (words.empty()) return {};
    return refuse("options of `samovar serve` stand after --, but no model", "-m",
                  "give -m MODEL.gguf, or leave them out: a running server has its own");
  }
  std::vector<std::string> all = {"-m", parsed.model};
  all.insert(all.end(), words.begin(), words.end());
  auto serve = parse_serve(all);
  if (!serve) return std::unexpected(serve.error());
  if (serve->help) {
    request.help = serve_help();
    return {};
  }
  if (auto status = resolve(serve->options); !status) return status;
  request.own = std::move(serve->options);
  request.own_flags = shown(all);
  return {};
}

}  // namespace

Result<BenchRequest> parse_bench(const std::vector<std::string>& arguments,
                                 const BenchSurroundings& around) {
  BenchRequest request;
  Parsed parsed;
  CLI::App app(kAbout, "samovar bench");
  add_commands(app, request, parsed);
  const auto dashes = std::ranges::find(arguments, "--");
  const std::vector<std::string> words(arguments.begin(), dashes);
  const std::vector<std::string> serve(dashes == arguments.end() ? dashes : dashes + 1,
                                       arguments.end());
  const auto chosen = read_command_words(app, "samovar bench", words);
  if (!chosen) return std::unexpected(chosen.error());
  request.command = chosen->name;
  request.help = chosen->help;
  if (!request.help.empty()) return request;
  Status status;
  if (status) status = read_notes(parsed.notes, request.notes);
  if (status) status = one_on_stdout(request.outputs);
  if (status && request.command == "report") return request;
  if (status) status = read_plan(request, parsed);
  if (status) status = read_own(request, parsed, serve);
  if (!status) return std::unexpected(status.error());
  if (!request.help.empty()) return request;
  const auto key = read_key(parsed.key_file, around.key);
  if (!key) return std::unexpected(key.error());
  if (status = read_targets(request, parsed.targets, *key); !status) {
    return std::unexpected(status.error());
  }
  return request;
}

}  // namespace samovar::app
