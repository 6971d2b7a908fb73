#include "app/bench_command.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "app/build_facts.h"
#include "app/command_words.h"
#include "app/in_process_target.h"
#include "app/progress_display.h"
#include "app/serve.h"
#include "app/signals.h"
#include "base/log.h"
#include "bench/html_report.h"
#include "bench/machine_facts.h"
#include "bench/runner.h"
#include "bench/tables.h"
#include "engine/llama_log.h"

namespace samovar::app {
namespace {

constexpr Micros kReadyWithin = 60 * kSecond;

std::string minutes(std::uint64_t ms) { return clock_text(static_cast<double>(ms) / 1000); }

ProgressStyle bench_progress() {
  return {.amount = minutes, .verb = "measuring", .window = 20 * kSecond};
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorKind::invalid_argument, "cannot read " + path, "", "check its name");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Status write_file(const std::string& path, const std::string& text, const char* flag) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) return {};
  return fail(ErrorKind::invalid_argument, "cannot write " + path, flag,
              "check its folder and its rights");
}

// A file that cannot be written should be known before an hour of measuring. Changes nothing.
Status check_outputs(const BenchOutputs& to) {
  for (const auto& [path, flag] : {std::pair{&to.json, "--json"},
                                   {&to.csv, "--csv"},
                                   {&to.html, "--html"},
                                   {&to.markdown, "--markdown"}}) {
    if (path->empty() || *path == "-") continue;
    std::error_code error;
    const bool there = std::filesystem::exists(*path, error);
    if (!std::ofstream(*path, std::ios::binary | std::ios::app)) {
      return fail(ErrorKind::invalid_argument, "cannot write " + *path, flag,
                  "check its folder and its rights");
    }
    if (!there) std::filesystem::remove(*path, error);
  }
  return {};
}

// STEP.md of the user's folder, each without its title.
bench::Reasons read_reasons(const std::string& folder) {
  bench::Reasons reasons;
  for (int i = 0; !folder.empty() && i < bench::kSteps; ++i) {
    const auto step = static_cast<bench::Step>(i);
    auto text = read_file(folder + "/" + to_string(step) + ".md");
    if (!text) continue;
    if (text->starts_with("# ")) text->erase(0, text->find('\n'));
    text->erase(0, text->find_first_not_of('\n'));
    while (text->ends_with('\n')) text->pop_back();
    if (!text->empty()) reasons[step] = std::move(*text);
  }
  return reasons;
}

// The page's neighbours, for its links.
std::vector<std::string> neighbours(const BenchOutputs& outputs) {
  std::vector<std::string> names;
  for (const std::string* path : {&outputs.html, &outputs.json, &outputs.csv}) {
    if (!path->empty() && *path != "-") names.push_back(path->substr(path->find_last_of('/') + 1));
  }
  return names;
}

int write_all(const bench::Report& report, const BenchRequest& request) {
  const BenchOutputs& to = request.outputs;
  const bench::Reasons reasons = read_reasons(request.reasons);
  bool printed = false;
  int code = 0;
  const auto write = [&](const std::string& path, const char* flag, const std::string& text) {
    if (path == "-") {
      fmt::print("{}", text);
      printed = true;
    } else if (const auto status = write_file(path, text, flag); !status) {
      code = report_error(status.error(), kExitFailure);
    }
  };
  if (!to.json.empty()) write(to.json, "--json", bench::to_json(report));
  if (!to.csv.empty()) write(to.csv, "--csv", bench::to_csv(report));
  if (!to.html.empty()) write(to.html, "--html", bench::html_of(report, reasons));
  if (!to.markdown.empty()) {
    write(to.markdown, "--markdown", bench::markdown_of(report, reasons, neighbours(to)));
  }
  if (printed) return code;
  for (const auto& [name, value] : facts_of(report)) fmt::print("{}: {}\n", name, value);
  fmt::print("{}", bench::text_of(report));
  return code;
}

int make_report(const BenchRequest& request) {
  std::vector<bench::Report> reports;
  for (const std::string& file : request.files) {
    const auto text = read_file(file);
    if (!text) return report_error(text.error(), kExitUsage);
    auto report = bench::report_of_json(*text, file);
    if (!report) return report_error(report.error(), kExitUsage);
    reports.push_back(std::move(*report));
  }
  bench::Report whole = bench::merged(std::move(reports));
  whole.conditions.insert(whole.conditions.end(), request.notes.begin(), request.notes.end());
  return write_all(whole, request);
}

struct Targets {
  std::vector<std::unique_ptr<bench::Target>> owned;
  [[nodiscard]] std::vector<bench::Target*> all() const {
    std::vector<bench::Target*> list;
    list.reserve(owned.size());
    for (const auto& each : owned) list.push_back(each.get());
    return list;
  }
};

Result<Targets> open_targets(const BenchRequest& request, const bench::Stop& stop) {
  Targets targets;
  // Running servers first: that one is missing should not be known only after a model was loaded.
  for (const bench::HttpTargetOptions& options : request.against) {
    auto target = std::make_unique<bench::HttpTarget>(options, system_clock());
    if (auto status = target->wait_ready(stop, options.restart_command.empty() ? 0 : kReadyWithin);
        !status) {
      return std::unexpected(status.error());
    }
    targets.owned.push_back(std::move(target));
  }
  if (!request.own) return targets;
  auto own = InProcessTarget::load(*request.own, request.own_flags, system_clock());
  if (!own) return std::unexpected(own.error());
  targets.owned.insert(targets.owned.begin(), std::move(*own));
  return targets;
}

bench::Report report_of(const BenchRequest& request, const std::vector<bench::Target*>& targets,
                        bench::RunResult result, const std::vector<std::string>& arguments) {
  bench::Report report;
  report.conditions = {{"measured", bench::date_text(system_clock().wall_seconds())},
                       {"command", "samovar bench " + shown_words(arguments)},
                       {"seed", fmt::format("{}", request.plan.seed)}};
  for (bench::Facts facts : {build_facts(), bench::machine_facts(), request.notes}) {
    std::ranges::move(facts, std::back_inserter(report.conditions));
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    bench::TargetFacts facts = i < result.facts.size() ? result.facts[i] : bench::TargetFacts{};
    for (const auto& [name, text] : request.flags) {
      if (name == targets[i]->name()) facts.flags.push_back(text);
    }
    report.targets.push_back({targets[i]->name(), std::move(facts)});
  }
  report.measurements = std::move(result.measurements);
  report.stopped = result.stopped;
  return report;
}

int measure(const BenchRequest& request, const std::vector<std::string>& arguments) {
  StopSignals signals;
  log_set_level(LogLevel::error);
  route_llama_log();
  signals.begin_patient();
  const auto wait = [&signals](Micros time) { return !signals.wait_for(time); };
  auto targets = open_targets(request, [&] { return !wait(0); });
  if (!targets) {
    return report_error(targets.error(),
                        signals.received() != 0 ? 128 + signals.received() : kExitFailure);
  }
  Result<bench::RunResult> result;
  {
    ProgressDisplay display([](const std::string& line) { fmt::print(stderr, "{}\n", line); },
                            bench_progress());
    const bench::RunnerTools tools{
        .clock = system_clock(),
        .wait = wait,
        .say = [&display](const std::string& line) { display.say(line); },
        .progress = [&display](const Progress& now) { display.progress(now); }};
    result = bench::Runner(targets->all(), request.plan, tools).run();
  }
  const int stopped = signals.received() == 0 ? 0 : 128 + signals.received();
  if (!result) return report_error(result.error(), stopped != 0 ? stopped : kExitFailure);
  const bool failed = result->failed;
  const int code =
      write_all(report_of(request, targets->all(), std::move(*result), arguments), request);
  if (stopped != 0) return stopped;
  return code == 0 && failed ? kExitFailure : code;
}

}  // namespace

int bench_command(const std::vector<std::string>& arguments) {
  const char* key = std::getenv("SAMOVAR_API_KEY");
  const auto request =
      parse_bench(arguments, {key == nullptr ? std::nullopt : std::optional<std::string>(key)});
  if (const auto code = answer_without_running(request)) return *code;
  if (const auto status = check_outputs(request->outputs); !status) {
    return report_error(status.error(), kExitUsage);
  }
  return request->command == "report" ? make_report(*request) : measure(*request, arguments);
}

}  // namespace samovar::app
