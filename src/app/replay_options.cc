// The words after `samovar replay`, by CLI11.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/command_words.h"
#include "app/key_file.h"
#include "app/options.h"
#include "app/replay_command.h"

namespace samovar::app {
namespace {

constexpr const char* kAbout =
    "Makes the requests of a trace again, with their pauses, feeding each reply back, and says "
    "what "
    "they cost: each phase, and the tokens that were computed although they were not new. "
    "docs/replay.md has more.";

constexpr const char* kFooter =
    "Without --against a server runs in this process: its options follow --, as in\n"
    "  samovar replay FILE -- -m model.gguf -c 65536\n"
    "It keeps no sessions on disk unless they or its config file name a --store-dir.";

struct Words {
  std::string key_file;
  double timeout_s = 0;
  std::int64_t beyond = -1;
  bool sessions_unnamed = false;
};

void add_options(CLI::App& app, ReplayRequest& request, Words& words) {
  replay::ReplayOptions& options = request.options;
  app.add_option("FILE", request.file, "a trace (docs/trace-format.md)")->required()->type_name("");
  app.add_option("--against", request.against, "a running server")->type_name("URL");
  app.add_option("--key-file", words.key_file, "a file with the server's API key")
      ->type_name("FILE");
  app.add_option("--model", options.model,
                 "name of the model in requests; default: the server's "
                 "first")
      ->type_name("NAME");
  app.add_option("--speed", options.schedule.speed,
                 "pauses are so many times shorter; 0: there are none")
      ->type_name("N")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  app.add_option("--concurrency", options.schedule.sessions,
                 "sessions side by side at most; 0: as recorded")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--runs", request.runs,
                 "replays the trace so many times, and compares the outputs "
                 "with those of the first run")
      ->type_name("N")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_flag("--greedy", options.greedy, "temperature 0, whatever was recorded");
  app.add_flag("--recorded-replies", options.recorded_replies,
               "feed back the replies of the trace, not those that came");
  app.add_flag("--no-session-names", words.sessions_unnamed,
               "leave prompt_cache_key out of requests");
  app.add_option("--timeout", words.timeout_s, "seconds for each reply; 0: none")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e6));
  app.add_flag("--turns", request.every_turn, "print every turn, not only the summary");
  app.add_option("--json", request.json,
                 "the whole report as JSON, into a new file; - prints it "
                 "instead of the summary")
      ->type_name("FILE");
  app.add_option("--csv", request.csv, "a line a turn, likewise")->type_name("FILE");
  app.add_option("--max-beyond", words.beyond,
                 "fail if any turn computes more tokens than this beyond the new ones")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--require-equal", request.limits.equal,
               "fail if an output differs between runs, where it is compared (temperature 0)");
  app.footer(kFooter);
}

std::unexpected<Error> refuse(std::string message, std::string field = {},
                              std::string remedy = "`samovar replay --help` lists the options") {
  return fail(ErrorKind::invalid_argument, std::move(message), std::move(field), std::move(remedy));
}

// Before hours of replaying rather than behind them.
Status check_output(const std::string& path, const char* flag) {
  if (path.empty() || path == "-") return {};
  const std::filesystem::path file(path);
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) {
    return refuse(path + " exists", flag, "name a new file");
  }
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, ignored)) {
    return refuse("there is no folder " + folder.string(), flag, "make it, or name another");
  }
  return {};
}

Status check(ReplayRequest& request) {
  if (request.against.empty() == request.serve.empty()) {
    return refuse(request.against.empty() ? "no server is given" : "two servers are given",
                  "--against", "name a running server, or give options of one after --");
  }
  if (request.limits.equal && request.runs < 2) {
    return refuse("there is nothing to compare with", "--require-equal", "add --runs 2");
  }
  if (request.json == "-" && request.csv == "-") {
    return refuse("both reports cannot be printed", "--csv", "put one into a file");
  }
  if (!request.json.empty() && request.json == request.csv) {
    return refuse("both reports go into one file", "--csv", "name another");
  }
  if (auto json = check_output(request.json, "--json"); !json) return json;
  return check_output(request.csv, "--csv");
}

}  // namespace

Result<ReplayRequest> parse_replay(const std::vector<std::string>& arguments,
                                   const std::string& key) {
  ReplayRequest request;
  Words words;
  CLI::App app(kAbout, "samovar replay");
  add_options(app, request, words);
  const auto border = std::ranges::find(arguments, "--");
  std::vector<std::string> own(arguments.begin(), border);
  if (border != arguments.end()) request.serve.assign(border + 1, arguments.end());
  const auto read = read_command_words(app, "samovar replay", std::move(own), "replay");
  if (!read) return std::unexpected(read.error());
  request.help = read->help;
  if (!request.help.empty()) return request;
  auto sent = read_key(words.key_file, key);
  if (!sent) return std::unexpected(sent.error());
  request.key = std::move(*sent);
  request.options.sessions_named = !words.sessions_unnamed;
  request.options.timeout = static_cast<Micros>(words.timeout_s * kSecond);
  if (words.beyond >= 0) request.limits.beyond = words.beyond;
  if (auto checked = check(request); !checked) return std::unexpected(checked.error());
  if (request.serve.empty()) return request;
  const auto serve = parse_serve(request.serve);
  if (!serve) return std::unexpected(serve.error());
  if (serve->help) request.help = serve_help();
  return request;
}

}  // namespace samovar::app
