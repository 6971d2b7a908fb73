#include "app/replay_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "app/command_words.h"
#include "app/options.h"
#include "app/progress_display.h"
#include "app/serve.h"
#include "app/service.h"
#include "app/signals.h"
#include "base/log.h"
#include "bench/http_target.h"
#include "client/append_file.h"
#include "engine/llama_log.h"
#include "http/server.h"
#include "replay/plain_text.h"
#include "replay/trace_file.h"

namespace samovar::app {
namespace {

constexpr Micros kReadyWithin = 10 * kSecond;
constexpr Micros kStopGrace = 1 * kSecond;
constexpr std::size_t kThreadsMax = 64;

std::string turns_text(std::uint64_t turns) { return std::to_string(turns); }

// A server in this process, on a loopback port of its own.
class OwnServer {
 public:
  static Result<std::unique_ptr<OwnServer>> start(const std::vector<std::string>& words) {
    auto parsed = parse_serve(words);
    if (!parsed) return std::unexpected(parsed.error());
    ServeOptions& options = parsed->options;
    // The user's own sessions are not to be mixed with those of a replay.
    if (options.store_dir.empty()) options.store = false;
    options.announce = false;  // standard output is the report's
    if (auto resolved = resolve(options); !resolved) return std::unexpected(resolved.error());
    if (!options.hf_repo.empty()) {
      return fail(ErrorKind::invalid_argument, "a replay downloads no model", "--hf-repo",
                  "fetch it with `samovar models pull` and give its file with -m");
    }
    auto service = Service::load(options);
    if (!service) return std::unexpected(service.error());
    std::unique_ptr<OwnServer> own(new OwnServer);
    own->service_ = std::move(*service);
    auto http = HttpServer::bind({}, [serving = own->service_.get()](const HttpRequest& request) {
      return serving->handle(request);
    });
    if (!http) return std::unexpected(http.error());
    own->http_ = std::move(*http);
    own->http_->start();
    return own;
  }

  ~OwnServer() {
    if (http_ == nullptr) return;
    service_->close();
    service_->stop();
    http_->stop(kStopGrace);
  }
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;

  [[nodiscard]] std::string url() const { return http_->url(); }

 private:
  OwnServer() = default;
  std::unique_ptr<Service> service_;
  std::unique_ptr<HttpServer> http_;
};

Result<replay::Trace> read_turns(const std::string& path) {
  auto trace = replay::read_trace_file(path);
  if (trace && trace->turns.empty()) {
    return fail(ErrorKind::invalid_argument, path + " holds no turns");
  }
  return trace;
}

Status put_reports(const ReplayRequest& request, const replay::Trace& trace,
                   const std::vector<replay::ReplayRun>& runs) {
  if (request.json != "-" && request.csv != "-") {
    fmt::print("{}", replay::report_text(trace, runs, request.every_turn));
  }
  for (const bool json : {true, false}) {
    const std::string& path = json ? request.json : request.csv;
    if (path.empty()) continue;
    const std::string text =
        json ? replay::report_json(trace, runs) : replay::report_csv(trace, runs);
    if (path == "-") {
      fmt::print("{}", text);
    } else if (auto written = client::write_new(path, text); !written) {
      return written;
    }
  }
  return {};
}

// All the runs, or those until a signal.
std::vector<replay::ReplayRun> run_all(const ReplayRequest& request, const replay::Trace& trace,
                                       bench::Target& target, const StopSignals& signals) {
  replay::Replayer replayer(trace, target, system_clock(), request.options);
  ProgressDisplay display([](const std::string& line) { fmt::print(stderr, "{}\n", line); },
                          {.amount = turns_text, .verb = "replaying"});
  std::vector<replay::ReplayRun> runs;
  for (int i = 0; i < request.runs && signals.received() == 0; ++i) {
    const std::string name = fmt::format("turns of run {} of {}", i + 1, request.runs);
    runs.push_back(replayer.run({.progress =
                                     [&](const replay::ReplayProgress& now) {
                                       display.progress({name, now.done, now.turns});
                                     },
                                 .stop = [&] { return signals.received() != 0; },
                                 .wait = {}}));
  }
  return runs;
}

int judge(const ReplayRequest& request, const replay::Trace& trace,
          const std::vector<replay::ReplayRun>& runs) {
  constexpr std::size_t kShownMax = 10;
  const auto found = replay::violations(runs, trace, request.limits);
  for (std::size_t i = 0; i < std::min(found.size(), kShownMax); ++i) {
    fmt::print(stderr, "samovar: {}\n", replay::plain_text(found[i]));
  }
  if (found.size() > kShownMax) {
    fmt::print(stderr, "samovar: and {} more\n", found.size() - kShownMax);
  }
  const bool failed = std::ranges::any_of(
      runs, [](const replay::ReplayRun& run) { return replay::summarise_run(run).failed > 0; });
  if (failed) fmt::print(stderr, "samovar: not every turn was answered\n");
  return failed || !found.empty() ? kExitFailure : 0;
}

int run(ReplayRequest request) {
  StopSignals signals;
  log_set_level(LogLevel::warning);
  route_llama_log();
  const auto trace = read_turns(request.file);
  if (!trace) return report_error(trace.error(), kExitFailure);
  for (const std::string& note : trace->notes) fmt::print(stderr, "samovar: {}\n", note);

  std::unique_ptr<OwnServer> own;
  std::string url = request.against;
  if (url.empty()) {
    auto started = OwnServer::start(request.serve);
    if (!started) return report_error(started.error(), kExitFailure);
    own = std::move(*started);
    url = own->url();
  }
  bench::HttpTarget target({.name = "server", .url = url, .key = request.key}, system_clock());
  signals.begin_patient();
  const bench::Stop stop = [&] { return signals.received() != 0; };
  if (auto ready = target.wait_ready(stop, kReadyWithin); !ready) {
    if (stop()) return 128 + signals.received();
    return report_error(ready.error(), kExitFailure);
  }
  if (request.options.model.empty()) {
    const auto facts = target.facts(stop);
    request.options.model =
        facts && !facts->model_id.empty() ? facts->model_id : trace->header.model;
  }
  request.options.threads = std::clamp<std::size_t>(request.options.schedule.sessions == 0
                                                        ? trace->turns.size()
                                                        : 2 * request.options.schedule.sessions,
                                                    1, kThreadsMax);
  const auto runs = run_all(request, *trace, target, signals);
  if (auto put = put_reports(request, *trace, runs); !put) {
    return report_error(put.error(), kExitFailure);
  }
  if (signals.received() != 0) return 128 + signals.received();
  return judge(request, *trace, runs);
}

}  // namespace

int replay_command(const std::vector<std::string>& arguments) {
  const char* key = std::getenv("SAMOVAR_API_KEY");
  auto request = parse_replay(arguments, key == nullptr ? "" : key);
  if (const auto code = answer_without_running(request)) return *code;
  return run(std::move(*request));
}

}  // namespace samovar::app
